// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own string functions; those it shares with C come from the C library. */
#include <linux/string.h>
#include "shim.h"

#ifdef TREE_HAS_SIZED_STRSCPY
ssize_t sized_strscpy(char *dest, const char *src, size_t count)
#else
#undef strscpy
ssize_t strscpy(char *dest, const char *src, size_t count)
#endif
{
	size_t i;

	if (!count)
		return -E2BIG;
	for (i = 0; i < count - 1 && src[i]; i++)
		dest[i] = src[i];
	dest[i] = 0;
	return src[i] ? -E2BIG : (ssize_t)i;
}

void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; p++, bytes--)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}
