// SPDX-License-Identifier: GPL-2.0-only
/* What strscpy() is called in 6.12. */
#include <linux/string.h>
#include "../../sim.h"

ssize_t sized_strscpy(char *dest, const char *src, size_t count)
{
	return sim_strscpy(dest, src, count);
}
