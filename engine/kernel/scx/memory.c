// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of maps and of objects that the scheduler makes: in one range, each object with room
 * on both sides that nobody may touch.  The verifier of a real kernel refuses a program that could
 * reach there; natively, every access is looked at as it happens.
 */
#include <linux/hash.h>
#include "scx.h"

#define RANGE		(1UL << 36)	/* of addresses; memory is there where it is used */
#define ROOM		16		/* before an object, and at least as much behind it */
#define GRAIN		8

struct object {				/* in the room before it */
	const char	*what;
	unsigned int	size, magic;
};
#define MAGIC		0x5c4eb0b5
#define FREED		0x5c4eb0b6

static char *range, *range_end;		/* what is handed out */
static u8 *valid;			/* of each grain, how many of its bytes may be touched */

#define CLASSES		40		/* of sizes, in powers of two */
static void *freed[CLASSES];

static unsigned int size_class(unsigned int size)
{
	return order_base_2(round_up(max(size, 1u), L1_CACHE_BYTES) + L1_CACHE_BYTES);
}

unsigned long shim_scx_room(unsigned int size)
{
	return 1UL << size_class(size);
}

/* AddressSanitizer's, in a build that has it: it looks at accesses itself then. */
extern void __asan_poison_memory_region(const void *at, unsigned long size) __weak;
extern void __asan_unpoison_memory_region(const void *at, unsigned long size) __weak;

/* All but the object itself, of the room it was cut from. */
static void poison_around(char *object, unsigned int size, unsigned int class)
{
	unsigned long end = (1UL << class) - L1_CACHE_BYTES;

	if (!__asan_poison_memory_region)
		return;
	__asan_unpoison_memory_region(object, size);
	__asan_poison_memory_region(object + round_up(size, GRAIN), end - round_up(size, GRAIN));
}

static u32 *line_in_row;		/* of each line of the range; 0: it is what it is */
static const char *rows, *rows_end;	/* addresses that count, where nothing is */

const char *shim_scx_row(unsigned long size)
{
	const char *row, *at;

	if (!rows)
		rows = rows_end = hw_reserve(RANGE);
	row = rows_end + L1_CACHE_BYTES;
	rows_end = row + round_up(size, L1_CACHE_BYTES);
	for (at = row; at < min(rows_end, row + SHIM_SCX_MOST_LINES); at += L1_CACHE_BYTES)
		hw_hot_register(at, at);
	return row;
}

static void lies_at(void *object, unsigned int size, const char *in_row)
{
	unsigned int at;

	if (!line_in_row)
		line_in_row = hw_reserve(RANGE / L1_CACHE_BYTES * sizeof(u32));
	for (at = 0; at < size; at += L1_CACHE_BYTES)
		line_in_row[((char *)object + at - range) / L1_CACHE_BYTES] = (in_row + at - rows) / L1_CACHE_BYTES;
}

const char *shim_scx_line(const char *at)
{
	u32 line;

	if (!line_in_row || (unsigned long)(at - range) >= RANGE)
		return at;
	line = line_in_row[(at - range) / L1_CACHE_BYTES];
	return line ? rows + (unsigned long)line * L1_CACHE_BYTES : at;
}

static void set_valid(char *object, unsigned int size, bool is_valid)
{
	u8 *at = &valid[(object - range) / GRAIN];

	for (; size >= GRAIN; size -= GRAIN)
		*at++ = is_valid ? GRAIN : 0;
	if (size)
		*at = is_valid ? size : 0;
}

/*
 * Each begins a line of its own: what of two objects is written by two CPUs does not share one by
 * chance.
 */
static void *alloc(const char *what, unsigned int size, bool has_lines)
{
	unsigned int class = size_class(size);
	char *object = freed[class];
	unsigned int at;

	if (!range) {
		range = range_end = hw_reserve(RANGE);
		valid = hw_reserve(RANGE / GRAIN);
	}
	if (object) {
		freed[class] = *(void **)object;
		memset(object, 0, size);
	} else {
		object = range_end + L1_CACHE_BYTES;
		if (range_end + (1UL << class) > range + RANGE)
			hw_die("the maps of the scheduler take more than 64 GiB", what, 0);
		range_end += 1UL << class;
		for (at = 0; has_lines && at < min_t(unsigned long, size, SHIM_SCX_MOST_LINES); at += L1_CACHE_BYTES)
			hw_hot_register(object, object + at);
	}
	*(struct object *)(object - ROOM) = (struct object) { .what = what, .size = size, .magic = MAGIC };
	set_valid(object, size, true);
	poison_around(object, size, class);
	return object;
}

void *shim_scx_alloc(const char *what, unsigned int size)
{
	return alloc(what, size, true);
}

void *shim_scx_alloc_in_row(const char *what, unsigned int size, const char *in_row)
{
	void *object = alloc(what, size, false);

	lies_at(object, size, in_row);
	return object;
}

void shim_scx_free(void *object)
{
	struct object *o = object - ROOM;
	static char text[100];

	if ((unsigned long)((char *)object - range) >= RANGE || !range || o->magic != MAGIC) {
		snprintf(text, sizeof(text), "the scheduler frees what %s", (unsigned long)((char *)object - range) < RANGE &&
			 o->magic == FREED ? "it freed before" : "is none of its objects");
		hw_end_in_scheduler(text);
	}
	o->magic = FREED;
	set_valid(object, o->size, false);
	*(void **)object = freed[size_class(o->size)];
	freed[size_class(o->size)] = object;
}

