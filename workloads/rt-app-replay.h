/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event "replay": what one thread of a recording did, as a text of words.
 *
 *	1234	works so many ns
 *	w	waits until another thread wakes it; a wake that came before counts
 *	>ID	wakes the task whose name ends in -ID
 *	+ID	starts it
 *	jID	waits until it has ended
 *	sN	sleeps N ns
 *	tN	sleeps to the next point of a grid of N ns
 *	@N	sleeps until N ns after the start: something arrives from outside
 *	dN	waits N ns for a device it has asked itself
 *	mN	sends message N of the file, over a pipe or socket, which may be full
 *	rN	receives as many bytes as message N has, and waits until they are there
 *	lN	takes lock N
 *	uN	gives lock N back
 *	gN	waits until gate N is open
 *	oN	opens gate N, for all that wait for it at once
 *	bN	waits at barrier N until all of its tasks are there
 *	y	yields its CPU
 *	pN	puts item N of the file into its pool
 *	qN	takes items of pool N and does their words, until none is to come
 *
 * What comes from outside (s, t, @) begins a request.  A wake, a message or an item hands the
 * request on, and it is answered when the task that has it waits again without having handed it on.
 */
#ifndef RT_APP_REPLAY_H
#define RT_APP_REPLAY_H

#include "rt-app.h"

enum rt_word {
	RT_W_WORK, RT_W_WAIT, RT_W_WAKE, RT_W_START, RT_W_SLEEP, RT_W_GRID, RT_W_ARRIVAL, RT_W_DEVICE,
	RT_W_SEND, RT_W_RECEIVE, RT_W_LOCK, RT_W_UNLOCK, RT_W_BARRIER, RT_W_YIELD, RT_W_PUT,
	RT_W_SERVE, RT_W_PASS, RT_W_OPEN, RT_W_JOIN,
};

enum rt_channel_kind { RT_C_PIPE, RT_C_PACKETS, RT_C_UNIX, RT_C_TCP, RT_C_UDP };

/* What a wake or a message handed on. */
struct rt_handed {
	struct rt_request request;
	unsigned long long end;			/* bytes of its channel up to the end of the message */
	int		there;
};

/* One direction: who sends and who receives may be several. */
struct rt_channel {
	struct rt_channel *next;
	long long	id;
	enum rt_channel_kind kind;
	struct wl_pipe	*pipe;			/* or */
	struct wl_socket *from, *to;
	unsigned long long sent, received;	/* bytes */
	struct rt_queue	requests;		/* of the messages on their way */
};

/* Requests that tasks of one name begin, numbers in names aside. */
struct rt_class {
	struct rt_class	*next;
	const char	*name;
	struct wl_histogram *answered;
};

/* What one call of a thread wakes several others for, once. */
struct rt_gate {
	unsigned int	open, waiting;
	unsigned long long opened;
	struct rt_request request;		/* that it hands on to each of them */
};

/* Work that any of several tasks does. */
struct rt_item {
	struct rt_pool	*pool;
	int		nr_steps;
	struct rt_step	*step;
	unsigned int	puts;			/* of the file: no more than one */
	unsigned long long put;
	struct rt_request request;		/* that it hands on */
};

struct rt_pool {
	unsigned int	items;			/* of the file */
	unsigned int	put, taken;		/* so far */
	unsigned int	queued, idle;		/* items nobody has taken; tasks that wait for one */
	struct rt_item	**queue;
};

struct rt_message {
	struct rt_channel *channel;
	unsigned int	bytes;
};

struct rt_step {
	enum rt_word	word;
	unsigned long long ns;
	struct rt_task	*task;
	const struct rt_message *message;
	struct rt_item	*item;
};

#endif
