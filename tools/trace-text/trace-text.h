/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of ftrace, `trace-cmd report` and `perf script` as events of fixed size. */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* As in schedlab/lab/recording/events.py, which says what `one`, `two` and `three` hold. */
enum kind {
	SWITCH = 1,
	WAKING = 2,
	WAKEUP_NEW = 3,
	MIGRATE = 4,
	FORK = 5,
	EXIT = 6,
	IRQ_ENTRY = 7,
	IRQ_EXIT = 8,
	SOFTIRQ_ENTRY = 9,
	SOFTIRQ_EXIT = 10,
	TIMER_ENTRY = 11,
	TIMER_EXIT = 12,
	FREQUENCY = 13,
	SEND = 14,
	RECEIVE = 15,
	MESSAGE_DONE = 16,
	FUTEX_WAIT = 17,
	FUTEX_WAKE = 18,
	FUTEX_DONE = 19,
	YIELD = 20,
	YIELD_DONE = 21,
	CALL = 22,
	CALL_DONE = 23,
	NEW_TASK = 24,
	EXEC = 25,
	TCP_STATE = 26,
	SETS = 27,
	COUNT = 28,
};

/* What a system call does with descriptors; also as there. */
enum call_kind {
	CALL_READ = 1,
	CALL_WRITE = 2,
	CALL_CLOSE = 3,
	CALL_CLOSE_RANGE = 4,
	CALL_DUP = 5,
	CALL_FCNTL = 6,
	CALL_PIPE = 7,
	CALL_PAIR = 8,
	CALL_ACCEPT = 9,
	CALL_CONNECT = 10,
	CALL_LISTEN = 11,
	CALL_OPEN = 12,
};

/* O_CLOEXEC and SOCK_CLOEXEC. */
#define CLOSE_ON_EXEC 0x80000

enum tcp_state { TCP_LISTENS = 1, TCP_CONNECTED = 2, TCP_ACCEPTED = 3 };

enum stop { PREEMPTED = 0, SLEEP = 1, UNINTERRUPTIBLE = 2, DEAD = 3, OTHER = 4 };

enum context { UNKNOWN = 0, TASK = 1, SOFTIRQ = 2, INTERRUPT = 3 };

/* The current task, where perf prints -1 for one that has ended. */
#define ENDED (-1)

struct event {
	int64_t ns;
	int32_t cpu;
	int32_t current;
	int32_t one;
	int32_t two;
	int32_t three;
	int8_t kind;
	int8_t context;
	int16_t unused;
};

#define NO_PRIORITY INT32_MIN

/* Bits of a counter's figure in `two`; the rest is in `three`. */
#define COUNT_LOW_BITS 30

/* Of the upper half of a futex's address, in `two`: other processes have other words there. */
#define FUTEX_IS_PRIVATE (INT32_C(1) << 30)

/* A task's name or priority, where it differs from the one reported last, or the task begins. */
struct named {
	int32_t task;
	int32_t priority;
	uint32_t begins;		/* what was reported of this number before is of another task */
	uint32_t name;			/* where in the text, and how long */
	uint32_t length;
};

struct found {
	uint64_t events;
	uint64_t named;
	uint64_t damaged;		/* lines of events that cannot be read */
	uint64_t first_damaged;		/* where in the text, and how long */
	uint64_t first_damaged_length;
};

struct reader;

#define VISIBLE __attribute__((visibility("default")))

/* NULL: no memory. */
VISIBLE struct reader *trace_text_open(void);
VISIBLE void trace_text_close(struct reader *r);

/*
 * Read whole lines. There is room for as many events as lines in @events, and for twice as many in
 * @named.
 */
VISIBLE void trace_text_read(struct reader *r, const char *text, size_t length,
			     struct event *events, struct named *named, struct found *found);

#endif
