// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making TCP connections over loopback: the handshake goes through the softirqs of the CPU
 * that connects, and its end wakes the task in accept() (net/ipv4/inet_connection_sock.c).
 */
#include <linux/wait.h>
#include "shim.h"
#include "loopback.h"
#include "poll.h"
#include "socket.h"

#define HANDSHAKE 3			/* packets */

struct kern_listener {
	struct hw_line lock;
	struct kern_connection *first, **last;
	wait_queue_head_t acceptors;
};

struct kern_listener *kern_listen(void)
{
	struct kern_listener *listener = hw_zalloc(sizeof(*listener), 64);

	init_waitqueue_head(&listener->acceptors);
	listener->last = &listener->first;
	return listener;
}

static void lock(struct kern_listener *listener)
{
	hw_line_lock(&listener->lock);
	hw_line_settle(&listener->lock);
}

/* inet_csk_reqsk_queue_add(), sock_def_readable() */
static void established(void *whom, unsigned long what)
{
	struct kern_listener *listener = whom;
	struct kern_connection *connection = (struct kern_connection *)what;

	lock(listener);
	connection->next = NULL;
	*listener->last = connection;
	listener->last = &connection->next;
	hw_line_unlock(&listener->lock);
	wake_up_interruptible_sync_poll(&listener->acceptors, EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
}

/*
 * Both ends keep the route of this CPU: the caller's is looked up by tcp_v4_connect(), the
 * other end's by tcp_v4_syn_recv_sock() as the handshake's last packet makes that socket,
 * in the sender's softirq.
 */
void kern_connect(struct kern_listener *listener, struct kern_connection *connection)
{
	struct hw_line *route;

	shim_syscall_enter(HW_TIME_WRITE);
	hw_charge(HANDSHAKE * hw_costs.socket[HW_TCP].send);
	route = shim_loopback_route();
	shim_socket_keep_route(connection->there, route);
	shim_socket_keep_route(connection->back, route);
	shim_loopback_send(route, established, listener, (unsigned long)connection);
	shim_syscall_exit();
}

struct kern_connection *kern_accept(struct kern_listener *listener)
{
	struct kern_connection *connection = NULL;

	shim_syscall_enter(HW_TIME_READ);
	hw_charge(hw_costs.socket[HW_TCP].receive);
	hw_order();
	if (wait_event_interruptible_exclusive(listener->acceptors, listener->first))
		goto out;
	lock(listener);
	connection = listener->first;
	listener->first = connection->next;
	if (!listener->first)
		listener->last = &listener->first;
	hw_line_unlock(&listener->lock);
out:
	shim_syscall_exit();
	return connection;
}
