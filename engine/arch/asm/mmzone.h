/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the tree leaves the table of nodes to the architecture. */
#ifndef _ASM_SIM_MMZONE_H
#define _ASM_SIM_MMZONE_H

#if __has_include(<asm-generic/mmzone.h>)
#include <asm-generic/mmzone.h>
#else
#include <linux/numa.h>

extern struct pglist_data *node_data[MAX_NUMNODES];
#define NODE_DATA(nid)	(node_data[nid])
#endif

#endif
