// SPDX-License-Identifier: GPL-2.0-only
/*
 * One direction of a connection on one machine: a queue of buffers with a limit on
 * what may be under way.  What is sent wakes the receiver: over a unix socket by the
 * sender itself, by TCP and UDP in a softirq (loopback.c).
 */
#include <linux/wait.h>
#include "shim.h"
#include "poll.h"
#include "socket.h"
#include "loopback.h"

/*
 * `send_buffer`: net.core.wmem_default; of TCP where autotuning ends for a sender faster than its
 * receiver, net.ipv4.tcp_wmem.  Waiting senders are woken when no more than `writable` of it is
 * taken: unix_write_space(), sock_def_write_space(), sk_stream_write_space().
 */
static const struct protocol {
	const char *name;
	unsigned long send_buffer, writable;
} protocols[HW_NR_PROTOCOLS] = {
	[HW_UNIX] = { "unix", 212992, 212992 / 4 },
	[HW_UDP] = { "udp", 212992, 212992 / 2 },
	[HW_TCP] = { "tcp", 4 << 20, (4 << 20) / 3 * 2 },
};

#define SKB		256	/* struct sk_buff, in whole lines */
#define SHARED_INFO	320	/* struct skb_shared_info, behind the head of each buffer */
#define MOST_HEAD	(PAGE_SIZE - SHARED_INFO)
#define MOST_PAGES	32768UL	/* UNIX_SKB_FRAGS_SZ */

struct buffer {
	unsigned int left;		/* bytes not yet read */
	unsigned long space;		/* what it takes of the limit */
};

struct kern_socket {
	enum hw_protocol protocol;
	unsigned int object;
	struct hw_line lock, queue, data;
	struct hw_line reader, writer;	/* the files of the two ends */
	struct hw_line *route;		/* kept by what is connected */
	struct buffer *buffer;		/* a ring */
	unsigned long size, first, next;
	unsigned long used;		/* space of all buffers */
	bool closed;
	wait_queue_head_t readers, writers;
};

struct kern_socket *kern_socket_create(enum hw_protocol protocol)
{
	struct kern_socket *sock = hw_zalloc(sizeof(*sock), 64);

	sock->object = shim_new_object();
	sock->protocol = protocol;
	init_waitqueue_head(&sock->readers);
	init_waitqueue_head(&sock->writers);
	return sock;
}

void shim_socket_keep_route(struct kern_socket *sock, struct hw_line *route)
{
	sock->route = route;
}

static struct buffer *buffer_at(struct kern_socket *sock, unsigned long i)
{
	return &sock->buffer[i % sock->size];
}

static void grow(struct kern_socket *sock)
{
	unsigned long i, size = max(16UL, sock->size * 2);
	struct buffer *buffer = hw_zalloc(size * sizeof(*buffer), 64);

	for (i = sock->first; i != sock->next; i++)
		buffer[i % size] = *buffer_at(sock, i);
	hw_free(sock->buffer);
	sock->buffer = buffer;
	sock->size = size;
}

/* skb->truesize of a buffer with so many bytes: sock_alloc_send_pskb() */
static unsigned long truesize(unsigned long bytes)
{
	unsigned long pages = bytes > MOST_HEAD ? min(bytes, PAGE_ALIGN(bytes - MOST_HEAD)) : 0;
	unsigned long head = ALIGN(bytes - pages, L1_CACHE_BYTES) + SHARED_INFO;

	return SKB + roundup_pow_of_two(head) + PAGE_ALIGN(pages);
}

/* What a message takes of the limit: unix_stream_sendmsg() */
static unsigned long space_of(unsigned long bytes)
{
	unsigned long space = 0, part;

	do {
		part = min(bytes, MOST_HEAD + MOST_PAGES);
		space += truesize(part);
		bytes -= part;
	} while (bytes);
	return space;
}

static void lock(struct kern_socket *sock, unsigned int bytes)
{
	hw_line_lock(&sock->lock);
	hw_line_move(&sock->queue, hw_costs.queue_lines);
	hw_line_copy(&sock->data, bytes);
	hw_line_settle(&sock->lock);
}

static bool has_room(const struct kern_socket *sock)
{
	return sock->used < protocols[sock->protocol].send_buffer;
}

