// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

static int bucket_of(uint64_t ns)
{
	int octave;

	if (ns < 1 << SUB_BITS)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	return ((octave - SUB_BITS + 1) << SUB_BITS) + (ns >> (octave - SUB_BITS) & ((1 << SUB_BITS) - 1));
}

static uint64_t last_of(int bucket)
{
	int octave = bucket >> SUB_BITS;
	uint64_t first;

	if (!octave)
		return bucket;
	first = (uint64_t)((1 << SUB_BITS) + (bucket & ((1 << SUB_BITS) - 1))) << (octave - 1);
	return first + (1ULL << (octave - 1)) - 1;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->bucket[bucket_of(ns)]++;
	h->min = h->count && h->min < ns ? h->min : ns;
	h->max = h->max > ns ? h->max : ns;
	h->sum += ns;
	h->count++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->count)
		return;
	for (int b = 0; b < BUCKETS; b++)
		into->bucket[b] += from->bucket[b];
	into->min = into->count && into->min < from->min ? into->min : from->min;
	into->max = into->max > from->max ? into->max : from->max;
	into->sum += from->sum;
	into->count += from->count;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / h->count : 0;
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	double need = h->count * percent / 100;
	uint64_t have = 0;

	for (int b = 0; b < BUCKETS; b++) {
		have += h->bucket[b];
		if (have && have >= need)
			return last_of(b) < h->max ? last_of(b) : h->max;
	}
	return h->max;
}

uint64_t histogram_between(const struct histogram *h, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (int b = bucket_of(from); b < bucket_of(to); b++)
		sum += h->bucket[b];
	return sum;
}
