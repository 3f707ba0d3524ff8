// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pipes: the flow of fs/pipe.c (buffers of a page, merging of small writes but of packets, who
 * is woken when) over the kernel's wait queues.  pipe->mutex is never held across a
 * wait, so it is a lock with waiters in order of arrival.
 */
#include <linux/wait.h>
#include "shim.h"
#include "poll.h"

#define BUFFERS		16		/* PIPE_DEF_BUFFERS */

struct kern_pipe {
	unsigned int object;
	struct hw_line mutex, head, data;
	struct hw_line reader, writer;		/* the files of the two ends */
	bool packets; /* O_DIRECT: a buffer for each write, and for each read */
	unsigned int nr;			/* of buffers */
	unsigned long first, next;		/* buffers read up to, written up to */
	wait_queue_head_t rd_wait, wr_wait;
	struct buffer {
		unsigned int fill;		/* bytes in it */
		unsigned int used;		/* of its page, from the start */
	} buffer[];
};

static struct kern_pipe *create(bool packets, unsigned int nr)
{
	struct kern_pipe *pipe = hw_zalloc(struct_size(pipe, buffer, nr), 64);

	pipe->object = shim_new_object();
	pipe->packets = packets;
	pipe->nr = nr;
	init_waitqueue_head(&pipe->rd_wait);
	init_waitqueue_head(&pipe->wr_wait);
	return pipe;
}

struct kern_pipe *kern_pipe_create(void)
{
	return create(false, BUFFERS);
}

/* F_SETPIPE_SZ: round_pipe_size() */
struct kern_pipe *kern_packet_pipe_create(unsigned int bytes)
{
	return create(true, bytes ? roundup_pow_of_two(DIV_ROUND_UP(bytes, PAGE_SIZE)) : BUFFERS);
}

static const char *kind(const struct kern_pipe *pipe)
{
	return pipe->packets ? "packets" : "pipe";
}

static bool empty(const struct kern_pipe *pipe)
{
	return pipe->first == pipe->next;
}

static bool full(const struct kern_pipe *pipe)
{
	return pipe->next - pipe->first >= pipe->nr;
}

static void lock(struct kern_pipe *pipe)
{
	hw_line_lock(&pipe->mutex);
	hw_line_move(&pipe->head, hw_costs.queue_lines);
	hw_line_settle(&pipe->mutex);
}

static void copy(struct kern_pipe *pipe, unsigned int bytes)
{
	hw_line_copy(&pipe->data, bytes);
	hw_charge(hw_costs.copy_per_kb * bytes / 1024);
}

/* How many of the bytes found room. */
static unsigned int try_write(struct kern_pipe *pipe, unsigned int bytes)
{
	struct buffer *last = &pipe->buffer[(pipe->next - 1) % pipe->nr];

	bytes = min_t(unsigned int, bytes, PAGE_SIZE);
	if (!pipe->packets && !empty(pipe) && last->used + bytes <= PAGE_SIZE) {
		last->fill += bytes;
		last->used += bytes;
	} else if (!full(pipe)) {
		pipe->buffer[pipe->next++ % pipe->nr] = (struct buffer) { bytes, bytes };
	} else {
		return 0;
	}
	copy(pipe, bytes);
	return bytes;
}

void kern_pipe_write(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_empty, wake_next = false;
	unsigned int asked = bytes;

	shim_syscall_enter(HW_TIME_WRITE);
	shim_message_send(kind(pipe), pipe->object, bytes);
	shim_file_get(&pipe->writer);
	hw_charge(hw_costs.pipe);
	lock(pipe);
	was_empty = empty(pipe);
	for (;;) {
		bytes -= try_write(pipe, bytes);
		if (!bytes)
			break;
		if (!full(pipe))
			continue;
		hw_line_unlock(&pipe->mutex);
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
	hw_line_unlock(&pipe->mutex);
	if (was_empty)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
	if (wake_next)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
out:
	shim_message_done(asked - bytes);
	shim_file_put(&pipe->writer);
	shim_syscall_exit();
}

static unsigned int try_read(struct kern_pipe *pipe, unsigned int bytes)
{
	struct buffer *b = &pipe->buffer[pipe->first % pipe->nr];

	if (empty(pipe))
		return 0;
	bytes = min(bytes, b->fill);
	copy(pipe, bytes);
	b->fill -= bytes;
	if (!b->fill || pipe->packets)
		pipe->first++;
	return bytes;
}

int kern_pipe_read(struct kern_pipe *pipe, unsigned int bytes)
{
	bool was_full, wake_next = false;
	unsigned int got;
	int have = 0;

	shim_syscall_enter(HW_TIME_READ);
	shim_message_receive(kind(pipe), pipe->object, bytes);
	shim_file_get(&pipe->reader);
	hw_charge(hw_costs.pipe);
	lock(pipe);
	was_full = full(pipe);
	for (;;) {
		while ((got = try_read(pipe, bytes - have))) {
			have += got;
			if (pipe->packets)
				break;
		}
		if (have)
			break;
		hw_line_unlock(&pipe->mutex);
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
	hw_line_unlock(&pipe->mutex);
	if (was_full)
		wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
	if (wake_next)
		wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
out:
	shim_message_done(have);
	shim_file_put(&pipe->reader);
	shim_syscall_exit();
	return have;
}

bool shim_pipe_readable(struct kern_pipe *pipe)
{
	return !empty(pipe);
}

wait_queue_head_t *shim_pipe_readers(struct kern_pipe *pipe)
{
	return &pipe->rd_wait;
}
