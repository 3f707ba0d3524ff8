/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_PAGE_H
#define _ASM_SIM_PAGE_H
#include <linux/const.h>
#if __has_include(<vdso/page.h>)
#include <vdso/page.h>
#else
#define PAGE_SHIFT 12
#define PAGE_SIZE (_AC(1,UL) << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE-1))
#endif
#define PAGE_OFFSET 0UL
#define HPAGE_SHIFT 21
#define HPAGE_SIZE (1UL << HPAGE_SHIFT)
#define HPAGE_MASK (~(HPAGE_SIZE - 1))
#define HUGETLB_PAGE_ORDER (HPAGE_SHIFT - PAGE_SHIFT)
#ifndef __ASSEMBLY__
#include <linux/string.h>
struct page;
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pud; } pud_t;
typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pgprot; } pgprot_t;
typedef struct page *pgtable_t;
#define pte_val(x) ((x).pte)
#define pmd_val(x) ((x).pmd)
#define pud_val(x) ((x).pud)
#define pgd_val(x) ((x).pgd)
#define pgprot_val(x) ((x).pgprot)
#define __pte(x) ((pte_t){(x)})
#define __pmd(x) ((pmd_t){(x)})
#define __pud(x) ((pud_t){(x)})
#define __pgd(x) ((pgd_t){(x)})
#define __pgprot(x) ((pgprot_t){(x)})
extern struct page *shim_vmemmap;
#define vmemmap shim_vmemmap
#define clear_page(p) memset((p), 0, PAGE_SIZE)
#define copy_page(d, s) memcpy((d), (s), PAGE_SIZE)
#define clear_user_page(p, v, pg) clear_page(p)
#define copy_user_page(t, f, v, pg) copy_page(t, f)
#define __pa(x) ((unsigned long)(x))
#define __va(x) ((void *)(unsigned long)(x))
#define virt_to_pfn(k) (__pa(k) >> PAGE_SHIFT)
#define virt_to_page(a) pfn_to_page(virt_to_pfn(a))
#define virt_addr_valid(k) 1
#define VM_DATA_DEFAULT_FLAGS VM_DATA_FLAGS_NON_EXEC
#include <asm-generic/memory_model.h>
#ifndef page_to_phys
#define page_to_phys(p) ((phys_addr_t)page_to_pfn(p) << PAGE_SHIFT)
#endif
#include <asm-generic/getorder.h>
#endif
#endif
