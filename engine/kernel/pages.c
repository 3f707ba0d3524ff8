// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a region, 2 MiB at a time: most blocks hold pages that are all alike and
 * are one struct; one whose pages differ has a struct for each, until they are alike again.
 */
#include "sim.h"
#include "space.h"

unsigned long sim_pages_per_block(const struct kern_region *r)
{
	return HPAGE_SIZE >> r->shift;
}

static struct block *block_of(const struct kern_region *r, unsigned long i)
{
	return &r->block[i / sim_pages_per_block(r)];
}

static unsigned long nr_blocks(const struct kern_region *r)
{
	return DIV_ROUND_UP(r->nr, sim_pages_per_block(r));
}

void sim_pages_init(struct kern_region *r)
{
	unsigned long i;

	r->block = sim_zalloc(nr_blocks(r) * sizeof(*r->block), 16);
	for (i = 0; i < nr_blocks(r); i++)
		r->block[i].all = (struct place) {
			.node = -1, .last_cpupid = -1 & LAST_CPUPID_MASK,
		};
}

void sim_pages_free(struct kern_region *r)
{
	unsigned long i;

	for (i = 0; i < nr_blocks(r); i++)
		sim_free(r->block[i].each);
	sim_free(r->block);
}

const struct place *sim_page(const struct kern_region *r, unsigned long i)
{
	const struct block *b = block_of(r, i);

	return b->each ? &b->each[i % sim_pages_per_block(r)] : &b->all;
}

/* The one struct of page i's block; NULL: its pages differ. */
struct place *sim_pages_all(struct kern_region *r, unsigned long i)
{
	struct block *b = block_of(r, i);

	return b->each ? NULL : &b->all;
}

/* The page's own struct: it is about to become different from its neighbours. */
struct place *sim_page_change(struct kern_region *r, unsigned long i)
{
	unsigned long nr = sim_pages_per_block(r), k;
	struct block *b = block_of(r, i);

	if (nr == 1)
		return &b->all;
	if (!b->each) {
		b->each = sim_zalloc(nr * sizeof(*b->each), 16);
		for (k = 0; k < nr; k++)
			b->each[k] = b->all;
	}
	return &b->each[i % nr];
}

static bool alike(const struct place *a, const struct place *b)
{
	return a->node == b->node && a->marked == b->marked && a->last_cpupid == b->last_cpupid;
}

/* All pages of page i's block may have become alike. */
void sim_pages_merge(struct kern_region *r, unsigned long i)
{
	unsigned long nr = sim_pages_per_block(r), first = i / nr * nr, k;
	struct block *b = block_of(r, i);

	if (!b->each)
		return;
	nr = min(nr, r->nr - first);
	for (k = 1; k < nr; k++)
		if (!alike(&b->each[k], &b->each[0]))
			return;
	b->all = b->each[0];
	sim_free(b->each);
	b->each = NULL;
}

/* The first page behind page i that may differ from it. */
unsigned long sim_page_next(const struct kern_region *r, unsigned long i)
{
	unsigned long nr = sim_pages_per_block(r);

	return block_of(r, i)->each ? i + 1 : min(i / nr * nr + nr, r->nr);
}
