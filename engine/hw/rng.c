// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers of a run: all come from its seed (splitmix64). */
#include "inside.h"

static unsigned long long state, of_scheduler;

unsigned long long hw_random_of(unsigned long long *s)
{
	unsigned long long z = (*s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void hw_seed(unsigned long long seed)
{
	state = seed * 0x2545f4914f6cdd1dULL + 1;
	of_scheduler = ~state;
}

unsigned long long hw_random(void)
{
	return hw_random_of(&state);
}

/* A sequence of its own: what a BPF scheduler draws changes nothing of the load. */
unsigned long long hw_random_of_scheduler(void)
{
	return hw_random_of(&of_scheduler);
}
