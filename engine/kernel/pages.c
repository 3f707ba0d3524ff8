// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages, 2 MiB at a time: most blocks hold pages that are all alike and
 * are one struct; one whose pages differ has a struct for each, until they are alike again.
 */
#include "shim.h"
#include "space.h"

unsigned long shim_pages_per_block(const struct pages *p)
{
	return HPAGE_SIZE >> p->shift;
}

static struct block *block_of(const struct pages *p, unsigned long i)
{
	return &p->block[i / shim_pages_per_block(p)];
}

static unsigned long nr_blocks(const struct pages *p)
{
	return DIV_ROUND_UP(p->nr, shim_pages_per_block(p));
}

void shim_pages_init(struct pages *p, unsigned long nr, unsigned int shift)
{
	unsigned long i;

	p->nr = nr;
	p->shift = shift;
	p->block = hw_zalloc(nr_blocks(p) * sizeof(*p->block), 16);
	for (i = 0; i < nr_blocks(p); i++)
		p->block[i].all = (struct place) {
			.node = -1, .last_cpupid = -1 & LAST_CPUPID_MASK,
		};
}

void shim_pages_free(struct pages *p)
{
	unsigned long i;

	for (i = 0; i < nr_blocks(p); i++)
		hw_free(p->block[i].each);
	hw_free(p->block);
}

const struct place *shim_page(const struct pages *p, unsigned long i)
{
	const struct block *b = block_of(p, i);

	return b->each ? &b->each[i % shim_pages_per_block(p)] : &b->all;
}

/* The one struct of page i's block; NULL: its pages differ. */
struct place *shim_pages_all(struct pages *p, unsigned long i)
{
	struct block *b = block_of(p, i);

	return b->each ? NULL : &b->all;
}

/* The page's own struct: it is about to become different from its neighbours. */
struct place *shim_page_change(struct pages *p, unsigned long i)
{
	unsigned long nr = shim_pages_per_block(p), k;
	struct block *b = block_of(p, i);

	if (nr == 1)
		return &b->all;
	if (!b->each) {
		b->each = hw_zalloc(nr * sizeof(*b->each), 16);
		for (k = 0; k < nr; k++)
			b->each[k] = b->all;
	}
	return &b->each[i % nr];
}

static bool alike(const struct place *a, const struct place *b)
{
	return a->node == b->node && a->mapped == b->mapped && a->marked == b->marked &&
	       a->last_cpupid == b->last_cpupid;
}

/* All pages of page i's block may have become alike. */
void shim_pages_merge(struct pages *p, unsigned long i)
{
	unsigned long nr = shim_pages_per_block(p), first = i / nr * nr, k;
	struct block *b = block_of(p, i);

	if (!b->each)
		return;
	nr = min(nr, p->nr - first);
	for (k = 1; k < nr; k++)
		if (!alike(&b->each[k], &b->each[0]))
			return;
	b->all = b->each[0];
	hw_free(b->each);
	b->each = NULL;
}

/* Changed in order, pages become alike again at the end of their block. */
void shim_page_settle(struct pages *p, unsigned long i)
{
	if ((i + 1) % shim_pages_per_block(p) == 0 || i + 1 == p->nr)
		shim_pages_merge(p, i);
}

/* The first page behind page i that may differ from it. */
unsigned long shim_page_next(const struct pages *p, unsigned long i)
{
	unsigned long nr = shim_pages_per_block(p);

	return block_of(p, i)->each ? i + 1 : min(i / nr * nr + nr, p->nr);
}
