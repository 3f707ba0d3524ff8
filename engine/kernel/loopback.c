// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loopback device: a packet goes to the backlog of the CPU that sends it, and its
 * NET_RX softirq carries it to where it is for: at the end of the send, in the sender's
 * context, or in ksoftirqd where kernel/softirq.c leaves it to that.
 */
#include <linux/interrupt.h>
#include <linux/bottom_half.h>
#include "shim.h"
#include "loopback.h"

struct packet {
	struct packet *next;
	struct hw_line *route;
	shim_arrive *arrive;
	void *whom;
	unsigned long what;
};

struct backlog {
	struct packet *first, **last;
};

static DEFINE_PER_CPU(struct backlog, backlog);
static struct packet *free_packets;

/*
 * Every CPU has its own route to the machine itself: __mkroute_output() keeps it in
 * nhc_pcpu_rth_output of the local address, the same for both directions of a connection.
 * loopback keeps a packet's route on its way in (netif_keep_dst()), so each packet is a user
 * of its sender's route from __dev_queue_xmit() (skb_dst_force()) to the receiving socket
 * (tcp_cleanup_skb(), ipv4_pktinfo_prepare()), both on the CPU that sends.
 */
static DEFINE_PER_CPU(struct hw_line, own_route);

struct hw_line *shim_loopback_route(void)
{
	return this_cpu_ptr(&own_route);
}

void shim_loopback_send(struct hw_line *route, shim_arrive *arrive, void *whom, unsigned long what)
{
	struct packet *packet = free_packets;
	struct backlog *b;

	if (packet)
		free_packets = packet->next;
	else
		packet = hw_zalloc(sizeof(*packet), 16);
	*packet = (struct packet) { .route = route, .arrive = arrive, .whom = whom, .what = what };
	local_bh_disable();
	shim_route_hold(route);
	b = this_cpu_ptr(&backlog);
	if (!b->first)
		b->last = &b->first;
	*b->last = packet;
	b->last = &packet->next;
	raise_softirq(NET_RX_SOFTIRQ);
	local_bh_enable();
}

static void SHIM_SOFTIRQ(receive)
{
	struct backlog *b = this_cpu_ptr(&backlog);
	struct packet *packet;

	while ((packet = b->first)) {
		b->first = packet->next;
		shim_route_release(packet->route);
		packet->arrive(packet->whom, packet->what);
		packet->next = free_packets;
		free_packets = packet;
	}
}

void shim_setup_loopback(void)
{
	open_softirq(NET_RX_SOFTIRQ, receive);
}
