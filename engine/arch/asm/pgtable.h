/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_PGTABLE_H
#define _ASM_SIM_PGTABLE_H
/* Page tables exist as types only: no code here ever walks one. */
#define __HAVE_ARCH_PTE_SWP_EXCLUSIVE
#ifndef TREE_HAS_PTE_MKWRITE
#define pte_mkwrite(p) (p)
#endif
#ifndef TREE_HAS_SET_PTE_AT
#define set_pte_at(mm, addr, p, v) (*(p) = (v))
#endif
#include <asm-generic/pgtable-nop4d.h>
#include <asm/page.h>
/* four folded-enough levels, never walked */
#define PMD_SHIFT 21
#define PMD_SIZE (1UL << PMD_SHIFT)
#define PMD_MASK (~(PMD_SIZE-1))
#define PUD_SHIFT 30
#define PUD_SIZE (1UL << PUD_SHIFT)
#define PUD_MASK (~(PUD_SIZE-1))
#define PGDIR_SHIFT 39
#define PGDIR_SIZE (1UL << PGDIR_SHIFT)
#define PGDIR_MASK (~(PGDIR_SIZE-1))
#define PTRS_PER_PTE 512
#define PTRS_PER_PMD 512
#define PTRS_PER_PUD 512
#define PTRS_PER_PGD 512
#define VMALLOC_START 0xffffc90000000000UL
#define VMALLOC_END   0xffffe8ffffffffffUL
#define PAGE_NONE __pgprot(0)
#define PAGE_KERNEL __pgprot(1)
#define PAGE_SHARED __pgprot(1)
#define PAGE_READONLY __pgprot(1)
#define PAGE_COPY __pgprot(1)
#define PAGE_READONLY_EXEC __pgprot(1)
#define PAGE_COPY_EXEC __pgprot(1)
#define PAGE_SHARED_EXEC __pgprot(1)
#define PAGE_KERNEL_RO PAGE_KERNEL
#define pte_none(p) (!pte_val(p))
#define pte_present(p) (pte_val(p) & 1)
#define pte_write(p) (pte_val(p) & 2)
#define pte_dirty(p) (pte_val(p) & 4)
#define pte_young(p) (pte_val(p) & 8)
static inline pte_t pte_wrprotect(pte_t p) { return p; }
static inline pte_t pte_mkclean(pte_t p) { return p; }
static inline pte_t pte_mkold(pte_t p) { return p; }
static inline pte_t pte_mkwrite_novma(pte_t p) { return p; }
static inline pte_t pte_mkdirty(pte_t p) { return p; }
static inline pte_t pte_mkyoung(pte_t p) { return p; }
static inline pte_t pte_modify(pte_t p, pgprot_t n) { return p; }
#define pte_pfn(p) (pte_val(p) >> PAGE_SHIFT)
#define pfn_pte(pfn, prot) __pte(((pfn) << PAGE_SHIFT) | pgprot_val(prot))
#ifndef TREE_HAS_MK_PTE
#define mk_pte(pg, prot) pfn_pte(page_to_pfn(pg), prot)
#endif
#define pte_page(p) pfn_to_page(pte_pfn(p))
#define pte_clear(mm, a, p) (*(p) = __pte(0))
#define set_pte(p, v) (*(p) = (v))
#define pmd_none(p) (!pmd_val(p))
#define pmd_bad(p) 0
#define pmd_present(p) (pmd_val(p) & 1)
#define pmd_clear(p) (*(p) = __pmd(0))
#define set_pmd(p, v) (*(p) = (v))
#define pmd_pfn(p) (pmd_val(p) >> PAGE_SHIFT)
#define pmd_page(p) pfn_to_page(pmd_pfn(p))
static inline unsigned long pmd_page_vaddr(pmd_t p) { return pmd_val(p) & PAGE_MASK; }
#define pmd_leaf(p) 0
#define pud_none(p) (!pud_val(p))
#define pud_bad(p) 0
#define pud_present(p) (pud_val(p) & 1)
#define pud_clear(p) (*(p) = __pud(0))
#define set_pud(p, v) (*(p) = (v))
#define pud_pfn(p) (pud_val(p) >> PAGE_SHIFT)
#define pud_page(p) pfn_to_page(pud_pfn(p))
static inline pmd_t *pud_pgtable(pud_t p) { return (pmd_t *)(pud_val(p) & PAGE_MASK); }
static inline pud_t *p4d_pgtable(p4d_t p) { return (pud_t *)(pgd_val(p.pgd) & PAGE_MASK); }
#define pud_leaf(p) 0
#define p4d_none(p) (!pgd_val((p).pgd))
#define p4d_bad(p) 0
#define p4d_present(p) 1
#define p4d_clear(p) ((p)->pgd = __pgd(0))
static inline void update_mmu_cache_range(struct vm_fault *vmf, struct vm_area_struct *vma, unsigned long a, pte_t *p, unsigned int nr) {}
#define update_mmu_cache(vma, a, p) do {} while (0)
#define __swp_type(x) ((x).val & 31)
#define __swp_offset(x) ((x).val >> 5)
#define __swp_entry(t, o) ((swp_entry_t){ (t) | ((o) << 5) })
#define __pte_to_swp_entry(p) ((swp_entry_t){ pte_val(p) })
#define __swp_entry_to_pte(x) ((pte_t){ (x).val })
static inline int pte_swp_exclusive(pte_t p) { return 0; }
static inline pte_t pte_swp_mkexclusive(pte_t p) { return p; }
static inline pte_t pte_swp_clear_exclusive(pte_t p) { return p; }
#define pte_protnone(p) 0
#define pmd_protnone(p) 0
#define MAX_PTRS_PER_P4D 1
#ifndef TREE_HAS_EMPTY_ZERO_PAGE
extern unsigned long empty_zero_page[];
#define ZERO_PAGE(v) virt_to_page(empty_zero_page)
#endif
extern pgd_t swapper_pg_dir[];
#define kern_addr_valid(a) 1
#define PFN_PTE_SHIFT PAGE_SHIFT
#define pgprot_noncached(p) (p)
#endif
