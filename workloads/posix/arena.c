// SPDX-License-Identifier: GPL-2.0-only
/* Memory shared by all processes of the run. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arena.h"

#define ADDRESS		((void *)0x200000000000UL) /* free in every process on x86-64 and arm64 */

struct arena *arena;
int arena_fd = -1;

static void map(void)
{
	arena = mmap(ADDRESS, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
		     arena_fd, 0);
	if (arena != ADDRESS)
		fail("shared memory cannot be mapped: %s", strerror(errno));
}

void arena_create(void)
{
	pthread_mutexattr_t shared;

	arena_fd = memfd_create("schedlab-load", 0);
	if (arena_fd < 0 || ftruncate(arena_fd, ARENA_SIZE))
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
