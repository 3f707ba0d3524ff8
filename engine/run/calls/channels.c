// SPDX-License-Identifier: GPL-2.0-only
/* Pipes, sockets and futexes, through the kernel's own waiting and waking. */
#include <errno.h>
#include "calls.h"

/* ------------------------------------------------------------------ pipes */

struct wl_pipe *wl_pipe(void)
{
	return (struct wl_pipe *)kern_pipe_create();
}

struct wl_pipe *wl_packet_pipe(unsigned int bytes)
{
	return (struct wl_pipe *)kern_packet_pipe_create(bytes);
}

void wl_pipe_write(struct wl_pipe *pipe, unsigned int bytes)
{
	waits_for("room in a pipe", NULL);
	kern_pipe_write((struct kern_pipe *)pipe, bytes);
	goes_on();
}

void wl_pipe_read(struct wl_pipe *pipe, unsigned int bytes)
{
	int got = 1;

	waits_for("a message in a pipe", NULL);
	for (unsigned int have = 0; got && have < bytes; have += got)
		got = kern_pipe_read((struct kern_pipe *)pipe, bytes - have);
	goes_on();
}

/* ------------------------------------------------------------------ sockets */

struct wl_socket {
	enum hw_protocol protocol;
	struct kern_socket *in, *out;
};

static struct wl_socket *one_end(struct kern_socket *in, struct kern_socket *out, enum hw_protocol protocol)
{
	struct wl_socket *socket = wl_new(struct wl_socket, 1);

	*socket = (struct wl_socket) { protocol, in, out };
	return socket;
}

void wl_socketpair(struct wl_socket *end[2])
{
	struct kern_socket *there = kern_socket_create(HW_UNIX), *back = kern_socket_create(HW_UNIX);

	end[0] = one_end(back, there, HW_UNIX);
	end[1] = one_end(there, back, HW_UNIX);
}

void wl_send(struct wl_socket *socket, unsigned int bytes)
{
	waits_for("room in a socket", NULL);
	kern_socket_send(socket->out, bytes);
	goes_on();
}

int wl_receive(struct wl_socket *socket, unsigned int bytes)
{
	unsigned int have = 0;
	int got;

	waits_for("a message in a socket", NULL);
	do {
		got = kern_socket_receive(socket->in, bytes - have);
		have += got;
	} while (got && have < bytes && socket->protocol != HW_UDP);
	goes_on();
	return have;
}

void wl_close(struct wl_socket *socket)
{
	kern_socket_close(socket->out);
}

void wl_drop(struct wl_socket *socket)
{
	(void)socket;
	kern_syscall(NULL);
}

/* ------------------------------------------------------------------ connections */

struct wl_listener {
	struct kern_listener *tcp;			/* or NULL */
	struct kern_socket *there, *back;		/* of UDP's one client */
};

struct wl_listener *wl_listen(enum wl_protocol protocol)
{
	struct wl_listener *listener = wl_new(struct wl_listener, 1);

	kern_syscall(NULL);
	if (protocol == WL_TCP) {
		listener->tcp = kern_listen();
	} else {
		listener->there = kern_socket_create(HW_UDP);
		listener->back = kern_socket_create(HW_UDP);
	}
	return listener;
}

struct wl_socket *wl_connect(struct wl_listener *listener, void *note)
{
	struct kern_connection *c;

	if (!listener->tcp)
		return one_end(listener->back, listener->there, HW_UDP);
	c = wl_new(struct kern_connection, 1);
	c->there = kern_socket_create(HW_TCP);
	c->back = kern_socket_create(HW_TCP);
	c->note = note;
	kern_connect(listener->tcp, c);
	return one_end(c->back, c->there, HW_TCP);
}

void *wl_accept(struct wl_listener *listener, struct wl_socket **socket)
{
	struct kern_connection *c;

	if (!listener->tcp) {
		*socket = one_end(listener->there, listener->back, HW_UDP);
		return NULL;
	}
	waits_for("a connection", NULL);
	c = kern_accept(listener->tcp);
	goes_on();
	*socket = one_end(c->there, c->back, HW_TCP);
	return c->note;
}

/* ------------------------------------------------------------------ files */

struct wl_file {
	struct hw_line users;
};

struct wl_file *wl_file(void)
{
	return wl_new(struct wl_file, 1);
}

void wl_dup(struct wl_file *file)
{
	for (int call = 0; call < 2; call++)
		kern_syscall(&file->users);
}

/* ------------------------------------------------------------------ waiting for several */

int wl_poll(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	struct kern_pollable one, *pollable = nr == 1 ? &one : hw_zalloc(nr * sizeof(*pollable), 16);
	int found;

	for (int i = 0; i < nr; i++) {
		pollable[i].pipe = (struct kern_pipe *)set[i].pipe;
		pollable[i].socket = set[i].socket ? set[i].socket->in : NULL;
	}
	if (timeout == WL_NEVER)
		waits_for("something to read in poll()", NULL);
	found = kern_poll(pollable, nr, timeout);
	goes_on();
	if (pollable != &one)
		hw_free(pollable);
	return found;
}

struct wl_watch *wl_watch(void)
{
	return (struct wl_watch *)kern_watch_create();
}

void wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	struct kern_pollable pollable = {
		.pipe = (struct kern_pipe *)what->pipe,
		.socket = what->socket ? what->socket->in : NULL,
	};

	kern_watch_add((struct kern_watch *)watch, &pollable, data);
}

void *wl_watch_wait(struct wl_watch *watch, unsigned long long timeout)
{
	void *data;

	if (timeout == WL_NEVER)
		waits_for("something to read in epoll_wait()", NULL);
	data = kern_watch_wait((struct kern_watch *)watch, timeout);
	goes_on();
	return data;
}

/* ------------------------------------------------------------------ futexes */

int wl_futex_wait(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	int err;

	if (timeout != WL_NEVER)
		goes_on();
	else if (!self()->waits_for)
		waits_for("a futex", NULL);
	err = kern_futex_wait(word, value, timeout);
	goes_on();
	return err != -ETIMEDOUT;
}

int wl_futex_wake(unsigned int *word, int nr)
{
	return kern_futex_wake(word, nr);
}
