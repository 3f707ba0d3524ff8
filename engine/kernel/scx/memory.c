// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of maps and of objects that the scheduler makes: in one range, each object with room
 * on both sides that nobody may touch.  The verifier of a real kernel refuses a program that could
 * reach there; natively, every access is looked at as it happens.
 */
#include "scx.h"

#define RANGE		(1UL << 36)	/* of addresses; memory is there where it is used */
#define ROOM		16		/* before an object, and at least as much behind it */
#define GRAIN		8

struct object {				/* in the room before it */
	const char	*what;
	unsigned int	size, magic;
};
#define MAGIC		0x5c4eb0b5

static char *range, *range_end;		/* what is handed out */
static u8 *valid;			/* of each grain, how many of its bytes may be touched */

#define CLASSES		40		/* of sizes, in powers of two */
static void *freed[CLASSES];

static unsigned int size_class(unsigned int size)
{
	return order_base_2(round_up(max(size, 1u), L1_CACHE_BYTES) + L1_CACHE_BYTES);
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
void *shim_scx_alloc(const char *what, unsigned int size)
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
		for (at = 0; at < min_t(unsigned long, size, SHIM_SCX_MOST_LINES); at += L1_CACHE_BYTES)
			hw_hot_register(object, object + at);
	}
	*(struct object *)(object - ROOM) = (struct object) { .what = what, .size = size, .magic = MAGIC };
	set_valid(object, size, true);
	return object;
}

void shim_scx_free(void *object)
{
	struct object *o = object - ROOM;

	set_valid(object, o->size, false);
	*(void **)object = freed[size_class(o->size)];
	freed[size_class(o->size)] = object;
}

static void refuse(const char *at, unsigned int size, bool write)
{
	const char *begin = (const char *)((unsigned long)at & ~(GRAIN - 1UL)) - ROOM;
	static char text[300];

	while (begin > range && ((const struct object *)begin)->magic != MAGIC)
		begin -= GRAIN;
	if (begin <= range) {
		snprintf(text, sizeof(text), "the scheduler %s %u bytes before the first value of its maps",
			 write ? "writes" : "reads", size);
	} else {
		const struct object *o = (const struct object *)begin;

		snprintf(text, sizeof(text), "the scheduler %s %u bytes at offset %ld of %s, which has %u bytes",
			 write ? "writes" : "reads", size, (long)(at - begin - ROOM), o->what, o->size);
	}
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
	if ((unsigned long)(at - range) >= RANGE || !range) {
		shim_scx_check_arena(at, size, write);
		return;
	}
	while (at < end) {
		unsigned int in = (unsigned long)at % GRAIN, bytes = min_t(unsigned long, GRAIN - in, end - at);

		if (in + bytes > valid[(at - range) / GRAIN])
			refuse(p, size, write);
		at += bytes;
	}
}
