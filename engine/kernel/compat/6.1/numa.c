// SPDX-License-Identifier: GPL-2.0-only
/* How this series names the pieces of NUMA balancing. */
#include <linux/mm.h>
#include <linux/sched/numa_balancing.h>
#include "../../sim.h"
#include "../../space.h"
#define CREATE_TRACE_POINTS
#include <trace/events/migrate.h>

int page_cpupid_xchg_last(struct page *page, int cpupid)
{
	return sim_xchg_last_cpupid(cpupid);
}

bool sim_should_migrate(struct task_struct *p, int nid, int cpu)
{
	static struct page page;

	page.flags = (unsigned long)nid << NODES_PGSHIFT;
	return should_numa_migrate_memory(p, &page, nid, cpu);
}

void sim_mm_add_pages(struct mm_struct *mm, unsigned long pages)
{
	atomic_long_add(pages, &mm->rss_stat.count[MM_ANONPAGES]);
}

void sim_vma_init(struct vm_area_struct *vma)
{
	vma->vm_flags = VM_READ | VM_WRITE;
}

/* This series keeps nothing of its own about a VMA. */
void sim_vma_release(struct vm_area_struct *vma) { }
void sim_vma_accessed(struct vm_area_struct *vma) { }
void sim_vma_due(struct vm_area_struct *vma) { }

/* mbind() has to have asked for it: vma_policy_mof() sees no policy, and takes it for none at all. */
bool sim_scans_shared(void) { return false; }

bool sim_mas_at_start(struct ma_state *mas) { return mas->node == MAS_START; }
void sim_mas_set_active(struct ma_state *mas) { mas->node = MAS_PAUSE; }
void sim_mas_set_end(struct ma_state *mas) { mas->node = MAS_NONE; }

void sim_trace_migrate_pages(unsigned long pages)
{
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
}
