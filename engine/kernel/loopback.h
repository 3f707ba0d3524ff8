/* SPDX-License-Identifier: GPL-2.0-only */
/* What sockets and listeners send by. */
#ifndef SIM_LOOPBACK_H
#define SIM_LOOPBACK_H

struct sim_line;

struct sim_line *sim_loopback_route(void);	/* this CPU's */
/* In the softirq, with what sim_loopback_send() was given. */
typedef void sim_arrive(void *whom, unsigned long what);
void sim_loopback_send(struct sim_line *route, sim_arrive *arrive, void *whom, unsigned long what);

#endif
