// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pipes: the flow of fs/pipe.c (16 buffers of a page, merging of small writes, who
 * is woken when) over the kernel's wait queues.  pipe->mutex is never held across a
 * wait, so it is a lock with waiters in order of arrival.
 */
#include <linux/wait.h>
#include <linux/poll.h>
#include "sim.h"

#define BUFFERS		16

struct kern_pipe {
	struct sim_line mutex, head, data;
	unsigned int fill[BUFFERS];		/* bytes in each buffer */
	unsigned int used[BUFFERS];		/* of its page, from the start */
	unsigned long first, next;		/* buffers read up to, written up to */
	wait_queue_head_t rd_wait, wr_wait;
};

struct kern_pipe *kern_pipe_create(void)
{
	struct kern_pipe *pipe = sim_zalloc(sizeof(*pipe), 64);

	init_waitqueue_head(&pipe->rd_wait);
	init_waitqueue_head(&pipe->wr_wait);
	return pipe;
}

static bool empty(const struct kern_pipe *pipe)
{
	return pipe->first == pipe->next;
}

static bool full(const struct kern_pipe *pipe)
{
	return pipe->next - pipe->first >= BUFFERS;
}

static void lock(struct kern_pipe *pipe)
{
	sim_line_lock(&pipe->mutex);
	sim_line_move(&pipe->head, sim_costs.queue_lines);
}

static void copy(struct kern_pipe *pipe, unsigned int bytes)
{
	sim_line_move(&pipe->data, 1 + bytes / L1_CACHE_BYTES);
	sim_charge(sim_costs.copy_per_kb * bytes / 1024);
}

static bool try_write(struct kern_pipe *pipe, unsigned int bytes)
{
	unsigned int last = (pipe->next - 1) % BUFFERS;

	if (!empty(pipe) && pipe->used[last] + bytes <= PAGE_SIZE) {
		pipe->fill[last] += bytes;
		pipe->used[last] += bytes;
	} else if (!full(pipe)) {
		pipe->fill[pipe->next % BUFFERS] = pipe->used[pipe->next % BUFFERS] = bytes;
		pipe->next++;
	} else {
		return false;
	}
	copy(pipe, bytes);
	return true;
}

void kern_pipe_write(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_empty, wake_next = false;

	if (bytes > PAGE_SIZE)
		bytes = PAGE_SIZE;
	sim_syscall_enter();
	sim_charge(sim_costs.pipe);
	lock(pipe);
	was_empty = empty(pipe);
	while (!try_write(pipe, bytes)) {
		sim_line_unlock(&pipe->mutex);
		if (was_empty)
			wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
		wait_event_interruptible_exclusive(pipe->wr_wait, !full(pipe));
		lock(pipe);
		was_empty = empty(pipe);
		wake_next = true;
	}
	if (full(pipe))
		wake_next = false;
	sim_line_unlock(&pipe->mutex);
	if (was_empty)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
	if (wake_next)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
	sim_syscall_exit();
}

static bool try_read(struct kern_pipe *pipe, unsigned int bytes)
{
	unsigned int i = pipe->first % BUFFERS;

	if (empty(pipe))
		return false;
	copy(pipe, bytes);
	pipe->fill[i] -= min(bytes, pipe->fill[i]);
	if (!pipe->fill[i])
		pipe->first++;
	return true;
}

void kern_pipe_read(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_full, wake_next = false;

	if (bytes > PAGE_SIZE)
		bytes = PAGE_SIZE;
	sim_syscall_enter();
	sim_charge(sim_costs.pipe);
	lock(pipe);
	was_full = full(pipe);
	while (!try_read(pipe, bytes)) {
		sim_line_unlock(&pipe->mutex);
		if (was_full)
			wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
		wait_event_interruptible_exclusive(pipe->rd_wait, !empty(pipe));
		lock(pipe);
		was_full = full(pipe);
		wake_next = true;
	}
	if (empty(pipe))
		wake_next = false;
	sim_line_unlock(&pipe->mutex);
	if (was_full)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
	if (wake_next)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
	sim_syscall_exit();
}
