/* SPDX-License-Identifier: GPL-2.0-only */
/* What sockets and listeners send by. */
#ifndef SHIM_LOOPBACK_H
#define SHIM_LOOPBACK_H

struct hw_line;

struct hw_line *shim_loopback_route(void);	/* this CPU's */
/* In the softirq, with what shim_loopback_send() was given. */
typedef void shim_arrive(void *whom, unsigned long what);
void shim_loopback_send(struct hw_line *route, shim_arrive *arrive, void *whom, unsigned long what);

#endif
