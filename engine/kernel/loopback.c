// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loopback device: a packet goes to the backlog of the CPU that sends it, and its
 * NET_RX softirq carries it to the receiver's socket: at the end of the send, in the
 * sender's context, or in ksoftirqd where kernel/softirq.c leaves it to that.
 */
#include <linux/interrupt.h>
#include <linux/bottom_half.h>
#include "sim.h"
#include "socket.h"

struct packet {
	struct packet *next;
	struct kern_socket *sock;
	struct sim_line *route;
	unsigned int bytes;		/* 0: the end of the stream */
};

struct backlog {
	struct packet *first, **last;
};

static DEFINE_PER_CPU(struct backlog, backlog);

/*
 * Every CPU has its own route to the machine itself.  A connection keeps that of the CPU it
 * was made on, and each packet is a user of it from the send to the receiver's queue.
 */
static DEFINE_PER_CPU(struct sim_line, own_route);

struct sim_line *sim_loopback_route(void)
{
	return this_cpu_ptr(&own_route);
}

void sim_loopback_send(struct kern_socket *sock, struct sim_line *route, unsigned int bytes)
{
	struct packet *packet = sim_zalloc(sizeof(*packet), 16);
	struct backlog *b;

	packet->sock = sock;
	packet->route = route;
	packet->bytes = bytes;
	local_bh_disable();
	sim_line_change(route);
	b = this_cpu_ptr(&backlog);
	if (!b->first)
		b->last = &b->first;
	*b->last = packet;
	b->last = &packet->next;
	raise_softirq(NET_RX_SOFTIRQ);
	local_bh_enable();
}

static void SIM_SOFTIRQ(receive)
{
	struct backlog *b = this_cpu_ptr(&backlog);
	struct packet *packet;

	while ((packet = b->first)) {
		b->first = packet->next;
		sim_line_change(packet->route);
		sim_socket_deliver(packet->sock, packet->bytes);
		sim_free(packet);
	}
}

void sim_setup_loopback(void)
{
	open_softirq(NET_RX_SOFTIRQ, receive);
}
