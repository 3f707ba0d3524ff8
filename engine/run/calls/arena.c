// SPDX-License-Identifier: GPL-2.0-only
/* Memory shared by all tasks, and the words in it. */
#include "instance.h"

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
