// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: what one mmap() gives.  Their pages have no place until they are touched.  A private
 * one is mapped by one process; a shared one by all that inherited it, each with its own tables.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include "shim.h"
#include "space.h"

#define FIRST_ADDRESS	0x10000000UL

static struct mapping *map(struct space *s, struct kern_region *r, unsigned long start)
{
	struct mapping *m = hw_zalloc(sizeof(*m), 64);

	m->region = r;
	m->tables = &r->pages;
	if (r->shared) {
		m->tables = hw_zalloc(sizeof(*m->tables), 16);
		shim_pages_init(m->tables, r->pages.nr, r->pages.shift);
	}
	m->vma.vm_mm = &s->mm;
	m->vma.vm_start = start;
	m->vma.vm_end = start + (r->pages.nr << r->pages.shift);
	shim_vma_init(&m->vma);
	list_add_tail(&m->list, &s->mappings);
	list_add_tail(&m->sibling, &r->mappings);
	return m;
}

static struct kern_region *new_region(unsigned long bytes, unsigned int shift, bool shared)
{
	struct kern_region *r = hw_zalloc(sizeof(*r), 64);

	r->policy = POLICY_LOCAL;
	r->shared = shared;
	INIT_LIST_HEAD(&r->mappings);
	shim_pages_init(&r->pages, DIV_ROUND_UP(bytes, 1UL << shift), shift);
	return r;
}

static void free_region(struct kern_region *r)
{
	struct pages *p = &r->pages;
	unsigned long i, next;

	for (i = 0; i < p->nr; i = next) {
		next = shim_page_next(p, i);
		if (shim_page(p, i)->node >= 0)
			shim_node_return(shim_page(p, i)->node, (next - i) * shim_page_size(p));
	}
	shim_pages_free(p);
	hw_free(r);
}

/* Nothing is left of a region that nobody has mapped. */
static void unmap(struct mapping *m)
{
	struct kern_region *r = m->region;

	list_del(&m->list);
	list_del(&m->sibling);
	if (r->shared) {
		shim_pages_free(m->tables);
		hw_free(m->tables);
	}
	shim_vma_release(&m->vma);
	hw_free(m);
	if (list_empty(&r->mappings))
		free_region(r);
}

static struct kern_region *add_region(struct space *s, struct kern_region *r)
{
	unsigned long start = FIRST_ADDRESS;

	mmap_write_lock(&s->mm);
	if (!list_empty(&s->mappings))
		start = ALIGN(list_last_entry(&s->mappings, struct mapping, list)->vma.vm_end, HPAGE_SIZE);
	map(s, r, start);
	mmap_write_unlock(&s->mm);
	return r;
}

struct kern_region *shim_region_add(struct space *s, unsigned long bytes, unsigned int shift)
{
	return add_region(s, new_region(bytes, shift, false));
}

/*
 * A child has its parent's shared regions, at the same addresses, and no page of them in its
 * tables.
 */
void shim_inherit_regions(struct space *child, struct space *parent)
{
	struct mapping *m;

	list_for_each_entry(m, &parent->mappings, list)
		if (m->region->shared)
			map(child, m->region, m->vma.vm_start);
}

void shim_unmap_all(struct space *s)
{
	struct mapping *m, *next;

	list_for_each_entry_safe(m, next, &s->mappings, list)
		unmap(m);
}

/* Of a region that is not shared. */
struct mapping *shim_only_mapping(const struct kern_region *r)
{
	return list_first_entry(&r->mappings, struct mapping, sibling);
}

void shim_region_remove(struct kern_region *r)
{
	struct mapping *m = shim_only_mapping(r);
	struct mm_struct *mm = m->vma.vm_mm;

	mmap_write_lock(mm);
	if (space_of(mm)->found == m)
		space_of(mm)->found = NULL;
	unmap(m);
	mmap_write_unlock(mm);
}

/* The region as the calling task's process has it. */
struct mapping *shim_own_mapping(const struct kern_region *r)
{
	struct mapping *m;

	list_for_each_entry(m, &r->mappings, sibling)
		if (m->vma.vm_mm == current->mm)
			return m;
	hw_die("touches a region its process does not have", current->comm, current->pid);
}

static unsigned int shift_for(unsigned long bytes)
{
	return bytes < HPAGE_SIZE ? PAGE_SHIFT : HPAGE_SHIFT;
}

