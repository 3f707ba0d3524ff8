/* SPDX-License-Identifier: GPL-2.0-only */
/* Address spaces, between mm.c and what NUMA balancing does with them (numa.c). */
#ifndef SIM_SPACE_H
#define SIM_SPACE_H

#include <linux/mm.h>

/* A page of a region: a huge one, or in a small region a base page. */
struct place {
	short node;			/* -1: nothing is there yet */
	bool marked;			/* PROT_NONE: the next touch is a hinting fault */
	int last_cpupid;
};

/* What one mmap() gives. */
struct kern_region {
	struct vm_area_struct vma;
	struct kern_region *next;	/* by address */
	int policy;			/* node, or one of these */
#define POLICY_LOCAL		-1
#define POLICY_INTERLEAVED	-2
	unsigned int shift;		/* of its pages' size */
	unsigned long nr;
	struct place *place;
};

struct space {
	struct mm_struct mm;
	struct kern_region *first, *last;
};

static inline struct space *space_of(struct mm_struct *mm)
{
	return container_of(mm, struct space, mm);
}

static inline struct kern_region *region_of(struct vm_area_struct *vma)
{
	return container_of(vma, struct kern_region, vma);
}

static inline unsigned long region_pages(const struct kern_region *r)
{
	return 1UL << (r->shift - PAGE_SHIFT);
}

void sim_hinting_fault(struct kern_region *r, struct place *p);

/* compat/<series>/numa.c */
void sim_mm_add_pages(struct mm_struct *mm, unsigned long pages);
void sim_vma_init(struct vm_area_struct *vma);
void sim_vma_release(struct vm_area_struct *vma);
void sim_vma_accessed(struct vm_area_struct *vma);

#endif
