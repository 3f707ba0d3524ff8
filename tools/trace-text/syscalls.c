// SPDX-License-Identifier: GPL-2.0-only
/* Entries and exits of system calls: futex(), sched_yield(), and those of file descriptors. */
#include "syscalls.h"

#include <string.h>

/* FUTEX_WAIT and so on, of linux/futex.h. */
#define OP_WAIT 0
#define OP_WAKE 1
#define OP_WAIT_BITSET 9
#define OP_WAKE_BITSET 10
#define OP_MASK 0x7f
#define OP_PRIVATE 0x80

/* linux/fcntl.h and linux/socket.h */
#define F_DUPFD 0
#define F_SETFD 2
#define F_DUPFD_CLOEXEC 1030
#define MSG_PEEK 0x2

/* Of a call, its two numbers; NULL: it has none. */
struct call {
	const char *name;
	enum call_kind kind;
	const char *two;
	const char *three;
};

static const struct call calls[] = {
	{ "read", CALL_READ, "fd", NULL },
	{ "readv", CALL_READ, "fd", NULL },
	{ "recvfrom", CALL_READ, "fd", "flags" },
	{ "recvmsg", CALL_READ, "fd", "flags" },
	{ "write", CALL_WRITE, "fd", NULL },
	{ "writev", CALL_WRITE, "fd", NULL },
	{ "sendto", CALL_WRITE, "fd", NULL },
	{ "sendmsg", CALL_WRITE, "fd", NULL },
	{ "sendfile64", CALL_WRITE, "out_fd", NULL },
	{ "close", CALL_CLOSE, "fd", NULL },
	{ "close_range", CALL_CLOSE_RANGE, "fd", "max_fd" },
	{ "dup", CALL_DUP, "fildes", NULL },
	{ "dup2", CALL_DUP, "oldfd", NULL },
	{ "dup3", CALL_DUP, "oldfd", "flags" },
	{ "fcntl", CALL_FCNTL, "fd", "cmd" },
	{ "pipe", CALL_PIPE, NULL, NULL },
	{ "pipe2", CALL_PIPE, NULL, "flags" },
	{ "socketpair", CALL_PAIR, "family", "type" },
	{ "accept", CALL_ACCEPT, "fd", NULL },
	{ "accept4", CALL_ACCEPT, "fd", "flags" },
	{ "connect", CALL_CONNECT, "fd", NULL },
	{ "listen", CALL_LISTEN, "fd", NULL },
	{ "socket", CALL_OPEN, NULL, "type" },
	{ "open", CALL_OPEN, NULL, "flags" },
	{ "openat", CALL_OPEN, NULL, "flags" },
	{ "openat2", CALL_OPEN, NULL, NULL },
	{ "creat", CALL_OPEN, NULL, NULL },
	{ "epoll_create", CALL_OPEN, NULL, NULL },
	{ "epoll_create1", CALL_OPEN, NULL, "flags" },
	{ "eventfd", CALL_OPEN, NULL, NULL },
	{ "eventfd2", CALL_OPEN, NULL, "flags" },
	{ "timerfd_create", CALL_OPEN, NULL, "flags" },
	{ "signalfd4", CALL_OPEN, NULL, "flags" },
	{ "inotify_init1", CALL_OPEN, NULL, "flags" },
	{ "memfd_create", CALL_OPEN, NULL, NULL },
	{ "pidfd_open", CALL_OPEN, NULL, NULL },
	{ "perf_event_open", CALL_OPEN, NULL, NULL },
	{ "io_uring_setup", CALL_OPEN, NULL, NULL },
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/*
 * A number: with 0x hexadecimal. ftrace prints a system call's arguments so without it, and
 * trace-cmd those that are no addresses as decimals.
 */
static bool read_any_number(const char *at, const char *end, int base, uint64_t *number)
{
	const char *begin;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x') {
		at += 2;
		base = 16;
	}
	*number = 0;
	for (begin = at; at < end && digit(*at) < base; at++)
		*number = *number * base + digit(*at);
	return at > begin;
}

/* Where the value of a name begins, after "name: " or "name="; NULL: there is none. */
static const char *find_argument(const struct part *text, const char *name)
{
	const char *end = text->at + text->length, *at = text->at;
	size_t length = strlen(name);

	for (; end - at > (ptrdiff_t)length + 1; at++) {
		if ((at > text->at && word_letter(at[-1])) || memcmp(at, name, length))
			continue;
		if (at[length] == '=' || at[length] == ':')
			return skip_spaces(at + length + 1, end);
	}
	return NULL;
}

/* An argument of a system call by its name: "op: 0x80", "op: 80", "op=128". */
static bool argument(const struct part *text, const char *name, uint64_t *number)
{
	const char *at = find_argument(text, name);

	return at && read_any_number(at, text->at + text->length, at[-1] == '=' ? 10 : 16, number);
}

static bool word(const struct part *text, const char *name, const char *value)
{
	const char *at = find_argument(text, name);
	size_t length = strlen(value);

	return at && text->at + text->length - at >= (ptrdiff_t)length && !memcmp(at, value, length);
}

