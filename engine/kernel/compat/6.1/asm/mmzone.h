/* SPDX-License-Identifier: GPL-2.0-only */
/* 6.1 leaves the table of nodes to the architecture. */
#ifndef _ASM_SIM_MMZONE_H
#define _ASM_SIM_MMZONE_H

#include <linux/numa.h>

extern struct pglist_data *node_data[MAX_NUMNODES];
#define NODE_DATA(nid)	(node_data[nid])

#endif
