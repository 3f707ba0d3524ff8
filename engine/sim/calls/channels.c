// SPDX-License-Identifier: GPL-2.0-only
/* Pipes, sockets and futexes, through the kernel's own waiting and waking. */
#include <errno.h>
#include "calls.h"

/* ------------------------------------------------------------------ pipes */

struct wl_pipe *wl_pipe(void)
{
	return (struct wl_pipe *)kern_pipe_create();
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
	enum kern_protocol protocol;
	struct kern_socket *in, *out;
};

void wl_connect(enum wl_protocol protocol, struct wl_socket *end[2])
{
	static const enum kern_protocol kernels[] = { KERN_UNIX, KERN_TCP, KERN_UDP };
	struct kern_socket *there = kern_socket_create(kernels[protocol]);
	struct kern_socket *back = kern_socket_create(kernels[protocol]);

	for (int i = 0; i < 2; i++) {
		end[i] = wl_new(struct wl_socket, 1);
		*end[i] = (struct wl_socket) { kernels[protocol], i ? there : back, i ? back : there };
	}
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
	} while (got && have < bytes && socket->protocol != KERN_UDP);
	goes_on();
	return have;
}

void wl_close(struct wl_socket *socket)
{
	kern_socket_close(socket->out);
}

/* ------------------------------------------------------------------ files */

struct wl_file {
	struct sim_line users;
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
	struct kern_pollable one, *pollable = nr == 1 ? &one : sim_zalloc(nr * sizeof(*pollable), 16);
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
		sim_free(pollable);
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
