/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buckets of a histogram of durations, or of any numbers: logarithmic, 2^bits of them an octave.
 * Numbers below 2^bits have one each; any other is off by less than 1/2^bits of itself.
 */
#ifndef BUCKETS_H
#define BUCKETS_H

#define BUCKETS_OF(bits)	((65 - (bits)) << (bits))

static inline int bucket_of(int bits, unsigned long long value)
{
	int octave;

	if (value < 1ULL << bits)
		return value;
	octave = 63 - __builtin_clzll(value);
	return ((octave - bits + 1) << bits) + (value >> (octave - bits) & ((1 << bits) - 1));
}

/* The least number in a bucket. */
static inline unsigned long long bucket_start(int bits, int bucket)
{
	int octave = bucket >> bits;

	if (!octave)
		return bucket;
	return (unsigned long long)((1 << bits) + (bucket & ((1 << bits) - 1))) << (octave - 1);
}

/*
 * The bucket of the n-th number by size, from 0 on; if there are no more than n, the one behind the
 * last.
 */
static inline int bucket_holding(int bits, const unsigned long *buckets, unsigned long n)
{
	unsigned long have = 0;
	int b = 0;

	for (; b < BUCKETS_OF(bits); b++) {
		have += buckets[b];
		if (have > n)
			break;
	}
	return b;
}

#endif
