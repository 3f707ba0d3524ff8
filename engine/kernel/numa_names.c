// SPDX-License-Identifier: GPL-2.0-only
/* The pieces of NUMA balancing, by the names that the tree calls them. */
#include <linux/mm.h>
#include <linux/sched/numa_balancing.h>
#include "shim.h"
#include "space.h"
#define CREATE_TRACE_POINTS
#include <trace/events/migrate.h>

#ifdef TREE_HAS_FOLIO_CPUPID
int folio_xchg_last_cpupid(struct folio *folio, int cpupid)
#else
int page_cpupid_xchg_last(struct page *page, int cpupid)
#endif
{
	return shim_xchg_last_cpupid(cpupid);
}

#ifdef TREE_HAS_FOLIO_ACCESS_TIME
bool folio_use_access_time(struct folio *folio)
{
	return false;
}
#endif

bool shim_should_migrate(struct task_struct *p, int nid, int cpu)
{
#ifdef TREE_HAS_FOLIO_CPUPID
	static struct folio memory;
#else
	static struct page memory;
#endif

#ifdef TREE_HAS_MEMDESC_FLAGS
	memory.flags.f = (unsigned long)nid << NODES_PGSHIFT;
#else
	memory.flags = (unsigned long)nid << NODES_PGSHIFT;
#endif
	return should_numa_migrate_memory(p, &memory, nid, cpu);
}

void shim_mm_add_pages(struct mm_struct *mm, unsigned long pages)
{
#ifdef TREE_HAS_RSS_PERCPU
	mm->rss_stat[MM_ANONPAGES].count += pages;
#else
	atomic_long_add(pages, &mm->rss_stat.count[MM_ANONPAGES]);
#endif
}

void shim_vma_init(struct vm_area_struct *vma)
{
#ifdef TREE_HAS_VM_FLAGS_INIT
	vm_flags_init(vma, VM_READ | VM_WRITE);
#else
	vma->vm_flags = VM_READ | VM_WRITE;
#endif
}

#ifdef TREE_HAS_VMA_NUMAB
void shim_vma_release(struct vm_area_struct *vma) { vma_numab_state_free(vma); }
void shim_vma_accessed(struct vm_area_struct *vma) { vma_set_access_pid_bit(vma); }

void shim_vma_due(struct vm_area_struct *vma)
{
	if (vma->numab_state)
		vma->numab_state->next_scan = jiffies;
}

bool shim_scans_shared(void) { return true; }
#else
/* Nothing is kept of a VMA by itself. */
void shim_vma_release(struct vm_area_struct *vma) { }
void shim_vma_accessed(struct vm_area_struct *vma) { }
void shim_vma_due(struct vm_area_struct *vma) { }

/*
 * mbind() has to have asked for it: vma_policy_mof() sees no policy, and takes it for none at all.
 */
bool shim_scans_shared(void) { return false; }
#endif

#ifdef TREE_HAS_MA_STATUS
bool shim_mas_at_start(struct ma_state *mas) { return mas->status == ma_start; }
void shim_mas_set_active(struct ma_state *mas) { mas->status = ma_active; }
void shim_mas_set_end(struct ma_state *mas) { mas->status = ma_overflow; }
#else
bool shim_mas_at_start(struct ma_state *mas) { return mas->node == MAS_START; }
void shim_mas_set_active(struct ma_state *mas) { mas->node = MAS_PAUSE; }
void shim_mas_set_end(struct ma_state *mas) { mas->node = MAS_NONE; }
#endif

void shim_trace_migrate_pages(unsigned long pages)
{
#ifdef TREE_HAS_MIGRATE_LARGE_FOLIO
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
#else
	trace_mm_migrate_pages(pages, 0, 0, 0, 0, MIGRATE_ASYNC, MR_NUMA_MISPLACED);
#endif
}
