/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types have them: vmlinux.h. */
