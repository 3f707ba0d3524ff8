/* SPDX-License-Identifier: GPL-2.0-only */
/* What poll.c asks the things that can be read. */
#ifndef SHIM_POLL_H
#define SHIM_POLL_H

#include <linux/poll.h>

bool shim_pipe_readable(struct kern_pipe *pipe);
wait_queue_head_t *shim_pipe_readers(struct kern_pipe *pipe);
bool shim_socket_readable(struct kern_socket *sock);
wait_queue_head_t *shim_socket_readers(struct kern_socket *sock);

#endif
