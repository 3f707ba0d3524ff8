// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pipes: the flow of fs/pipe.c (16 buffers of a page, merging of small writes, who
 * is woken when) over the kernel's wait queues.  pipe->mutex is never held across a
 * wait, so it is a lock with waiters in order of arrival.
 */
#include <linux/wait.h>
#include "sim.h"
#include "poll.h"

#define BUFFERS		16

struct kern_pipe {
	struct sim_line mutex, head, data;
	struct sim_line reader, writer;		/* the files of the two ends */
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
	sim_line_settle(&pipe->mutex);
}

static void copy(struct kern_pipe *pipe, unsigned int bytes)
{
	sim_line_copy(&pipe->data, bytes);
	sim_charge(sim_costs.copy_per_kb * bytes / 1024);
}

/* How many of the bytes found room. */
static unsigned int try_write(struct kern_pipe *pipe, unsigned int bytes)
{
	unsigned int last = (pipe->next - 1) % BUFFERS, slot = pipe->next % BUFFERS;

	bytes = min_t(unsigned int, bytes, PAGE_SIZE);
	if (!empty(pipe) && pipe->used[last] + bytes <= PAGE_SIZE) {
		pipe->fill[last] += bytes;
		pipe->used[last] += bytes;
	} else if (!full(pipe)) {
		pipe->fill[slot] = pipe->used[slot] = bytes;
		pipe->next++;
	} else {
		return 0;
	}
	copy(pipe, bytes);
	return bytes;
}

void kern_pipe_write(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_empty, wake_next = false;

	sim_syscall_enter();
	sim_file_get(&pipe->writer);
	sim_charge(sim_costs.pipe);
	lock(pipe);
	was_empty = empty(pipe);
	for (;;) {
		bytes -= try_write(pipe, bytes);
		if (!bytes)
			break;
		if (!full(pipe))
			continue;
		sim_line_unlock(&pipe->mutex);
		if (was_empty)
			wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
		if (wait_event_interruptible_exclusive(pipe->wr_wait, !full(pipe)))
			goto out;
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
out:
	sim_file_put(&pipe->writer);
	sim_syscall_exit();
}

static unsigned int try_read(struct kern_pipe *pipe, unsigned int bytes)
{
	unsigned int i = pipe->first % BUFFERS;

	if (empty(pipe))
		return 0;
	bytes = min(bytes, pipe->fill[i]);
	copy(pipe, bytes);
	pipe->fill[i] -= bytes;
	if (!pipe->fill[i])
		pipe->first++;
	return bytes;
}

int kern_pipe_read(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_full, wake_next = false;
	unsigned int got;
	int have = 0;

	sim_syscall_enter();
	sim_file_get(&pipe->reader);
	sim_charge(sim_costs.pipe);
	lock(pipe);
	was_full = full(pipe);
	for (;;) {
		while ((got = try_read(pipe, bytes - have)))
			have += got;
		if (have)
			break;
		sim_line_unlock(&pipe->mutex);
		if (was_full)
			wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
		if (wait_event_interruptible_exclusive(pipe->rd_wait, !empty(pipe)))
			goto out;
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
out:
	sim_file_put(&pipe->reader);
	sim_syscall_exit();
	return have;
}

bool sim_pipe_readable(struct kern_pipe *pipe)
{
	return !empty(pipe);
}

wait_queue_head_t *sim_pipe_readers(struct kern_pipe *pipe)
{
	return &pipe->rd_wait;
}
