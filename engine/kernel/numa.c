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
#include "sim.h"
#include "space.h"

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
	unsigned long from = sim_mas_at_start(mas) ? mas->index : mas->last + 1;
	struct kern_region *r = s->found;

	if (!r || r->vma.vm_start > from)
		r = list_first_entry(&s->regions, struct kern_region, list);
	list_for_each_entry_from(r, &s->regions, list)
		if (r->vma.vm_end > from)
			break;
	if (list_entry_is_head(r, &s->regions, list)) {
		sim_mas_set_end(mas);
		return NULL;
	}
	s->found = r;
	sim_mas_set_active(mas);
	mas->index = r->vma.vm_start;
	mas->last = r->vma.vm_end - 1;
	return &r->vma;
}

bool vma_migratable(struct vm_area_struct *vma)
{
	return true;
}

/* Migrate on fault: not where mbind() has said where memory belongs. */
bool vma_policy_mof(struct vm_area_struct *vma)
{
	return region_of(vma)->policy == POLICY_LOCAL;
}

/* Base pages a process with one thread has on its node are left alone, huge ones are not. */
static bool markable(const struct kern_region *r, const struct place *p)
{
	bool alone = atomic_read(&r->vma.vm_mm->mm_users) == 1;

	if (p->node < 0 || p->marked || !(sysctl_numa_balancing_mode & NUMA_BALANCING_NORMAL))
		return false;
	return !alone || r->shift == HPAGE_SHIFT || p->node != numa_node_id();
}

/* Marks pages of one block; gives how many. */
static unsigned long mark(struct kern_region *r, unsigned long first, unsigned long end)
{
	struct place *all = sim_pages_all(r, first);
	unsigned long i, marked = 0;

	if (all && !markable(r, all))
		return 0;
	if (all && first % sim_pages_per_block(r) == 0 && sim_page_next(r, first) == end) {
		all->marked = true;
		return end - first;
	}
	for (i = first; i < end; i++)
		if (markable(r, sim_page(r, i))) {
			sim_page_change(r, i)->marked = true;
			marked++;
		}
	sim_pages_merge(r, first);
	return marked;
}

unsigned long change_prot_numa(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct kern_region *r = region_of(vma);
	unsigned long last = DIV_ROUND_UP(end - vma->vm_start, 1UL << r->shift);
	unsigned long per_block = sim_pages_per_block(r), i, next, marked = 0;

	for (i = (start - vma->vm_start) >> r->shift; i < last; i = next) {
		next = min(i / per_block * per_block + per_block, last);
		marked += mark(r, i, next);
	}
	if (!marked)
		return 0;
	space_of(vma->vm_mm)->scans++;
	sim_kernel_work((simtime)sim_costs.numa_mark * marked);
	count(PTE_UPDATES, marked * region_page_size(r));
	return marked * region_page_size(r);
}

int sim_xchg_last_cpupid(int cpupid)
{
	int old = faulting->last_cpupid;

	faulting->last_cpupid = cpupid & LAST_CPUPID_MASK;
	return old & LAST_CPUPID_MASK;
}

/* Moves a page to a node that has room for it; the place may have changed its struct meanwhile. */
static bool migrate(struct kern_region *r, unsigned long i, int to)
{
	unsigned long pages = region_page_size(r);

	if (!sim_node_has_room(to, pages))
		return false;
	sim_node_take(to, pages, true);
	sim_node_return(sim_page(r, i)->node, pages);
	sim_page_change(r, i)->node = to;
	count(PAGES_MIGRATED, pages);
	sim_trace_migrate_pages(pages);
	sim_kernel_work((simtime)sim_costs.page_migrate * pages);
	return true;
}

void sim_hinting_fault(struct kern_region *r, unsigned long i)
{
	int here = cpu_to_node(sim.cpu), node, last, flags = 0;

	faulting = sim_page_change(r, i);
	faulting->marked = false;
	last = faulting->last_cpupid;
	node = faulting->node;
	sim_vma_accessed(&r->vma);
	count(HINT_FAULTS, 1);
	if (node == here) {
		count(HINT_FAULTS_LOCAL, 1);
		flags |= TNF_FAULT_LOCAL;
	}
	/* asked for local pages too: it is where last_cpupid is recorded */
	if (sim_should_migrate(current, node, sim.cpu) && node != here) {
		flags |= migrate(r, i, here) ? TNF_MIGRATED : TNF_MIGRATE_FAIL;
		node = sim_page(r, i)->node;
	}
	sim_page_settle(r, i);
	task_numa_fault(last, node, region_page_size(r), flags);
}
