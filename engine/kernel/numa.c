// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces for NUMA balancing.  An address space is one VMA of 2 MiB chunks in
 * an array; the kernel's task_numa_work() marks them through change_prot_numa(), a
 * touch of a marked chunk is a hinting fault: should_numa_migrate_memory() decides,
 * task_numa_fault() learns.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/numa_balancing.h>
#include <linux/mempolicy.h>
#include <linux/migrate.h>
#include "sim.h"
#include "tasks.h"

#define CHUNK_SHIFT	21
#define CHUNK_PAGES	(1UL << (CHUNK_SHIFT - PAGE_SHIFT))
#define VMA_START	0x10000000UL
#define MAX_MMS		256

struct chunk {
	int node;
	int last_cpupid;
	bool marked;			/* PROT_NONE: the next touch faults */
};

struct space {
	struct mm_struct mm;
	struct vm_area_struct vma;
	unsigned long nr;
	struct chunk *chunk;
};

static struct space *spaces[MAX_MMS];
static struct chunk *faulting;

static struct space *space_of(struct mm_struct *mm)
{
	return container_of(mm, struct space, mm);
}

/* node < 0: spread over all nodes */
int kern_mm_create(unsigned int mb, int node)
{
	struct space *s = sim_zalloc(sizeof(*s), 64);
	unsigned long i;
	int id;

	for (id = 0; id < MAX_MMS && spaces[id]; id++)
		;
	if (id == MAX_MMS)
		return -ENOSPC;
	s->nr = max(1u, mb / 2);
	s->chunk = sim_zalloc(s->nr * sizeof(*s->chunk), 64);
	for (i = 0; i < s->nr; i++) {
		s->chunk[i].node = node >= 0 ? node : i % nr_node_ids;
		s->chunk[i].last_cpupid = -1 & LAST_CPUPID_MASK;
	}
	atomic_set(&s->mm.mm_users, 1);
	atomic_set(&s->mm.mm_count, 1);
	init_rwsem(&s->mm.mmap_lock);
	s->mm.numa_next_scan = jiffies + msecs_to_jiffies(sysctl_numa_balancing_scan_delay);
	s->vma.vm_mm = &s->mm;
	s->vma.vm_start = VMA_START;
	s->vma.vm_end = VMA_START + (s->nr << CHUNK_SHIFT);
	sim_mm_series(&s->mm, &s->vma, s->nr * CHUNK_PAGES);
	spaces[id] = s;
	return id;
}

void kern_mm_use(struct sim_task *task, int mm)
{
	struct task_struct *p = task->kernel;

	if (!p || mm < 0 || mm >= MAX_MMS || !spaces[mm])
		sim_die("no such address space", "mm", mm);
	mmget(&spaces[mm]->mm);
	p->mm = p->active_mm = &spaces[mm]->mm;
	init_numa_balancing(0, p);
}

/* Threads share their parent's address space; processes of the scenario have none of their own. */
void sim_fork_mm(struct task_struct *p, bool thread)
{
	if (!thread || !current->mm)
		return;
	mmget(current->mm);
	p->mm = p->active_mm = current->mm;
}

void sim_exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	task_numa_free(current, true);
	current->mm = NULL;
	current->active_mm = &init_mm;
	mmgrab(&init_mm);
	atomic_dec(&mm->mm_users);
}

void __mmdrop(struct mm_struct *mm)
{
}

/* ------------------------------------------------------------------ what task_numa_work() walks */

/* One VMA: the maple tree is not needed. */
void *mas_find(struct ma_state *mas, unsigned long max)
{
	struct space *s = space_of(container_of(mas->tree, struct mm_struct, mm_mt));

	if (sim_mas_at_start(mas) && mas->index < s->vma.vm_end) {
		sim_mas_set_active(mas);
		mas->index = s->vma.vm_start;
		mas->last = s->vma.vm_end - 1;
		return &s->vma;
	}
	sim_mas_set_end(mas);
	return NULL;
}

bool vma_migratable(struct vm_area_struct *vma)
{
	return true;
}

bool vma_policy_mof(struct vm_area_struct *vma)
{
	return true;
}

unsigned long change_prot_numa(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct space *s = container_of(vma, struct space, vma);
	unsigned long i, marked = 0;

	end += (1UL << CHUNK_SHIFT) - 1;
	for (i = (start - VMA_START) >> CHUNK_SHIFT;
	     i < (end - VMA_START) >> CHUNK_SHIFT && i < s->nr; i++) {
		if (s->chunk[i].marked)
			continue;
		s->chunk[i].marked = true;
		marked += CHUNK_PAGES;
	}
	return marked;
}

int sim_xchg_last_cpupid(int cpupid)
{
	int old = faulting->last_cpupid;

	faulting->last_cpupid = cpupid & LAST_CPUPID_MASK;
	return old & LAST_CPUPID_MASK;
}

/* ------------------------------------------------------------------ touching */

static void hinting_fault(struct chunk *c)
{
	int nid = c->node, last = c->last_cpupid, here = cpu_to_node(sim.cpu), flags = 0;

	sim_charge(sim_costs.fault);
	c->marked = false;
	faulting = c;
	/* asked for local pages too: it is where last_cpupid is recorded */
	if (sim_should_migrate(current, nid, sim.cpu) && nid != here) {
		sim_kernel_work((simtime)sim_costs.page_migrate * CHUNK_PAGES);
		c->node = here;
		flags |= TNF_MIGRATED;
		sim_trace_migrate_pages(CHUNK_PAGES);
		nid = here;
	}
	task_numa_fault(last, nid, CHUNK_PAGES, flags);
}

/* The task's next work is on this part of its memory. */
void kern_touch(unsigned long offset_mb, unsigned long mb)
{
	struct sim_task *task = current->thread.sim;
	unsigned long i, first = offset_mb / 2, nr = max(1UL, mb / 2);
	unsigned int on_node[MAX_NUMNODES] = { };
	struct space *s;

	if (!current->mm)
		return;
	s = space_of(current->mm);
	sim_sync();
	for (i = first; i < first + nr; i++) {
		struct chunk *c = &s->chunk[i % s->nr];

		if (c->marked) {
			sim_syscall_enter();
			hinting_fault(c);
			sim_syscall_exit();
		}
		on_node[c->node]++;
	}
	task->mem_node = 0;
	for (i = 1; i < nr_node_ids; i++)
		if (on_node[i] > on_node[task->mem_node])
			task->mem_node = i;
}
