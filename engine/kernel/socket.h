/* SPDX-License-Identifier: GPL-2.0-only */
/* Between sockets and the loopback device. */
#ifndef SIM_SOCKET_H
#define SIM_SOCKET_H

struct kern_socket;
struct sim_line;

struct sim_line *sim_loopback_route(void);	/* this CPU's */
/* 0 bytes: the end */
void sim_loopback_send(struct kern_socket *sock, struct sim_line *route, unsigned int bytes);
void sim_socket_deliver(struct kern_socket *sock, unsigned int bytes);

#endif
