/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries and exits of system calls, and events that say the same in other words, as events. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <stdbool.h>

#include "pattern.h"
#include "trace-text.h"

enum side { NO_CALL, CALL_BEGINS, CALL_ENDS };

/* false: the call does not matter, or its arguments do not fit. */
bool read_syscall(const struct part *name, enum side side, const struct part *text,
		  struct event *event);

/* Whether lines of a call are read: futex(), those of descriptors, ... */
bool is_read_call(const struct part *name);

/* A TCP socket listens, has connected, or has been connected to; false: none of these. */
bool read_tcp_state(const struct part *text, struct event *event);

/* A task has been made, with the flags of clone(). */
bool read_new_task(const struct part *text, struct event *event);

#endif
