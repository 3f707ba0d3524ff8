/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces: mm.c, regions.c, their pages (pages.c, nodes.c, working_set.c), NUMA balancing
 * (numa.c).
 */
#ifndef SHIM_SPACE_H
#define SHIM_SPACE_H

#include <linux/mm.h>

/* What is known of a page, a huge or a base page: where it is, and what page tables say of it. */
struct place {
	short node;			/* -1: nothing is there yet */
	bool mapped;			/* the tables have it */
	bool marked;			/* PROT_NONE: the next touch is a hinting fault */
	int last_cpupid;
};

/* The pages of 2 MiB: one struct for all of them as long as they are alike. */
struct block {
	struct place all;
	struct place *each;		/* or one for each */
};

struct pages {
	unsigned int shift;		/* of a page's size */
	unsigned long nr;
	struct block *block;
};

/* What one mmap() gives. */
struct kern_region {
	struct pages pages;
	struct list_head mappings; /* of one process; of all that inherited it, if it is shared */
	bool shared;
	int policy;			/* node, or one of these */
#define POLICY_LOCAL		-1
#define POLICY_INTERLEAVED	-2
};

/* A region in an address space. */
struct mapping {
	struct vm_area_struct vma;
	struct list_head list;		/* of the space, by address */
	struct list_head sibling;	/* of the region */
	struct kern_region *region;
	struct pages *tables; /* `mapped` and `marked`: the region's pages, unless it is shared */
};

struct space {
	struct mm_struct mm;
#ifdef CONFIG_SCHED_MM_CID
	struct cpumask masks[4]; /* behind it: cpu_bitmap, and those of its concurrency ids */
#endif
	struct list_head mappings;	/* by address */
	struct mapping *found;		/* by mas_find() the last time */
	struct kern_region *data;	/* its data and heap; or NULL */
	unsigned long scans;		/* that marked something */
	unsigned long next_scan;	/* mm.numa_next_scan, when the watch looked last */
	int scanned;			/* how often it has seen that move */
	bool comes_and_goes;		/* made when the load had lasted: others end meanwhile */
};

static inline struct space *space_of(struct mm_struct *mm)
{
	return container_of(mm, struct space, mm);
}

static inline struct mapping *mapping_of(struct vm_area_struct *vma)
{
	return container_of(vma, struct mapping, vma);
}

/* In base pages. */
static inline unsigned long shim_page_size(const struct pages *p)
{
	return 1UL << (p->shift - PAGE_SHIFT);
}

/* regions.c */
struct kern_region *shim_region_add(struct space *s, unsigned long bytes, unsigned int shift);
void shim_region_remove(struct kern_region *r);
void shim_region_populate(struct kern_region *r, int node);
void shim_inherit_regions(struct space *child, struct space *parent);
void shim_unmap_all(struct space *s);
struct mapping *shim_only_mapping(const struct kern_region *r);
struct mapping *shim_own_mapping(const struct kern_region *r);
void shim_page_map(struct mapping *m, unsigned long i);
void shim_page_fault(struct mapping *m, unsigned long i);

/* pages.c */
unsigned long shim_pages_per_block(const struct pages *p);
void shim_pages_init(struct pages *p, unsigned long nr, unsigned int shift);
void shim_pages_free(struct pages *p);
const struct place *shim_page(const struct pages *p, unsigned long i);
struct place *shim_pages_all(struct pages *p, unsigned long i);
struct place *shim_page_change(struct pages *p, unsigned long i);
void shim_page_settle(struct pages *p, unsigned long i);
void shim_pages_merge(struct pages *p, unsigned long i);
unsigned long shim_page_next(const struct pages *p, unsigned long i);

/* nodes.c */
int shim_node_take(int node, unsigned long pages, bool only);
void shim_node_return(int node, unsigned long pages);
bool shim_node_has_room(int node, unsigned long pages);

/* working_set.c */
void shim_working_set_fork(struct task_struct *p, bool thread);
void shim_working_set_exec(void);
void shim_working_set_exit(void);

/* numa.c */
void shim_hinting_fault(struct mapping *m, unsigned long i);

/* numa_names.c */
void shim_mm_add_pages(struct mm_struct *mm, unsigned long pages);
void shim_vma_init(struct vm_area_struct *vma);
void shim_vma_release(struct vm_area_struct *vma);
void shim_vma_accessed(struct vm_area_struct *vma);
void shim_vma_due(struct vm_area_struct *vma);		/* for a scan */
bool shim_scans_shared(void);

#endif
