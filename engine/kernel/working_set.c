// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks touch all the time, beside what their programs touch by name: their stack,
 * their process's data, parts of regions.  Here a scan's marks cost faults first.
 */
#include <linux/mm.h>
#include "shim.h"
#include "space.h"

#define MAX_PARTS	4

struct working_set {
	struct kern_region *stack;	/* its own, ends with it; NULL: none */
	unsigned long scans;		/* of its address space, when it last looked */
	bool touching;
	int nr;
	struct part {
		struct kern_region *region;
		unsigned long first, end;
	} part[MAX_PARTS];
};

static struct working_set *set_of(struct task_struct *p)
{
	return p->thread.working_set;
}

static struct part *add_part(struct working_set *set, struct kern_region *r,
			     unsigned long first, unsigned long end)
{
	struct part *part = &set->part[set->nr++];

	*part = (struct part) { .region = r, .first = first, .end = end };
	set->scans = ~0UL;		/* look at it */
	return part;
}

static struct kern_region *add_region(struct task_struct *p, struct working_set *set,
				      unsigned long bytes, unsigned int pages)
{
	struct kern_region *r = shim_region_add(space_of(p->mm), bytes, PAGE_SHIFT);

	add_part(set, r, 0, pages);
	return r;
}

/* A new process has data, a new thread a stack in the same address space. */
static void set_up(struct task_struct *p, unsigned int pages, bool thread)
{
	const struct kern_touched *sizes = &p->thread.task->touched;
	struct space *s = space_of(p->mm);
	struct working_set *set;

	if (!pages && !(thread && s->data))
		return;
	set = p->thread.working_set = hw_zalloc(sizeof(*set), 16);
	if (thread) {
		if (pages)
			set->stack = add_region(p, set, sizes->stack, pages);
		if (s->data)
			add_part(set, s->data, 0, s->data->pages.nr);
	} else {
		s->data = add_region(p, set, pages << PAGE_SHIFT, pages);
	}
}

void shim_working_set_fork(struct task_struct *p, bool thread)
{
	const struct kern_touched *sizes = &p->thread.task->touched;

	p->thread.working_set = NULL;
	if (thread)
		set_up(p, sizes->thread, true);
	else
		set_up(p, current->mm ? sizes->child : sizes->process, false);
}

void shim_working_set_exec(void)
{
	hw_free(current->thread.working_set);
	current->thread.working_set = NULL;
	set_up(current, current->thread.task->touched.process, false);
}

void shim_working_set_exit(void)
{
	struct working_set *set = set_of(current);

	if (!set)
		return;
	if (set->stack)
		shim_region_remove(set->stack);
	hw_free(set);
	current->thread.working_set = NULL;
}

/* The calling task works on this part of a region from now on. */
void kern_working_set(struct kern_region *r, unsigned long offset, unsigned long bytes)
{
	struct working_set *set = set_of(current);

	if (!set)
		set = current->thread.working_set = hw_zalloc(sizeof(*set), 16);
	if (set->nr == MAX_PARTS)
		hw_die("works on too many parts of regions", current->comm, current->pid);
	add_part(set, r, offset >> r->pages.shift, DIV_ROUND_UP(offset + bytes, 1UL << r->pages.shift));
	shim_working_set_touch();
}

/* The first touch of a page is part of what fork and exec cost; a marked one is a fault. */
static void touch(struct part *part)
{
	struct mapping *m = shim_own_mapping(part->region);
	unsigned long i;

	for (i = part->first; i < part->end; i++) {
		if (!shim_page(m->tables, i)->mapped)
			shim_page_map(m, i);
		else if (shim_page(m->tables, i)->marked)
			shim_page_fault(m, i);
	}
}

/* In user mode, where a program calls: whoever of a process comes first takes the faults. */
void shim_working_set_touch(void)
{
	struct working_set *set = set_of(current);
	int i;

	if (!set || set->touching || set->scans == space_of(current->mm)->scans)
		return;
	set->scans = space_of(current->mm)->scans;
	set->touching = true;
	for (i = 0; i < set->nr; i++)
		touch(&set->part[i]);
	set->touching = false;
}
