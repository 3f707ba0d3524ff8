// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces.  Every process has one, its threads share it, a forked child and a
 * new program begin with an empty one.  A region is what one mmap() gives; its pages
 * have no place until they are touched.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/numa_balancing.h>
#include "sim.h"
#include "space.h"
#include "tasks.h"

#define FIRST_ADDRESS	0x10000000UL

static struct space *new_space(void)
{
	struct space *s = sim_zalloc(sizeof(*s), 64);

	atomic_set(&s->mm.mm_users, 1);
	atomic_set(&s->mm.mm_count, 1);
	init_rwsem(&s->mm.mmap_lock);
	return s;
}

void sim_put_mm(struct mm_struct *mm)
{
	struct kern_region *r;

	if (!atomic_dec_and_test(&mm->mm_users))
		return;
	while ((r = space_of(mm)->first)) {
		space_of(mm)->first = r->next;
		sim_vma_release(&r->vma);
		sim_free(r->place);
		sim_free(r);
	}
	mmdrop(mm);
}

void __mmdrop(struct mm_struct *mm)
{
	sim_free(space_of(mm));
}

void sim_fork_mm(struct task_struct *p, bool thread)
{
	if (thread && current->mm)
		mmget(current->mm);
	p->mm = p->active_mm = thread ? current->mm : &new_space()->mm;
}

void sim_exec_mm(void)
{
	struct mm_struct *old = current->mm;

	task_numa_free(current, false);
	current->mm = current->active_mm = &new_space()->mm;
	sim_put_mm(old);
}

void sim_exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	task_numa_free(current, true);
	mmgrab(mm);			/* stays active until the next switch */
	current->mm = NULL;
	sim_put_mm(mm);
}

/* ------------------------------------------------------------------ regions */

static struct kern_region *add_region(struct space *s, unsigned long bytes, int policy)
{
	struct kern_region *r = sim_zalloc(sizeof(*r), 64);
	unsigned long i;

	r->policy = policy;
	r->shift = bytes < HPAGE_SIZE ? PAGE_SHIFT : HPAGE_SHIFT;
	r->nr = DIV_ROUND_UP(bytes, 1UL << r->shift);
	r->place = sim_zalloc(r->nr * sizeof(*r->place), 64);
	for (i = 0; i < r->nr; i++)
		r->place[i] = (struct place) { .node = -1, .last_cpupid = -1 & LAST_CPUPID_MASK };
	r->vma.vm_mm = &s->mm;
	r->vma.vm_start = s->last ? ALIGN(s->last->vma.vm_end, HPAGE_SIZE) : FIRST_ADDRESS;
	r->vma.vm_end = r->vma.vm_start + (r->nr << r->shift);
	sim_vma_init(&r->vma);
	if (s->last)
		s->last->next = r;
	else
		s->first = r;
	s->last = r;
	return r;
}

struct kern_region *kern_region_create(unsigned long bytes)
{
	sim_syscall_enter();
	sim_syscall_exit();
	return add_region(space_of(current->mm), bytes, POLICY_LOCAL);
}

/* node < 0: over all nodes in turn */
void kern_region_bind(struct kern_region *r, int node)
{
	sim_syscall_enter();
	r->policy = node < 0 ? POLICY_INTERLEAVED : node;
	sim_syscall_exit();
}

static int node_for(const struct kern_region *r, unsigned long i)
{
	if (r->policy == POLICY_LOCAL)
		return cpu_to_node(sim.cpu);
	return r->policy == POLICY_INTERLEAVED ? (int)(i % nr_node_ids) : r->policy;
}

static void place_page(struct kern_region *r, unsigned long i, int node)
{
	r->place[i].node = node;
	sim_mm_add_pages(r->vma.vm_mm, region_pages(r));
}

static void fault_in(struct kern_region *r, unsigned long i)
{
	sim_syscall_enter();
	sim_charge(sim_costs.fault);
	if (r->place[i].node < 0) {
		int node = node_for(r, i);

		place_page(r, i, node);
		sim_kernel_work(sim_clear_time(node, 1UL << r->shift));
	} else {
		sim_hinting_fault(r, &r->place[i]);
	}
	sim_vma_accessed(&r->vma);
	sim_syscall_exit();
}

static bool present(const struct place *p)
{
	return p->node >= 0 && !p->marked;
}

/* Touches memory from offset on, as far as it lies on one node: gives the node and how many bytes. */
unsigned long kern_touch(struct kern_region *r, unsigned long offset, unsigned long bytes, int *node)
{
	unsigned long i = offset >> r->shift, end = DIV_ROUND_UP(offset + bytes, 1UL << r->shift);

	if (current->mm != r->vma.vm_mm)
		sim_die("touches a region of another process", current->comm, current->pid);
	if (end > r->nr)
		sim_die("touches memory behind the end of a region", current->comm, current->pid);
	sim_sync();
	if (!present(&r->place[i]))
		fault_in(r, i);
	*node = r->place[i].node;
	for (i++; i < end && present(&r->place[i]) && r->place[i].node == *node; i++)
		;
	return min(bytes, (i << r->shift) - offset);
}

/* ------------------------------------------------------------------ memory of a scenario's tasks */

/* An address space with one region, all there: on a node, or (-1) spread over all. */
struct kern_region *kern_memory_create(unsigned long bytes, int node)
{
	struct space *s = new_space();
	struct kern_region *r = add_region(s, bytes, POLICY_LOCAL);
	unsigned long i;

	for (i = 0; i < r->nr; i++)
		place_page(r, i, node >= 0 ? node : (int)(i % nr_node_ids));
	return r;
}

void kern_memory_use(struct sim_task *task, struct kern_region *r)
{
	struct task_struct *p = task->kernel;
	struct mm_struct *old;

	if (!p)
		return;
	old = p->mm;
	mmget(r->vma.vm_mm);
	p->mm = p->active_mm = r->vma.vm_mm;
	init_numa_balancing(0, p);
	sim_put_mm(old);
}
