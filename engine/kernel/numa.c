// SPDX-License-Identifier: GPL-2.0-only
/*
 * NUMA balancing's view of address spaces: the kernel's task_numa_work() marks their
 * pages through change_prot_numa(); a touch of a marked page is a hinting fault:
 * should_numa_migrate_memory() decides, task_numa_fault() learns.
 */
#include <linux/mm.h>
#include <linux/sched/numa_balancing.h>
#include <linux/mempolicy.h>
#include <linux/migrate.h>
#include "shim.h"
#include "space.h"
#include <trace/events/schedlab.h>

static struct place *faulting;

/* Names and order as in /proc/vmstat. */
enum { PTE_UPDATES, HINT_FAULTS, HINT_FAULTS_LOCAL, PAGES_MIGRATED };
struct kern_vm_counter kern_vm_counters[] = {
	[PTE_UPDATES] = { "numa_pte_updates" },
	[HINT_FAULTS] = { "numa_hint_faults" },
	[HINT_FAULTS_LOCAL] = { "numa_hint_faults_local" },
	[PAGES_MIGRATED] = { "numa_pages_migrated" },
	{ }
};

static void count(int event, unsigned long n)
{
	kern_vm_counters[event].count += n;
}

/* The maple tree is a list here; scans walk it in order. */
void *mas_find(struct ma_state *mas, unsigned long max)
{
	struct space *s = space_of(container_of(mas->tree, struct mm_struct, mm_mt));
	unsigned long from = shim_mas_at_start(mas) ? mas->index : mas->last + 1;
	struct mapping *m = s->found;

	if (!m || m->vma.vm_start > from)
		m = list_first_entry(&s->mappings, struct mapping, list);
	list_for_each_entry_from(m, &s->mappings, list)
		if (m->vma.vm_end > from)
			break;
	if (list_entry_is_head(m, &s->mappings, list)) {
		shim_mas_set_end(mas);
		return NULL;
	}
	s->found = m;
	shim_mas_set_active(mas);
	mas->index = m->vma.vm_start;
	mas->last = m->vma.vm_end - 1;
	return &m->vma;
}

bool vma_migratable(struct vm_area_struct *vma)
{
	return true;
}

/* Migrate on fault: not where mbind() has said where memory belongs. */
bool vma_policy_mof(struct vm_area_struct *vma)
{
	const struct kern_region *r = mapping_of(vma)->region;

	return r->policy == POLICY_LOCAL && (!r->shared || shim_scans_shared());
}

/* Base pages a process with one thread has on its node are left alone, huge ones are not. */
static bool markable(const struct mapping *m, unsigned long i)
{
	const struct pages *pages = &m->region->pages;
	const struct place *p = shim_page(m->tables, i);
	bool alone = atomic_read(&m->vma.vm_mm->mm_users) == 1;

	if (!p->mapped || p->marked || !(sysctl_numa_balancing_mode & NUMA_BALANCING_NORMAL))
		return false;
	return !alone || pages->shift == HPAGE_SHIFT || shim_page(pages, i)->node != numa_node_id();
}

/* Marks pages of one block; gives how many. */
static unsigned long mark(struct mapping *m, unsigned long first, unsigned long end)
{
	struct place *all = shim_pages_all(&m->region->pages, first) ? shim_pages_all(m->tables, first) : NULL;
	unsigned long i, marked = 0;

	if (all && !markable(m, first))
		return 0;
	if (all && first % shim_pages_per_block(m->tables) == 0 && shim_page_next(m->tables, first) == end) {
		all->marked = true;
		return end - first;
	}
	for (i = first; i < end; i++)
		if (markable(m, i)) {
			shim_page_change(m->tables, i)->marked = true;
			marked++;
		}
	shim_pages_merge(m->tables, first);
	return marked;
}

unsigned long change_prot_numa(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct mapping *m = mapping_of(vma);
	unsigned int shift = m->tables->shift;
	unsigned long last = DIV_ROUND_UP(end - vma->vm_start, 1UL << shift);
	unsigned long per_block = shim_pages_per_block(m->tables), i, next, marked = 0;

	for (i = (start - vma->vm_start) >> shift; i < last; i = next) {
		next = min(i / per_block * per_block + per_block, last);
		marked += mark(m, i, next);
	}
	if (!marked)
		return 0;
	space_of(vma->vm_mm)->scans++;
	shim_kernel_work((simtime)hw_costs.numa_mark * marked);
	count(PTE_UPDATES, marked * shim_page_size(m->tables));
	return marked * shim_page_size(m->tables);
}

int shim_xchg_last_cpupid(int cpupid)
{
	int old = faulting->last_cpupid;

	faulting->last_cpupid = cpupid & LAST_CPUPID_MASK;
	return old & LAST_CPUPID_MASK;
}

/* How many processes have a shared region's page in their tables. */
static int users(const struct kern_region *r, unsigned long i)
{
	struct mapping *m;
	int n = 0;

	list_for_each_entry(m, &r->mappings, sibling)
		n += shim_page(m->tables, i)->mapped;
	return n;
}

/* A page that has moved is mapped anew everywhere, without marks. */
static void unmark(struct kern_region *r, unsigned long i)
{
	struct mapping *m;

	list_for_each_entry(m, &r->mappings, sibling)
		if (shim_page(m->tables, i)->marked)
			shim_page_change(m->tables, i)->marked = false;
}

/* Moves a page to a node that has room for it; the place may have changed its struct meanwhile. */
static bool migrate(struct kern_region *r, unsigned long i, int to)
{
	unsigned long pages = shim_page_size(&r->pages);

	if (!shim_node_has_room(to, pages))
		return false;
	shim_node_take(to, pages, true);
	shim_node_return(shim_page(&r->pages, i)->node, pages);
	shim_page_change(&r->pages, i)->node = to;
	unmark(r, i);
	count(PAGES_MIGRATED, pages);
	shim_trace_migrate_pages(pages);
	shim_kernel_work((simtime)hw_costs.page_migrate * pages);
	return true;
}

static int last_node(int cpupid)
{
	return cpupid_cpu_unset(cpupid) ? NUMA_NO_NODE : cpupid_to_nid(cpupid);
}

void shim_hinting_fault(struct mapping *m, unsigned long i)
{
	int here = cpu_to_node(hw.cpu), node, last, flags = 0;
	struct kern_region *r = m->region;
	bool wanted, moved = false;

	shim_page_change(m->tables, i)->marked = false;
	faulting = shim_page_change(&r->pages, i);
	last = faulting->last_cpupid;
	node = faulting->node;
	shim_vma_accessed(&m->vma);
	count(HINT_FAULTS, 1);
	if (r->shared && users(r, i) > 1)
		flags |= TNF_SHARED;
	if (node == here) {
		count(HINT_FAULTS_LOCAL, 1);
		flags |= TNF_FAULT_LOCAL;
	}
	/* asked for local pages too: it is where last_cpupid is recorded */
	wanted = shim_should_migrate(current, node, hw.cpu) && node != here;
	if (wanted) {
		moved = migrate(r, i, here);
		flags |= moved ? TNF_MIGRATED : TNF_MIGRATE_FAIL;
	}
	trace_numa_fault(node, here, last_node(last), r->shared, wanted, moved);
	if (moved)
		node = here;
	shim_page_settle(&r->pages, i);
	if (r->shared)
		shim_page_settle(m->tables, i);
	task_numa_fault(last, node, shim_page_size(&r->pages), flags);
}
