// SPDX-License-Identifier: GPL-2.0-only
/* Memory shared by all tasks, and the words in it. */
#include "world.h"

#ifdef SIMULATED

void *wl_alloc(unsigned long bytes)
{
	return hw_zalloc(bytes, 64);
}

unsigned int wl_load(const unsigned int *word)
{
	return *word;
}

/* A change of a shared word: in the order of simulated time, at the cost of its line. */
static struct hw_line *change(const unsigned int *word)
{
	struct hw_line *line = hw_user_line(word);

	kern_sync();
	hw_line_lock(line);
	return line;
}

void wl_store(unsigned int *word, unsigned int value)
{
	wl_exchange(word, value);
}

unsigned int wl_exchange(unsigned int *word, unsigned int value)
{
	struct hw_line *line = change(word);
	unsigned int before = *word;

	*word = value;
	hw_line_unlock(line);
	return before;
}

unsigned int wl_add(unsigned int *word, int n)
{
	struct hw_line *line = change(word);
	unsigned int before = *word;

	*word += n;
	hw_line_unlock(line);
	return before;
}

int wl_replace(unsigned int *word, unsigned int expected, unsigned int value)
{
	struct hw_line *line = change(word);
	int was = *word == expected;

	if (was)
		*word = value;
	hw_line_unlock(line);
	return was;
}

/* Taken together on one line: who stores to as many others meanwhile waits as long in all. */
void wl_scatter(void *block, unsigned long bytes, unsigned int stores)
{
	unsigned long line = wl_uniform(0, (bytes - 1) / 64);

	kern_sync();
	hw_scatter(hw_user_line((char *)block + line * 64), stores);
}

#else /* on this host */

void *wl_alloc(unsigned long bytes)
{
	unsigned long offset, rounded = (bytes + 63) & ~63UL;

	offset = __atomic_fetch_add(&arena->used, rounded, __ATOMIC_RELAXED);
	offset = (offset + 63) & ~63UL;
	if (offset + rounded > ARENA_SIZE)
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
#endif
