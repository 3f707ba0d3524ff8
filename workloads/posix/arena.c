// SPDX-License-Identifier: GPL-2.0-only
/* Memory shared by all processes of the run, and the words in it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arena.h"

#define ADDRESS		((void *)0x200000000000UL)	/* free in every process on x86-64 and arm64 */
#define SIZE		(16UL << 30)			/* reserved, not used */

struct arena *arena;
int arena_fd = -1;

static void map(void)
{
	arena = mmap(ADDRESS, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
		     arena_fd, 0);
	if (arena != ADDRESS)
		fail("shared memory cannot be mapped: %s", strerror(errno));
}

void arena_create(void)
{
	pthread_mutexattr_t shared;

	arena_fd = memfd_create("schedlab-load", 0);
	if (arena_fd < 0 || ftruncate(arena_fd, SIZE))
		fail("shared memory cannot be made: %s", strerror(errno));
	map();
	arena->used = sizeof(*arena);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&arena->lock, &shared);
}

void arena_attach(int fd)
{
	arena_fd = fd;
	map();
}

void *wl_alloc(unsigned long bytes)
{
	unsigned long offset, rounded = (bytes + 63) & ~63UL;

	offset = __atomic_fetch_add(&arena->used, rounded, __ATOMIC_RELAXED);
	offset = (offset + 63) & ~63UL;
	if (offset + rounded > SIZE)
		fail("no shared memory for %lu bytes more", bytes);
	return (char *)arena + offset;
}

unsigned int wl_load(const unsigned int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void wl_store(unsigned int *word, unsigned int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

unsigned int wl_add(unsigned int *word, int n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_SEQ_CST);
}

unsigned int wl_exchange(unsigned int *word, unsigned int value)
{
	return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

int wl_replace(unsigned int *word, unsigned int expected, unsigned int value)
{
	return __atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#define STEP	41		/* words: to another line, and another word of it */

void wl_scatter(void *block, unsigned long bytes, unsigned int stores)
{
	volatile unsigned long *word = block;
	unsigned long last = bytes / sizeof(*word) - 1;

	for (unsigned long i = 0; i < stores; i++)
		word[i * STEP & last] = i;
}
