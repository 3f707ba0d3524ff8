// SPDX-License-Identifier: GPL-2.0-only
/* The host's memory: zeroed blocks, huge pages for what is touched all the time, stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include "inside.h"

#ifdef ENGINE_SANITIZE
#include <sanitizer/asan_interface.h>

/* What lives to the end of the run is not lost; coroutines' stacks are not the thread's. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:detect_stack_use_after_return=0";
}

const unsigned long hw_stack_size = 128 << 10;
#else
const unsigned long hw_stack_size = 16 << 10;
#endif

#define HUGE	(2UL << 20)
#define ARENA	(32UL << 20)

struct free_stack {
	struct free_stack *next;
};

static struct free_stack *free_stacks;

static void *out_of_memory(unsigned long size)
{
	fprintf(stderr, "schedsim: no memory for %lu bytes; fewer tasks or CPUs will fit\n", size);
	exit(2);
}

void *hw_zalloc(unsigned long size, unsigned long align)
{
	void *p;

	if (align < 16)
		align = 16;
	size = (size + align - 1) / align * align;
	p = aligned_alloc(align, size ? size : align);
	if (!p)
		return out_of_memory(size);
	return memset(p, 0, size);
}

void *hw_zalloc_huge(unsigned long size)
{
	char *p;

	size = (size + HUGE - 1) & ~(HUGE - 1);
	p = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return out_of_memory(size);
	p = (char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

/* The C library's heap, where tasks lie: it grows by this much at a time, in huge pages. */
void hw_memory_init(void)
{
#ifndef ENGINE_SANITIZE
	unsigned long from, end;

	mallopt(M_TOP_PAD, ARENA);
	from = (unsigned long)malloc(1);
	end = (unsigned long)sbrk(0);
	from = (from + HUGE - 1) & ~(HUGE - 1);
	if (from < end)
		madvise((void *)from, end - from, MADV_HUGEPAGE);
#endif
}

void *hw_reserve(unsigned long size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? out_of_memory(size) : p;
}

void *hw_reserve_low(unsigned long size)
{
	const unsigned long step = 64UL << 20, all = 1UL << 32;

	/* The program and its heap begin below. */
	for (unsigned long at = 1UL << 30; at + size <= all; at += step) {
		void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

		if (p == (void *)at)
			return p;
		if (p != MAP_FAILED)
			munmap(p, size);	/* of a kernel that takes the address for a hint */
	}
	return out_of_memory(size);
}

void hw_free(void *p)
{
	free(p);
}

#ifdef ENGINE_SANITIZE
void hw_poison(const void *p, unsigned long size)
{
	__asan_poison_memory_region(p, size);
}

void hw_unpoison(const void *p, unsigned long size)
{
	__asan_unpoison_memory_region(p, size);
}
#endif

static void protect(const void *p, unsigned long size, int protection)
{
	unsigned long start = (unsigned long)p & ~4095UL;
	unsigned long end = ((unsigned long)p + size + 4095) & ~4095UL;

	if (mprotect((void *)start, end - start, protection))
		hw_die("mprotect() failed", "memory", 0);
}

/* A constant of the program's image that boot changes once. */
void hw_make_writable(const void *p, unsigned long size)
{
	protect(p, size, PROT_READ | PROT_WRITE);
}

static const char *constants, *constants_end;

/* Pages that the scheduler's program has filled: a kernel freezes the map that they are. */
void hw_freeze(const void *begin, const void *end)
{
	constants = begin;
	constants_end = end;
	protect(begin, constants_end - constants, PROT_READ);
}

int is_frozen(const void *at)
{
	return (const char *)at >= constants && (const char *)at < constants_end;
}

void *hw_stack_alloc(void)
{
	static char *arena;
	static unsigned long left;
	struct free_stack *s = free_stacks;

	if (s) {
		free_stacks = s->next;
		/* the frames of the coroutine that ended here were never left */
		hw_unpoison(s, hw_stack_size);
		return s;
	}
	if (left < hw_stack_size) {
		arena = hw_zalloc_huge(ARENA);
		left = ARENA;
	}
	left -= hw_stack_size;
	return arena + left;
}

void hw_stack_free(void *stack)
{
	struct free_stack *s = stack;

	hw_unpoison(s, hw_stack_size);
	s->next = free_stacks;
	free_stacks = s;
}
