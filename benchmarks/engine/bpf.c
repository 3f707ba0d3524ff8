// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a lookup in a BPF hash and in a task's local storage (Linux 6.12) takes with all lines at hand, in cycles: a
 * third of what a multiplication takes that waits for the one before.  So does each lookup, as a scheduler's next
 * step does.  The best of many short pieces counts.
 *
 *	cc -O2 -o bpf benchmarks/engine/bpf.c && ./bpf
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUCKETS		1024
#define ELEMENTS	512
#define ROUNDS		20000
#define PIECES		2000

struct element {
	struct element	*next;
	uint32_t	hash, key;
	uint64_t	value;
};
static struct element *buckets[BUCKETS];
static volatile uint32_t key_size = sizeof(uint32_t);	/* of the map: no program knows it */

struct map { int cache_index; };
struct data { struct map *map; uint64_t value; };
struct storage { struct data *cache[16]; };
struct task { struct storage *storage; };
static volatile int busy;				/* of this CPU */

static uint32_t rotate(uint32_t word, int by)
{
	return word << by | word >> (32 - by);
}

/* The last round of Jenkins' lookup3, all there is to a key of four bytes. */
static uint32_t hash_of(uint32_t key, uint32_t length)
{
	uint32_t a = 0xdeadbeef + length + key, b = 0xdeadbeef + length, c = b;

	c = (c ^ b) - rotate(b, 14);
	a = (a ^ c) - rotate(c, 11);
	b = (b ^ a) - rotate(a, 25);
	c = (c ^ b) - rotate(b, 16);
	a = (a ^ c) - rotate(c, 4);
	b = (b ^ a) - rotate(a, 14);
	return (c ^ b) - rotate(b, 24);
}

static __attribute__((noinline)) uint64_t *look_up(const void *key)
{
	uint32_t word, hash, size = key_size;
	struct element *e;

	memcpy(&word, key, sizeof(word));
	hash = hash_of(word, size);
	for (e = buckets[hash % BUCKETS]; e; e = e->next)
		if (e->hash == hash && !memcmp(&e->key, key, size))
			return &e->value;
	return NULL;
}

static __attribute__((noinline)) uint64_t *stored(struct map *map, struct task *task)
{
	struct storage *storage;
	struct data *data;

	busy++;
	storage = task->storage;
	data = storage ? storage->cache[map->cache_index] : NULL;
	busy--;
	return data && data->map == map ? &data->value : NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

int main(void)
{
	double multiply = 1e9, hash = 1e9, storage = 1e9, cycle;
	static struct map map = { .cache_index = 3 };
	static struct task tasks[ELEMENTS];
	uint64_t at = 0, product = 3;

	for (uint32_t key = 0; key < ELEMENTS; key++) {
		struct element *e = malloc(sizeof(*e));
		struct data *data = malloc(sizeof(*data));
		uint32_t number = hash_of(key, key_size);

		*e = (struct element) { buckets[number % BUCKETS], number, key, (key * 5 + 13) % ELEMENTS };
		buckets[number % BUCKETS] = e;
		*data = (struct data) { &map, e->value };
		tasks[key].storage = calloc(1, sizeof(struct storage));
		tasks[key].storage->cache[map.cache_index] = data;
	}
	for (int piece = 0; piece < PIECES; piece++) {
		double from = now(), multiplied, hashed;

		for (int i = 0; i < ROUNDS; i++)
			product *= product;
		multiplied = now();
		for (int i = 0; i < ROUNDS; i++) {
			uint32_t key = at;

			at = *look_up(&key);
		}
		hashed = now();
		for (int i = 0; i < ROUNDS; i++)
			at = *stored(&map, &tasks[at]);
		storage = least(storage, now() - hashed);
		hash = least(hash, hashed - multiplied);
		multiply = least(multiply, multiplied - from);
	}
	cycle = multiply / 3;
	printf("hash %.0f cycles, local storage %.0f, at %.2f GHz (%llu)\n", hash / cycle, storage / cycle,
	       ROUNDS / cycle, (unsigned long long)(at + product));
	return 0;
}
