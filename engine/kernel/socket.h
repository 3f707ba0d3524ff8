/* SPDX-License-Identifier: GPL-2.0-only */
/* Between sockets and who connects them. */
#ifndef SIM_SOCKET_H
#define SIM_SOCKET_H

struct kern_socket;
struct sim_line;

/* What it sends keeps this route: sk_dst_cache. */
void sim_socket_keep_route(struct kern_socket *sock, struct sim_line *route);

#endif
