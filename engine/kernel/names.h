/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file's own names, for kernel files that read headers.h precompiled: what was precompiled
 * mentions them, so none may be defined before it.
 */
#define KBUILD_MODNAME		UNIT_MODNAME
#define KBUILD_BASENAME		UNIT_BASENAME
#define KBUILD_MODFILE		UNIT_MODFILE
#define __KBUILD_MODNAME	UNIT_KMOD