/* A wait or wake; other operations are passed over, and their tasks' waits stay hand-overs. */
static bool read_futex(const struct part *text, struct event *event)
{
	uint64_t address, op, value;

	if (!argument(text, "uaddr", &address) || !argument(text, "op", &op) ||
	    !argument(text, "val", &value))
		return false;
	switch (op & OP_MASK) {
	case OP_WAIT: case OP_WAIT_BITSET:
		event->kind = FUTEX_WAIT;
		break;
	case OP_WAKE: case OP_WAKE_BITSET:
		event->kind = FUTEX_WAKE;
		break;
	default:
		return false;
	}
	event->one = (int32_t)address;
	event->two = (int32_t)(address >> 32) & (FUTEX_IS_PRIVATE - 1);
	if (op & OP_PRIVATE)
		event->two |= FUTEX_IS_PRIVATE;
	event->three = value > INT32_MAX ? INT32_MAX : (int32_t)value;
	return true;
}

/* "0x0", "-> 0x0", "ret=0", "ret=0xffffffffffffff92": a number, or an error. */
static bool read_result(const struct part *text, int32_t *result)
{
	const char *end = text->at + text->length, *at = text->at;
	bool negative;
	uint64_t value;

	while (at < end && (*at < '0' || *at > '9') && *at != '-')
		at++;
	if (end - at > 2 && at[0] == '-' && at[1] == '>')
		at = skip_spaces(at + 2, end);
	negative = at < end && *at == '-';
	if (!read_any_number(at + negative, end, 10, &value))
		return false;
	*result = (int32_t)(negative ? -(int64_t)value : (int64_t)value);
	return true;
}

static const struct call *find_call(const struct part *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (part_is(name, calls[i].name))
			return &calls[i];
	}
	return NULL;
}

/* fcntl() is a dup(), or sets whether exec() closes the descriptor, or does not matter. */
static bool read_fcntl(const struct part *text, struct event *event)
{
	uint64_t value = 0;

	switch (event->three) {
	case F_DUPFD: case F_DUPFD_CLOEXEC:
		event->one = CALL_DUP;
		event->three = event->three == F_DUPFD ? 0 : CLOSE_ON_EXEC;
		return true;
	case F_SETFD:
		if (!argument(text, "arg", &value))
			return false;
		event->three = value & 1 ? CLOSE_ON_EXEC : 0;
		return true;
	default:
		return false;
	}
}

static bool read_descriptor_call(const struct call *call, const struct part *text,
				 struct event *event)
{
	uint64_t two = 0, three = 0;

	if ((call->two && !argument(text, call->two, &two)) ||
	    (call->three && !argument(text, call->three, &three)))
		return false;
	event->kind = CALL;
	event->one = call->kind;
	event->two = (int32_t)two;
	event->three = three > INT32_MAX ? INT32_MAX : (int32_t)three;
	if (call->kind == CALL_FCNTL)
		return read_fcntl(text, event);
	return call->kind != CALL_READ || !(three & MSG_PEEK);
}

static bool read_sets(const struct part *text, struct event *event)
{
	uint64_t task;

	if (!argument(text, "pid", &task))
		return false;
	event->kind = SETS;
	event->one = (int32_t)task;
	return true;
}

bool is_read_call(const struct part *name)
{
	return part_is(name, "futex") || part_is(name, "sched_yield") ||
	       part_is(name, "sched_setaffinity") || part_is(name, "sched_setattr") ||
	       find_call(name);
}

bool read_syscall(const struct part *name, enum side side, const struct part *text,
		  struct event *event)
{
	const struct call *call;

	if (part_is(name, "sched_yield")) {
		event->kind = side == CALL_BEGINS ? YIELD : YIELD_DONE;
		return true;
	}
	if (part_is(name, "futex")) {
		event->kind = FUTEX_DONE;
		return side == CALL_BEGINS ? read_futex(text, event) : read_result(text, &event->one);
	}
	if (part_is(name, "sched_setaffinity") || part_is(name, "sched_setattr"))
		return side == CALL_BEGINS && read_sets(text, event);
	call = find_call(name);
	if (!call)
		return false;
	if (side == CALL_BEGINS)
		return read_descriptor_call(call, text, event);
	event->kind = CALL_DONE;
	event->one = call->kind;
	return read_result(text, &event->two);
}

bool read_tcp_state(const struct part *text, struct event *event)
{
	uint64_t own, peer;

	if (!word(text, "protocol", "IPPROTO_TCP") || !argument(text, "sport", &own) ||
	    !argument(text, "dport", &peer))
		return false;
	event->kind = TCP_STATE;
	event->one = (int32_t)own;
	event->two = (int32_t)peer;
	if (word(text, "newstate", "TCP_LISTEN"))
		event->three = TCP_LISTENS;
	else if (!word(text, "newstate", "TCP_ESTABLISHED"))
		return false;
	else
		event->three = word(text, "oldstate", "TCP_SYN_SENT") ? TCP_CONNECTED : TCP_ACCEPTED;
	return true;
}

bool read_new_task(const struct part *text, struct event *event)
{
	const char *flags = find_argument(text, "clone_flags");
	uint64_t task, value;

	if (!flags || !argument(text, "pid", &task) ||
	    !read_any_number(flags, text->at + text->length, 16, &value))
		return false;
	event->kind = NEW_TASK;
	event->one = (int32_t)task;
	event->two = (int32_t)value;
	return true;
}
