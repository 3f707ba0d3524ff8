// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last records of a trace.  They lie outside the C library's heap: in it tasks would come to
 * lie elsewhere than without a trace, and share other cache lines.
 */
#include <string.h>
#include <sys/mman.h>
#include "trace.h"

/* Most events are short; a list of CPUs is longer, and lies in pages of its own. */
static struct record {
	unsigned int len;
	char *pages, data[240];
} *ring;
static unsigned long size, used;

static ssize_t ring_write(void *cookie, const char *data, size_t len)
{
	struct record *r = &ring[used++ % size];

	(void)cookie;
	if (r->pages)
		munmap(r->pages, r->len);
	r->pages = NULL;
	r->len = len;
	if (len > sizeof(r->data)) {
		r->pages = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (r->pages == MAP_FAILED)
			hw_refuse("--trace-ring: no memory for a record of %zu bytes", len);
	}
	memcpy(r->pages ? r->pages : r->data, data, len);
	return len;
}

/* A record is what is written between two calls of fflush(). */
FILE *ring_open(unsigned long records)
{
	static char buffer[1 << 16];
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t) { .write = ring_write });

	size = records;
	ring = hw_zalloc_huge(size * sizeof(*ring));
	if (!f)
		hw_refuse("--trace-ring: no memory");
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	return f;
}

void ring_write_out(FILE *out)
{
	for (unsigned long i = 0; i < size; i++) {
		const struct record *r = &ring[(used + i) % size];

		fwrite(r->pages ? r->pages : r->data, 1, r->len, out);
	}
}
