// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers of a task, all in integers: the same on every host.  The generator is
 * splitmix64 (Steele, Lea and Flood, 2014).
 */
#include "backend.h"

#define LN2_Q32		2977044472ULL		/* ln 2 * 2^32 */

unsigned long long wl_chance_next(unsigned long long *state)
{
	unsigned long long z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

unsigned long long wl_random(void)
{
	return wl_chance_next(wl_chance());
}

unsigned long long wl_uniform(unsigned long long low, unsigned long long high)
{
	return low + (unsigned long long)((unsigned __int128)wl_random() * (high - low + 1) >> 64);
}

/* -log2(x / 2^64) in 1/2^32, by repeated squaring of the mantissa */
static unsigned long long minus_log2(unsigned long long x)
{
	int zeros = __builtin_clzll(x);
	unsigned long long mantissa = x << zeros, log = 0;

	for (int bit = 31; bit >= 0; bit--) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;

		if (square >> 127) {
			log |= 1ULL << bit;
			mantissa = square >> 64;
		} else {
			mantissa = square >> 63;
		}
	}
	return ((unsigned long long)(zeros + 1) << 32) - log;
}

unsigned long long wl_exponential(unsigned long long mean)
{
	unsigned long long ln = (unsigned __int128)minus_log2(wl_random() | 1) * LN2_Q32 >> 32;

	return (unsigned __int128)ln * mean >> 32;
}

void wl_cycles_about(unsigned long long n)
{
	wl_cycles(wl_uniform(n - n / 4, n + n / 4));
}