/*
 * A hash's element that is deleted stays memory of the map, and what was stored with a task stays
 * until readers are gone.
 */
void shim_scx_retire(void *object)
{
	static void *retired[1024];
	static unsigned int next;

	if (retired[next])
		shim_scx_free(retired[next]);
	retired[next] = object;
	next = (next + 1) % ARRAY_SIZE(retired);
}

static bool is_object(const char *header)
{
	return (((const struct object *)header)->magic & ~3) == (MAGIC & ~3);
}

static void refuse(const char *at, unsigned int size, bool write)
{
	const char *begin = (const char *)((unsigned long)at & ~(GRAIN - 1UL)) - ROOM;
	const char *next = (const char *)round_down((unsigned long)at, L1_CACHE_BYTES) + L1_CACHE_BYTES - ROOM;
	static char text[300];

	while (begin > range && !is_object(begin))
		begin -= GRAIN;
	/* It is before the one that is nearer. */
	if (next < range_end && is_object(next) && (begin <= range ||
	    at - (begin + ROOM + ((const struct object *)begin)->size) >= next + ROOM - at))
		begin = next;
	if (begin <= range) {
		snprintf(text, sizeof(text), "the scheduler %s %u bytes before the first value of its maps",
			 write ? "writes" : "reads", size);
	} else {
		const struct object *o = (const struct object *)begin;

		snprintf(text, sizeof(text), "the scheduler %s %u bytes at offset %ld of %s, which has %u bytes%s",
			 write ? "writes" : "reads", size, (long)(at - begin - ROOM), o->what, o->size,
			 o->magic == FREED ? " and was freed" : "");
	}
	hw_end_in_scheduler(text);
}

extern char __start_scx_data[] __weak, __stop_scx_data[] __weak;
extern char __start_scx_bss[] __weak, __stop_scx_bss[] __weak;
#define MOST_STACK	(64UL << 10)

/* What bpf_scx_btf_struct_access() lets a scheduler write of a task. */
static bool may_write(const struct task_struct *p, const char *at, unsigned int size)
{
	const struct { const void *begin; unsigned int size; } fields[] = {
		{ &p->scx.slice, sizeof(p->scx.slice) },
		{ &p->scx.dsq_vtime, sizeof(p->scx.dsq_vtime) },
		{ &p->scx.disallow, sizeof(p->scx.disallow) },
	};
	unsigned int i;

	/* Operations by cid have kfuncs for the others; a root's and its sub-schedulers' are of one kind. */
	for (i = shim_scheduler->by_cid ? ARRAY_SIZE(fields) - 1 : 0; i < ARRAY_SIZE(fields); i++)
		if ((const void *)at >= fields[i].begin && (const void *)at + size <= fields[i].begin + fields[i].size)
			return true;
	return false;
}

/* A task is looked for among all of them once for each of its fields. */
static void check_kernel(const char *at, unsigned int size)
{
	static const char *found[4096];
	const char **f = &found[hash_ptr(at, ilog2(ARRAY_SIZE(found)))];
	const struct task_struct *p;
	static char text[160];

	if ((unsigned long)(at - (char *)__builtin_frame_address(0)) < MOST_STACK ||
	    (at >= __start_scx_data && at < __stop_scx_data) || (at >= __start_scx_bss && at < __stop_scx_bss))
		return;
	if (*f == at && size == sizeof(u64))
		return;
	if (shim_is_percpu(at)) {
		snprintf(text, sizeof(text), "the scheduler writes %u bytes to the kernel's per-CPU memory, such as a runqueue", size);
		hw_end_in_scheduler(text);
	}
	p = shim_task_at(at);
	if (!p || may_write(p, at, size)) {
		if (p && size == sizeof(u64))
			*f = at;
		return;
	}
	snprintf(text, sizeof(text), "the scheduler writes %u bytes at offset %ld of task_struct: the kernel lets it write"
		 " scx.slice, scx.dsq_vtime and scx.disallow alone", size, (long)(at - (const char *)p));
	hw_end_in_scheduler(text);
}

void shim_scx_check(const void *p, unsigned int size, bool write)
{
	const char *at = p, *end = at + size;
	static char text[100];

	if ((unsigned long)at < PAGE_SIZE) {
		snprintf(text, sizeof(text), "the scheduler %s %u bytes at address %ld: a NULL pointer",
			 write ? "writes" : "reads", size, (long)at);
		hw_end_in_scheduler(text);
	}
	if ((unsigned long)at >> SHIM_SCX_ADDRESS_BITS) {
		snprintf(text, sizeof(text), "the scheduler %s %u bytes at the unmapped address %#lx",
			 write ? "writes" : "reads", size, (unsigned long)at);
		hw_end_in_scheduler(text);
	}
	if ((unsigned long)(at - range) >= RANGE || !range) {
		if (!shim_scx_check_arena(at, size, write) && write)
			check_kernel(at, size);
		return;
	}
	while (at < end) {
		unsigned int in = (unsigned long)at % GRAIN, bytes = min_t(unsigned long, GRAIN - in, end - at);

		if (in + bytes > valid[(at - range) / GRAIN])
			refuse(p, size, write);
		at += bytes;
	}
}
