// SPDX-License-Identifier: GPL-2.0-only
/*
 * One direction of a connected local socket: a queue of messages with a limit on
 * what may be under way, receivers woken with each message, senders when half of
 * the space is free, as in net/unix.
 */
#include <linux/wait.h>
#include <linux/poll.h>
#include "sim.h"

#define SEND_BUFFER	212992		/* net.core.wmem_default */
#define OVERHEAD	768		/* what a small message takes of it (skb->truesize) */

struct kern_socket {
	struct sim_line lock, queue, data;
	unsigned long messages;
	unsigned long used;
	wait_queue_head_t readers, writers;
};

struct kern_socket *kern_socket_create(void)
{
	struct kern_socket *sock = sim_zalloc(sizeof(*sock), 64);

	init_waitqueue_head(&sock->readers);
	init_waitqueue_head(&sock->writers);
	return sock;
}

static unsigned long space_of(unsigned int bytes)
{
	return OVERHEAD + ALIGN(bytes, 256);
}

void kern_socket_send(struct kern_socket *sock, unsigned int bytes)
{
	sim_syscall_enter();
	sim_charge(sim_costs.socket_send + sim_costs.copy_per_kb * bytes / 1024);
	wait_event_interruptible_exclusive(sock->writers,
					   sock->used + space_of(bytes) <= SEND_BUFFER);
	sim_line_lock(&sock->lock);
	sim_line_move(&sock->queue, sim_costs.queue_lines);
	sim_line_move(&sock->data, 1 + bytes / L1_CACHE_BYTES);
	sock->used += space_of(bytes);
	sock->messages++;
	sim_line_unlock(&sock->lock);
	wake_up_interruptible_sync_poll(&sock->readers, EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
	sim_syscall_exit();
}

void kern_socket_receive(struct kern_socket *sock, unsigned int bytes)
{
	sim_syscall_enter();
	sim_charge(sim_costs.socket_receive + sim_costs.copy_per_kb * bytes / 1024);
	wait_event_interruptible_exclusive(sock->readers, sock->messages);
	sim_line_lock(&sock->lock);
	sim_line_move(&sock->queue, sim_costs.queue_lines);
	sim_line_move(&sock->data, 1 + bytes / L1_CACHE_BYTES);
	sock->messages--;
	sock->used -= space_of(bytes);
	sim_line_unlock(&sock->lock);
	/* unix_write_space(): only when a good part is free again */
	if (sock->used * 4 <= SEND_BUFFER)
		wake_up_interruptible_sync_poll(&sock->writers, EPOLLOUT | EPOLLWRNORM);
	sim_syscall_exit();
}
