// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes' address spaces, and the files they map.  Threads share one; a new program begins
 * with an empty one, a forked child with its parent's shared regions only.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/numa_balancing.h>
#include "shim.h"
#include "mm_cid.h"
#include "space.h"
#include "steady.h"
#include "tasks.h"

/* ------------------------------------------------------------------ mapped files */

/*
 * A program, the C library and the dynamic loader, each mapped in five parts.  Every part
 * is in its file's tree of mappings, under i_mmap_rwsem: what many processes that fork,
 * execute and exit at a time wait for.
 */
#define FILES		3
#define PARTS		5
#define LINES_BESIDE	3	/* of the tree, for a node beside one at hand and its parents */

static struct mapped_file {
	struct hw_line i_mmap_rwsem, tree;
	unsigned int mapped;		/* parts */
} files[FILES];

static void change_parts(struct mapped_file *f, int change, unsigned int lines)
{
	int i;

	for (i = 0; i < PARTS; i++) {
		hw_line_lock(&f->i_mmap_rwsem);
		hw_line_move(&f->tree, lines);
		f->mapped += change;
		hw_line_unlock(&f->i_mmap_rwsem);
		shim_preemption_point();
	}
}

/* The child's parts go beside the parent's. */
static void copy_files(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		change_parts(&files[i], 1, LINES_BESIDE);
}

/* A new program's parts are searched their places from the trees' roots. */
static void map_files(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		change_parts(&files[i], 1, 1 + ilog2(files[i].mapped + 1));
}

static void unmap_files(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		change_parts(&files[i], -1, LINES_BESIDE);
}

/* ------------------------------------------------------------------ processes */

static struct space *new_space(struct task_struct *p)
{
	struct space *s = hw_zalloc(sizeof(*s), 64);

	atomic_set(&s->mm.mm_users, 1);
	atomic_set(&s->mm.mm_count, 1);
	/* CPUs whose idle task borrows the space, one after another, change its line. */
	hw_hot_register(&s->mm, &s->mm.mm_count);
	init_rwsem(&s->mm.mmap_lock);
	INIT_LIST_HEAD(&s->mappings);
	s->comes_and_goes = shim_load_has_lasted();
	if (mm_alloc_sched(&s->mm))
		hw_die("no memory for what cache-aware scheduling keeps of a process", __FILE__, __LINE__);
	shim_cid_new_mm(&s->mm, p);
	return s;
}

void shim_put_mm(struct mm_struct *mm)
{
	if (!atomic_dec_and_test(&mm->mm_users))
		return;
	shim_unmap_all(space_of(mm));
	unmap_files();
	mmdrop(mm);
}

void __mmdrop(struct mm_struct *mm)
{
	hw_hot_forget(&space_of(mm)->mm);
	mm_destroy_sched(mm);
	shim_cid_free_mm(mm);
	hw_free(space_of(mm));
}

void shim_fork_mm(struct task_struct *p, bool thread)
{
	if (!thread)
		copy_files();
	else if (current->mm)
		mmget(current->mm);
	p->mm = p->active_mm = thread ? current->mm : &new_space(p)->mm;
	if (!thread && current->mm)
		shim_inherit_regions(space_of(p->mm), space_of(current->mm));
	shim_working_set_fork(p, thread && current->mm);
}

void shim_exec_mm(void)
{
	struct mm_struct *old = current->mm;

	task_numa_free(current, false);
	sched_mm_cid_before_execve(current);
	current->mm = current->active_mm = &new_space(current)->mm;
	sched_mm_cid_after_execve(current);
	sched_cache_exec_mmap(current, current->mm);
	shim_working_set_exec();
	shim_put_mm(old);
	map_files();
}

void shim_exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	shim_cid_exit(current);
	sched_cache_exit_mm(current);
	shim_working_set_exit();
	task_numa_free(current, true);
	mmgrab(mm);			/* stays active until the next switch */
	current->mm = NULL;
	shim_put_mm(mm);
}

/* ----------------------------------------------------------------- memory of a scenario's tasks */

/*
 * An address space with one region, all there: on a node, or (-1) spread over all that have memory.
 */
struct kern_region *kern_memory_create(unsigned long bytes, int huge, int node)
{
	struct kern_region *r = shim_region_add(new_space(current), bytes, huge ? HPAGE_SHIFT : PAGE_SHIFT);

	shim_region_populate(r, node);
	return r;
}

/* Becomes the calling task's. */
void kern_memory_use(struct kern_region *r)
{
	struct mm_struct *old = current->mm, *mm = shim_only_mapping(r)->vma.vm_mm;

	mmget(mm);
	sched_mm_cid_before_execve(current);
	shim_cid_join(mm);
	current->mm = current->active_mm = mm;
	sched_mm_cid_after_execve(current);
	sched_cache_exec_mmap(current, mm);
	init_numa_balancing(0, current);
	shim_put_mm(old);
}
