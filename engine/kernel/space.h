/* SPDX-License-Identifier: GPL-2.0-only */
/* Address spaces: mm.c, their pages (pages.c, nodes.c, working_set.c) and NUMA balancing (numa.c). */
#ifndef SIM_SPACE_H
#define SIM_SPACE_H

#include <linux/mm.h>

/* What is known of a page: a huge one, or in a small region a base page. */
struct place {
	short node;			/* -1: nothing is there yet */
	bool marked;			/* PROT_NONE: the next touch is a hinting fault */
	int last_cpupid;
};

/* The pages of 2 MiB: one struct for all of them as long as they are alike. */
struct block {
	struct place all;
	struct place *each;		/* or one for each */
};

/* What one mmap() gives. */
struct kern_region {
	struct vm_area_struct vma;
	struct list_head list;		/* by address */
	int policy;			/* node, or one of these */
#define POLICY_LOCAL		-1
#define POLICY_INTERLEAVED	-2
	unsigned int shift;		/* of its pages' size */
	unsigned long nr;
	struct block *block;
};

struct space {
	struct mm_struct mm;
	struct list_head regions;
	struct kern_region *found;	/* by mas_find() the last time */
	struct kern_region *data;	/* its data and heap; or NULL */
	unsigned long scans;		/* that marked something */
};

static inline struct space *space_of(struct mm_struct *mm)
{
	return container_of(mm, struct space, mm);
}

static inline struct kern_region *region_of(struct vm_area_struct *vma)
{
	return container_of(vma, struct kern_region, vma);
}

/* In base pages. */
static inline unsigned long region_page_size(const struct kern_region *r)
{
	return 1UL << (r->shift - PAGE_SHIFT);
}

/* mm.c */
struct kern_region *sim_region_add(struct space *s, unsigned long bytes, unsigned int shift);
void sim_region_remove(struct kern_region *r);
void sim_page_place(struct kern_region *r, unsigned long i);
void sim_page_settle(struct kern_region *r, unsigned long i);
void sim_page_fault(struct kern_region *r, unsigned long i);

/* pages.c */
unsigned long sim_pages_per_block(const struct kern_region *r);
void sim_pages_init(struct kern_region *r);
void sim_pages_free(struct kern_region *r);
const struct place *sim_page(const struct kern_region *r, unsigned long i);
struct place *sim_pages_all(struct kern_region *r, unsigned long i);
struct place *sim_page_change(struct kern_region *r, unsigned long i);
void sim_pages_merge(struct kern_region *r, unsigned long i);
unsigned long sim_page_next(const struct kern_region *r, unsigned long i);

/* nodes.c */
int sim_node_take(int node, unsigned long pages, bool only);
void sim_node_return(int node, unsigned long pages);
bool sim_node_has_room(int node, unsigned long pages);

/* working_set.c */
void sim_working_set_fork(struct task_struct *p, bool thread);
void sim_working_set_exec(void);
void sim_working_set_exit(void);

/* numa.c */
void sim_hinting_fault(struct kern_region *r, unsigned long i);

/* compat/<series>/numa.c */
void sim_mm_add_pages(struct mm_struct *mm, unsigned long pages);
void sim_vma_init(struct vm_area_struct *vma);
void sim_vma_release(struct vm_area_struct *vma);
void sim_vma_accessed(struct vm_area_struct *vma);

#endif