/* What arrives, or the end. */
static void deliver(void *whom, unsigned long bytes)
{
	struct kern_socket *sock = whom;

	lock(sock, bytes);
	if (bytes) {
		if (sock->next - sock->first == sock->size)
			grow(sock);
		*buffer_at(sock, sock->next++) = (struct buffer) { bytes, space_of(bytes) };
	} else {
		sock->closed = true;
	}
	hw_line_unlock(&sock->lock);
	if (bytes)
		wake_up_interruptible_sync_poll(&sock->readers, EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
	else
		wake_up_interruptible_all(&sock->readers);
}

/*
 * An unconnected socket looks up its route for each message: udp_sendmsg(), ip_route_output_flow().
 */
static void transmit(struct kern_socket *sock, unsigned int bytes)
{
	if (sock->protocol == HW_UNIX)
		deliver(sock, bytes);
	else
		shim_loopback_send(sock->route ? sock->route : shim_loopback_route(), deliver, sock, bytes);
}

void kern_socket_send(struct kern_socket *sock, unsigned int bytes)
{
	const struct hw_socket_cost *cost = &hw_costs.socket[sock->protocol];
	bool sent = false;

	shim_syscall_enter(HW_TIME_WRITE);
	shim_message_send(protocols[sock->protocol].name, sock->object, bytes);
	shim_file_get(&sock->writer);
	hw_charge(cost->send + hw_costs.copy_per_kb * bytes / 1024);
	if (wait_event_interruptible(sock->writers, has_room(sock)))
		goto out;
	sock->used += space_of(bytes);
	transmit(sock, bytes);
	sent = true;
out:
	shim_message_done(sent ? bytes : 0);
	shim_file_put(&sock->writer);
	shim_syscall_exit();
}

/* Takes up to so many bytes out of a stream; of datagrams one. */
static unsigned int take(struct kern_socket *sock, unsigned int bytes)
{
	unsigned int have = 0;

	while (have < bytes && sock->first != sock->next) {
		struct buffer *b = buffer_at(sock, sock->first);
		unsigned int part = min(bytes - have, b->left);

		have += part;
		b->left -= part;
		if (b->left && sock->protocol != HW_UDP)
			break;
		sock->used -= b->space;
		sock->first++;
		if (sock->protocol == HW_UDP)
			break;
	}
	return have;
}

/* No sender waits exclusively (sock_wait_for_wmem()), so that one wakeup is for all of them. */
static void wake_senders(struct kern_socket *sock)
{
	if (sock->protocol == HW_TCP)
		wake_up_interruptible_poll(&sock->writers, EPOLLOUT | EPOLLWRNORM);
	else
		wake_up_interruptible_sync_poll(&sock->writers, EPOLLOUT | EPOLLWRNORM);
}

static int copy_out(struct kern_socket *sock, unsigned int bytes)
{
	int have;

	lock(sock, bytes);
	have = take(sock, bytes);
	hw_charge(hw_costs.copy_per_kb * have / 1024);
	hw_line_unlock(&sock->lock);
	if (have && sock->used <= protocols[sock->protocol].writable)
		wake_senders(sock);
	return have;
}

/* What is there, at most so many bytes; 0: closed and empty */
int kern_socket_receive(struct kern_socket *sock, unsigned int bytes)
{
	const struct hw_socket_cost *cost = &hw_costs.socket[sock->protocol];
	int have = 0;

	shim_syscall_enter(HW_TIME_READ);
	shim_message_receive(protocols[sock->protocol].name, sock->object, bytes);
	shim_file_get(&sock->reader);
	hw_charge(cost->receive);
	do {
		hw_order();
		if (wait_event_interruptible(sock->readers, shim_socket_readable(sock)))
			break;
		have = copy_out(sock, bytes);
	} while (!have && !sock->closed);	/* another reader came first */
	shim_message_done(have);
	shim_file_put(&sock->reader);
	shim_syscall_exit();
	return have;
}

/* The same of a socket that does not block; -1: there is nothing yet. */
int kern_socket_look(struct kern_socket *sock, unsigned int bytes)
{
	const struct hw_socket_cost *cost = &hw_costs.socket[sock->protocol];
	int have = -1;

	shim_syscall_enter(HW_TIME_READ);
	shim_file_get(&sock->reader);
	hw_order();
	if (shim_socket_readable(sock)) {
		shim_message_receive(protocols[sock->protocol].name, sock->object, bytes);
		hw_charge(cost->receive);
		have = copy_out(sock, bytes);
		shim_message_done(have);
		if (!have && !sock->closed)
			have = -1;	/* another reader came first */
	} else {
		hw_charge(hw_costs.receive_nothing);
	}
	shim_file_put(&sock->reader);
	shim_syscall_exit();
	return have;
}

void kern_socket_close(struct kern_socket *sock)
{
	shim_syscall_enter(HW_TIME_WRITE);
	transmit(sock, 0);
	shim_syscall_exit();
}

bool shim_socket_readable(struct kern_socket *sock)
{
	return sock->first != sock->next || sock->closed;
}

wait_queue_head_t *shim_socket_readers(struct kern_socket *sock)
{
	return &sock->readers;
}

/* sk_stream_is_writeable() */
bool shim_socket_writable(const struct kern_socket *sock)
{
	return sock->used <= protocols[sock->protocol].writable;
}

wait_queue_head_t *shim_socket_writers(struct kern_socket *sock)
{
	return &sock->writers;
}
