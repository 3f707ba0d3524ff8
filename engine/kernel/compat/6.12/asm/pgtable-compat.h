/* SPDX-License-Identifier: GPL-2.0-only */
/* 6.12 needs nothing beyond asm/pgtable.h. */
