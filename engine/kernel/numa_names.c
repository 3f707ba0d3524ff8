// SPDX-License-Identifier: GPL-2.0-only
/* The pieces of NUMA balancing, by the names that the tree calls them. */
#include <linux/mm.h>
#include <linux/sched/numa_balancing.h>
#include "sim.h"
#include "space.h"
#define CREATE_TRACE_POINTS
#include <trace/events/migrate.h>

#ifdef SIM_HAS_FOLIO_CPUPID
int folio_xchg_last_cpupid(struct folio *folio, int cpupid)
#else
int page_cpupid_xchg_last(struct page *page, int cpupid)
#endif
{
	return sim_xchg_last_cpupid(cpupid);
}

#ifdef SIM_HAS_FOLIO_ACCESS_TIME
bool folio_use_access_time(struct folio *folio)
{
	return false;
}
#endif

bool sim_should_migrate(struct task_struct *p, int nid, int cpu)
{
#ifdef SIM_HAS_FOLIO_CPUPID
	static struct folio memory;
#else
	static struct page memory;
#endif

#ifdef SIM_HAS_MEMDESC_FLAGS
	memory.flags.f = (unsigned long)nid << NODES_PGSHIFT;
#else
	memory.flags = (unsigned long)nid << NODES_PGSHIFT;
#endif
	return should_numa_migrate_memory(p, &memory, nid, cpu);
}

void sim_mm_add_pages(struct mm_struct *mm, unsigned long pages)
{
#ifdef SIM_HAS_RSS_PERCPU
	mm->rss_stat[MM_ANONPAGES].count += pages;
#else
	atomic_long_add(pages, &mm->rss_stat.count[MM_ANONPAGES]);
#endif
}

void sim_vma_init(struct vm_area_struct *vma)
{
#ifdef SIM_HAS_VM_FLAGS_INIT
	vm_flags_init(vma, VM_READ | VM_WRITE);
#else
	vma->vm_flags = VM_READ | VM_WRITE;
#endif
}

#ifdef SIM_HAS_VMA_NUMAB
void sim_vma_release(struct vm_area_struct *vma) { vma_numab_state_free(vma); }
void sim_vma_accessed(struct vm_area_struct *vma) { vma_set_access_pid_bit(vma); }

void sim_vma_due(struct vm_area_struct *vma)
{
	if (vma->numab_state)
		vma->numab_state->next_scan = jiffies;
}

bool sim_scans_shared(void) { return true; }
#else
/* Nothing is kept of a VMA by itself. */
void sim_vma_release(struct vm_area_struct *vma) { }
void sim_vma_accessed(struct vm_area_struct *vma) { }
void sim_vma_due(struct vm_area_struct *vma) { }

/* mbind() has to have asked for it: vma_policy_mof() sees no policy, and takes it for none at all. */
bool sim_scans_shared(void) { return false; }
#endif

#ifdef SIM_HAS_MA_STATUS
bool sim_mas_at_start(struct ma_state *mas) { return mas->status == ma_start; }
void sim_mas_set_active(struct ma_state *mas) { mas->status = ma_active; }
void sim_mas_set_end(struct ma_state *mas) { mas->status = ma_overflow; }
#else
bool sim_mas_at_start(struct ma_state *mas) { return mas->node == MAS_START; }
void sim_mas_set_active(struct ma_state *mas) { mas->node = MAS_PAUSE; }
void sim_mas_set_end(struct ma_state *mas) { mas->node = MAS_NONE; }
#endif

void sim_trace_migrate_pages(unsigned long pages)
{
#ifdef SIM_HAS_MIGRATE_LARGE_FOLIO
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
#else
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
#endif
}
