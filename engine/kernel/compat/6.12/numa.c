// SPDX-License-Identifier: GPL-2.0-only
/* How this series names the pieces of NUMA balancing. */
#include <linux/mm.h>
#include <linux/sched/numa_balancing.h>
#include "../../sim.h"
#include "../../space.h"
#define CREATE_TRACE_POINTS
#include <trace/events/migrate.h>

int folio_xchg_last_cpupid(struct folio *folio, int cpupid)
{
	return sim_xchg_last_cpupid(cpupid);
}

bool folio_use_access_time(struct folio *folio)
{
	return false;
}

bool sim_should_migrate(struct task_struct *p, int nid, int cpu)
{
	static struct folio folio;

	folio.flags = (unsigned long)nid << NODES_PGSHIFT;
	return should_numa_migrate_memory(p, &folio, nid, cpu);
}

void sim_mm_add_pages(struct mm_struct *mm, unsigned long pages)
{
	mm->rss_stat[MM_ANONPAGES].count += pages;
}

void sim_vma_init(struct vm_area_struct *vma)
{
	vm_flags_init(vma, VM_READ | VM_WRITE);
}

void sim_vma_release(struct vm_area_struct *vma) { vma_numab_state_free(vma); }
void sim_vma_accessed(struct vm_area_struct *vma) { vma_set_access_pid_bit(vma); }

void sim_vma_due(struct vm_area_struct *vma)
{
	if (vma->numab_state)
		vma->numab_state->next_scan = jiffies;
}

bool sim_scans_shared(void) { return true; }

bool sim_mas_at_start(struct ma_state *mas) { return mas->status == ma_start; }
void sim_mas_set_active(struct ma_state *mas) { mas->status = ma_active; }
void sim_mas_set_end(struct ma_state *mas) { mas->status = ma_overflow; }

void sim_trace_migrate_pages(unsigned long pages)
{
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
}
