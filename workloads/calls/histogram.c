// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of durations: logarithmic, 128 buckets an octave, at most 0.8 % wide. */
#include <stdio.h>
#include "../../engine/include/buckets.h"
#include "backend.h"

#define BITS	7			/* 2^7 buckets an octave */
#define BUCKETS	BUCKETS_OF(BITS)

struct wl_histogram {
	unsigned long bucket[BUCKETS], count;
	unsigned long long sum, max;
};

struct wl_histogram *wl_histogram(void)
{
	return wl_new(struct wl_histogram, 1);
}

void wl_record(struct wl_histogram *histogram, unsigned long long ns)
{
	unsigned long long max = histogram->max;

	__atomic_fetch_add(&histogram->bucket[bucket_of(BITS, ns)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&histogram->count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&histogram->sum, ns, __ATOMIC_RELAXED);
	while (ns > max && !__atomic_compare_exchange_n(&histogram->max, &max, ns, 0, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

unsigned long wl_count(const struct wl_histogram *histogram)
{
	return histogram->count;
}

double wl_mean(const struct wl_histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / histogram->count : 0;
}

unsigned long long wl_percentile(const struct wl_histogram *histogram, double percent)
{
	int b = bucket_holding(BITS, histogram->bucket, histogram->count * percent / 100);
	unsigned long long middle;

	if (b == BUCKETS)
		return histogram->max;
	middle = (bucket_start(BITS, b) + bucket_start(BITS, b + 1)) / 2;
	return middle < histogram->max ? middle : histogram->max;
}

void wl_result_latency(const char *name, const struct wl_histogram *histogram)
{
	static const double shown[] = { 50, 90, 99, 99.9 };
	char text[100];

	snprintf(text, sizeof(text), "%s mean", name);
	wl_result(text, wl_mean(histogram) / WL_USEC, "us");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		snprintf(text, sizeof(text), "%s p%g", name, shown[i]);
		wl_result(text, (double)wl_percentile(histogram, shown[i]) / WL_USEC, "us");
	}
	snprintf(text, sizeof(text), "%s max", name);
	wl_result(text, (double)histogram->max / WL_USEC, "us");
}
