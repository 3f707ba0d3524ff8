// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

static uint64_t last_of(int bucket)
{
	uint64_t width = 1ULL << (bucket >> BITS ? (bucket >> BITS) - 1 : 0);

	return bucket_start(BITS, bucket) + width - 1;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->bucket[bucket_of(BITS, ns)]++;
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
	unsigned long below = need;
	int b = bucket_holding(BITS, h->bucket, below && below == need ? below - 1 : below);

	return b < BUCKETS && last_of(b) < h->max ? last_of(b) : h->max;
}

uint64_t histogram_between(const struct histogram *h, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (int b = bucket_of(BITS, from); b < bucket_of(BITS, to); b++)
		sum += h->bucket[b];
	return sum;
}
