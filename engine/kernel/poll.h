/* SPDX-License-Identifier: GPL-2.0-only */
/* What poll() and epoll ask the things that can be read or written to. */
#ifndef SHIM_POLL_H
#define SHIM_POLL_H

#include <linux/poll.h>

bool shim_pipe_readable(struct kern_pipe *pipe);
wait_queue_head_t *shim_pipe_readers(struct kern_pipe *pipe);
bool shim_socket_readable(struct kern_socket *sock);
wait_queue_head_t *shim_socket_readers(struct kern_socket *sock);
bool shim_socket_writable(const struct kern_socket *sock);
wait_queue_head_t *shim_socket_writers(struct kern_socket *sock);

static inline bool shim_readable(const struct kern_pollable *p)
{
	return p->pipe ? shim_pipe_readable(p->pipe) : shim_socket_readable(p->socket);
}

static inline wait_queue_head_t *shim_readers(const struct kern_pollable *p)
{
	return p->pipe ? shim_pipe_readers(p->pipe) : shim_socket_readers(p->socket);
}

#endif
