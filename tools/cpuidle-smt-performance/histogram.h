/* SPDX-License-Identifier: GPL-2.0-only */
/* Durations in ns, in logarithmic buckets at most 1.6 % wide; mean, least and most are exact. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include "../../engine/include/buckets.h"

#define BITS	6			/* 2^6 buckets an octave */
#define BUCKETS	BUCKETS_OF(BITS)

struct histogram {
	unsigned long bucket[BUCKETS];
	uint64_t count, sum, min, max;
};

void histogram_add(struct histogram *h, uint64_t ns);
void histogram_merge(struct histogram *into, const struct histogram *from);
double histogram_mean(const struct histogram *h);

/* The value that `percent` of all are no greater than; 0 where there are none. */
uint64_t histogram_percentile(const struct histogram *h, double percent);

/* How many are in [from, to); both are 0 or powers of two. */
uint64_t histogram_between(const struct histogram *h, uint64_t from, uint64_t to);

#endif
