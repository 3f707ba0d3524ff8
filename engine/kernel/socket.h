/* SPDX-License-Identifier: GPL-2.0-only */
/* What sockets and those who connect them share. */
#ifndef SHIM_SOCKET_H
#define SHIM_SOCKET_H

struct kern_socket;
struct hw_line;

/* What it sends keeps this route: sk_dst_cache. */
void shim_socket_keep_route(struct kern_socket *sock, struct hw_line *route);

#endif
