/* SPDX-License-Identifier: GPL-2.0-only */
/* No page tables, hence no TLB. */
#ifndef _ASM_SIM_TLBFLUSH_H
#define _ASM_SIM_TLBFLUSH_H

struct mm_struct;
struct vm_area_struct;
struct arch_tlbflush_unmap_batch {
	int dummy;
};

static inline void flush_tlb_all(void) { }
static inline void flush_tlb_mm(struct mm_struct *mm) { }
static inline void flush_tlb_page(struct vm_area_struct *vma, unsigned long addr) { }
static inline void flush_tlb_range(struct vm_area_struct *vma, unsigned long start,
				   unsigned long end) { }
static inline void flush_tlb_kernel_range(unsigned long start, unsigned long end) { }

#endif
