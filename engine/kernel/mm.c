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
	struct sim_line i_mmap_rwsem, tree;
	unsigned int mapped;		/* parts */
} files[FILES];

static void change_parts(struct mapped_file *f, int change, unsigned int lines)
{
	int i;

	for (i = 0; i < PARTS; i++) {
		sim_line_lock(&f->i_mmap_rwsem);
		sim_line_move(&f->tree, lines);
		f->mapped += change;
		sim_line_unlock(&f->i_mmap_rwsem);
		sim_preemption_point();
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

static struct space *new_space(void)
{
	struct space *s = sim_zalloc(sizeof(*s), 64);

	atomic_set(&s->mm.mm_users, 1);
	atomic_set(&s->mm.mm_count, 1);
	init_rwsem(&s->mm.mmap_lock);
	INIT_LIST_HEAD(&s->regions);
	return s;
}

static void free_region(struct kern_region *r)
{
	unsigned long i, next;

	list_del(&r->list);
	for (i = 0; i < r->nr; i = next) {
		next = sim_page_next(r, i);
		if (sim_page(r, i)->node >= 0)
			sim_node_return(sim_page(r, i)->node, (next - i) * region_page_size(r));
	}
	sim_pages_free(r);
	sim_vma_release(&r->vma);
	sim_free(r);
}

void sim_put_mm(struct mm_struct *mm)
{
	struct kern_region *r, *next;

	if (!atomic_dec_and_test(&mm->mm_users))
		return;
	list_for_each_entry_safe(r, next, &space_of(mm)->regions, list)
		free_region(r);
	unmap_files();
	mmdrop(mm);
}

void __mmdrop(struct mm_struct *mm)
{
	sim_free(space_of(mm));
}

void sim_fork_mm(struct task_struct *p, bool thread)
{
	if (!thread)
		copy_files();
	else if (current->mm)
		mmget(current->mm);
	p->mm = p->active_mm = thread ? current->mm : &new_space()->mm;
	sim_working_set_fork(p, thread && current->mm);
}

void sim_exec_mm(void)
{
	struct mm_struct *old = current->mm;

	task_numa_free(current, false);
	current->mm = current->active_mm = &new_space()->mm;
	sim_working_set_exec();
	sim_put_mm(old);
	map_files();
}

void sim_exit_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	sim_working_set_exit();
	task_numa_free(current, true);
	mmgrab(mm);			/* stays active until the next switch */
	current->mm = NULL;
	sim_put_mm(mm);
}

/* ------------------------------------------------------------------ regions */

struct kern_region *sim_region_add(struct space *s, unsigned long bytes, unsigned int shift)
{
	struct kern_region *r = sim_zalloc(sizeof(*r), 64), *last;

	r->policy = POLICY_LOCAL;
	r->shift = shift;
	r->nr = DIV_ROUND_UP(bytes, 1UL << shift);
	sim_pages_init(r);
	r->vma.vm_mm = &s->mm;
	r->vma.vm_start = FIRST_ADDRESS;
	mmap_write_lock(&s->mm);
	if (!list_empty(&s->regions)) {
		last = list_last_entry(&s->regions, struct kern_region, list);
		r->vma.vm_start = ALIGN(last->vma.vm_end, HPAGE_SIZE);
	}
	r->vma.vm_end = r->vma.vm_start + (r->nr << shift);
	sim_vma_init(&r->vma);
	list_add_tail(&r->list, &s->regions);
	mmap_write_unlock(&s->mm);
	return r;
}

void sim_region_remove(struct kern_region *r)
{
	struct mm_struct *mm = r->vma.vm_mm;

	mmap_write_lock(mm);
	if (space_of(mm)->found == r)
		space_of(mm)->found = NULL;
	free_region(r);
	mmap_write_unlock(mm);
}

static unsigned int shift_for(unsigned long bytes)
{
	return bytes < HPAGE_SIZE ? PAGE_SHIFT : HPAGE_SHIFT;
}

struct kern_region *kern_region_create(unsigned long bytes)
{
	struct kern_region *r;

	sim_syscall_enter();
	r = sim_region_add(space_of(current->mm), bytes, shift_for(bytes));
	sim_syscall_exit();
	return r;
}

/* node < 0: over all nodes in turn */
void kern_region_bind(struct kern_region *r, int node)
{
	sim_syscall_enter();
	r->policy = node < 0 ? POLICY_INTERLEAVED : node;
	sim_syscall_exit();
}

/* Over the nodes that have memory, page by page. */
static int interleaved(unsigned long i)
{
	int node = first_node(node_states[N_MEMORY]);

	for (i %= num_node_state(N_MEMORY); i; i--)
		node = next_node(node, node_states[N_MEMORY]);
	return node;
}

static int node_for(const struct kern_region *r, unsigned long i)
{
	if (r->policy == POLICY_LOCAL)
		return cpu_to_node(sim.cpu);
	return r->policy == POLICY_INTERLEAVED ? interleaved(i) : r->policy;
}

static void place_page(struct kern_region *r, unsigned long i, int node, bool only)
{
	unsigned long pages = region_page_size(r);

	sim_page_change(r, i)->node = sim_node_take(node, pages, only);
	sim_page_settle(r, i);
	sim_mm_add_pages(r->vma.vm_mm, pages);
}

void sim_page_place(struct kern_region *r, unsigned long i)
{
	place_page(r, i, node_for(r, i), r->policy >= 0);
}

/* In order pages become alike again at the end of their block. */
void sim_page_settle(struct kern_region *r, unsigned long i)
{
	if ((i + 1) % sim_pages_per_block(r) == 0 || i + 1 == r->nr)
		sim_pages_merge(r, i);
}

void sim_page_fault(struct kern_region *r, unsigned long i)
{
	sim_syscall_enter();
	sim_charge(sim_costs.fault);
	if (sim_page(r, i)->node < 0) {
		sim_page_place(r, i);
		sim_kernel_work(sim_clear_time(sim_page(r, i)->node, 1UL << r->shift));
	} else if (sim_page(r, i)->marked) {
		sim_hinting_fault(r, i);
	}
	sim_syscall_exit();
}

static bool present(const struct place *p)
{
	return p->node >= 0 && !p->marked;
}

void kern_touch_line(struct kern_region *r, unsigned long offset)
{
	unsigned long i = offset >> r->shift;

	while (!present(sim_page(r, i)))
		sim_page_fault(r, i);
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
	while (!present(sim_page(r, i)))
		sim_page_fault(r, i);
	*node = sim_page(r, i)->node;
	for (i = sim_page_next(r, i); i < end; i = sim_page_next(r, i))
		if (!present(sim_page(r, i)) || sim_page(r, i)->node != *node)
			break;
	return min(bytes, (i << r->shift) - offset);
}

/* ------------------------------------------------------------------ memory of a scenario's tasks */

/* An address space with one region, all there: on a node, or (-1) spread over all that have memory. */
struct kern_region *kern_memory_create(unsigned long bytes, int huge, int node)
{
	struct space *s = new_space();
	struct kern_region *r = sim_region_add(s, bytes, huge ? HPAGE_SHIFT : PAGE_SHIFT);
	unsigned long i;

	for (i = 0; i < r->nr; i++)
		place_page(r, i, node >= 0 ? node : interleaved(i), node >= 0);
	return r;
}

/* Becomes the calling task's. */
void kern_memory_use(struct kern_region *r)
{
	struct mm_struct *old = current->mm;

	mmget(r->vma.vm_mm);
	current->mm = current->active_mm = r->vma.vm_mm;
	init_numa_balancing(0, current);
	sim_put_mm(old);
}