/* Shared memory has base pages: transparent_hugepage/shmem_enabled is `never`, as kernels come. */
struct kern_region *kern_region_create(unsigned long bytes, int shared)
{
	struct kern_region *r = new_region(bytes, shared ? PAGE_SHIFT : shift_for(bytes), shared);

	shim_syscall_enter(HW_TIME_OTHER);
	add_region(space_of(current->mm), r);
	shim_syscall_exit();
	return r;
}

/* node < 0: over all nodes in turn */
void kern_region_bind(struct kern_region *r, int node)
{
	shim_syscall_enter(HW_TIME_OTHER);
	r->policy = node < 0 ? POLICY_INTERLEAVED : node;
	shim_syscall_exit();
}

/* Over the nodes that have memory, page by page. */
static int interleaved(unsigned long i)
{
	int node = first_node(node_states[N_MEMORY]);

	for (i %= num_node_state(N_MEMORY); i; i--)
		node = next_node(node, node_states[N_MEMORY]);
	return node;
}

static int node_for(const struct kern_region *r, unsigned long i)
{
	if (r->policy == POLICY_LOCAL)
		return cpu_to_node(hw.cpu);
	return r->policy == POLICY_INTERLEAVED ? interleaved(i) : r->policy;
}

/* Into the tables. */
static void map_page(struct mapping *m, unsigned long i)
{
	shim_page_change(m->tables, i)->mapped = true;
	shim_page_settle(m->tables, i);
	shim_mm_add_pages(m->vma.vm_mm, shim_page_size(m->tables));
}

static void place_page(struct kern_region *r, unsigned long i, int node, bool only)
{
	shim_page_change(&r->pages, i)->node = shim_node_take(node, shim_page_size(&r->pages), only);
	if (r->shared)
		shim_page_settle(&r->pages, i);
}

/* All of it: on a node, or (-1) spread over all that have memory. */
void shim_region_populate(struct kern_region *r, int node)
{
	unsigned long i;

	for (i = 0; i < r->pages.nr; i++) {
		place_page(r, i, node >= 0 ? node : interleaved(i), node >= 0);
		map_page(shim_only_mapping(r), i);
	}
}

/* One that another process has touched is there already. */
void shim_page_map(struct mapping *m, unsigned long i)
{
	struct kern_region *r = m->region;

	if (shim_page(&r->pages, i)->node < 0)
		place_page(r, i, node_for(r, i), r->policy >= 0);
	map_page(m, i);
}

void shim_page_fault(struct mapping *m, unsigned long i)
{
	const struct pages *pages = &m->region->pages;
	bool absent;

	shim_syscall_enter(HW_TIME_FAULT);
	hw_charge(hw_costs.fault);
	if (!shim_page(m->tables, i)->mapped) {
		absent = shim_page(pages, i)->node < 0;
		shim_page_map(m, i);
		if (absent)
			shim_kernel_work(hw_clear_time(shim_page(pages, i)->node, 1UL << pages->shift));
	} else if (shim_page(m->tables, i)->marked) {
		shim_hinting_fault(m, i);
	}
	shim_syscall_exit();
}

static bool present(const struct mapping *m, unsigned long i)
{
	const struct place *p = shim_page(m->tables, i);

	return p->mapped && !p->marked;
}

static void take_faults(struct mapping *m, unsigned long i)
{
	while (!present(m, i))
		shim_page_fault(m, i);
}

void kern_touch_line(struct kern_region *r, unsigned long offset)
{
	take_faults(shim_own_mapping(r), offset >> r->pages.shift);
}

/* The first page behind page i that may differ from it, in the tables or in its place. */
static unsigned long next_page(const struct mapping *m, unsigned long i)
{
	return min(shim_page_next(m->tables, i), shim_page_next(&m->region->pages, i));
}

/*
 * Touches memory from offset on, as far as it is on one node; returns the bytes, *node is the node.
 */
unsigned long kern_touch(struct kern_region *r, unsigned long offset, unsigned long bytes, int *node)
{
	const struct pages *pages = &r->pages;
	unsigned long i = offset >> pages->shift;
	unsigned long end = DIV_ROUND_UP(offset + bytes, 1UL << pages->shift);
	struct mapping *m = shim_own_mapping(r);

	if (end > pages->nr)
		hw_die("touches memory behind the end of a region", current->comm, current->pid);
	shim_sync();
	take_faults(m, i);
	*node = shim_page(pages, i)->node;
	for (i = next_page(m, i); i < end; i = next_page(m, i))
		if (!present(m, i) || shim_page(pages, i)->node != *node)
			break;
	return min(bytes, (i << pages->shift) - offset);
}
