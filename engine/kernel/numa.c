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

/* The maple tree is a list here. */
void *mas_find(struct ma_state *mas, unsigned long max)
{
	struct space *s = space_of(container_of(mas->tree, struct mm_struct, mm_mt));
	unsigned long from = sim_mas_at_start(mas) ? mas->index : mas->last + 1;
	struct kern_region *r;

	for (r = s->first; r && r->vma.vm_end <= from; r = r->next)
		;
	if (!r) {
		sim_mas_set_end(mas);
		return NULL;
	}
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

unsigned long change_prot_numa(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct kern_region *r = region_of(vma);
	unsigned long i, last = DIV_ROUND_UP(end - vma->vm_start, 1UL << r->shift), marked = 0;

	for (i = (start - vma->vm_start) >> r->shift; i < last; i++) {
		if (r->place[i].node < 0 || r->place[i].marked)
			continue;
		r->place[i].marked = true;
		marked += region_pages(r);
	}
	return marked;
}

int sim_xchg_last_cpupid(int cpupid)
{
	int old = faulting->last_cpupid;

	faulting->last_cpupid = cpupid & LAST_CPUPID_MASK;
	return old & LAST_CPUPID_MASK;
}

void sim_hinting_fault(struct kern_region *r, struct place *p)
{
	int last = p->last_cpupid, here = cpu_to_node(sim.cpu), flags = 0;
	unsigned long pages = region_pages(r);

	p->marked = false;
	faulting = p;
	/* asked for local pages too: it is where last_cpupid is recorded */
	if (sim_should_migrate(current, p->node, sim.cpu) && p->node != here) {
		sim_kernel_work((simtime)sim_costs.page_migrate * pages);
		p->node = here;
		flags |= TNF_MIGRATED;
		sim_trace_migrate_pages(pages);
	}
	task_numa_fault(last, p->node, pages, flags);
}
