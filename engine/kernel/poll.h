/* SPDX-License-Identifier: GPL-2.0-only */
/* What poll.c asks the things that can be read. */
#ifndef SIM_POLL_H
#define SIM_POLL_H

#include <linux/poll.h>

bool sim_pipe_readable(struct kern_pipe *pipe);
wait_queue_head_t *sim_pipe_readers(struct kern_pipe *pipe);
bool sim_socket_readable(struct kern_socket *sock);
wait_queue_head_t *sim_socket_readers(struct kern_socket *sock);

#endif
