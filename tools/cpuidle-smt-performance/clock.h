/* SPDX-License-Identifier: GPL-2.0-only */
/* Time: never set back, and read from the cycle counter wherever that is invariant (vDSO). */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_USEC	1000ULL
#define NSEC_PER_SEC	1000000000ULL

static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline void sleep_until(uint64_t when)
{
	const struct timespec ts = { when / NSEC_PER_SEC, when % NSEC_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Leaves the core's other threads their share while this one spins. */
static inline void relax(void)
{
#if defined(__x86_64__)
	__asm__ __volatile__("pause" ::: "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ __volatile__("or 1,1,1; or 2,2,2" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

#endif
