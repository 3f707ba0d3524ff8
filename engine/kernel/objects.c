// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pipe, socket or futex a task uses, for traces: so that whoever reads one knows the object
 * that tasks wait on, not only that they waited.  Of futexes and sched_yield() a trace has what a
 * host's has of these system calls, with perf's text.
 */
#include "shim.h"
#include "trace_print.h"

#define OBJECT_EVENT(group, event)							\
	static struct kern_tracepoint event __used __section("kern_tracepoints") = {	\
		.system = group, .name = #event, .emit = shim_trace_printf,		\
	};										\
	static struct kern_tracepoint *const event##_is_raised				\
	__used __section("kern_raised") = &event

OBJECT_EVENT("messages", message_send);
OBJECT_EVENT("messages", message_receive);
OBJECT_EVENT("messages", message_done);
OBJECT_EVENT("syscalls", sys_enter_futex);
OBJECT_EVENT("syscalls", sys_exit_futex);
OBJECT_EVENT("syscalls", sys_enter_sched_yield);
OBJECT_EVENT("syscalls", sys_exit_sched_yield);

/* Addresses differ between runs: a word's is made of its number. */
#define FUTEX_ADDRESS(object)	(0x7f0000000000UL + 64UL * (object))

/* Numbers from 1 in the order of making, which is the same in every run. */
unsigned int shim_new_object(void)
{
	static unsigned int last;

	return ++last;
}

static void begins(struct kern_tracepoint *tp, const char *kind, unsigned int object,
		   unsigned int bytes)
{
	tp->count++;
	if (unlikely(tp->enabled))
		shim_trace_printf(tp, "kind=%s object=%u bytes=%u", kind, object, bytes);
}

void shim_message_send(const char *kind, unsigned int object, unsigned int bytes)
{
	begins(&message_send, kind, object, bytes);
}

void shim_message_receive(const char *kind, unsigned int object, unsigned int bytes)
{
	begins(&message_receive, kind, object, bytes);
}

/* The call is over, with so many bytes; 0: it was interrupted, or the end was reached. */
void shim_message_done(unsigned int bytes)
{
	message_done.count++;
	if (unlikely(message_done.enabled))
		shim_trace_printf(&message_done, "bytes=%u", bytes);
}

void shim_futex_called(unsigned int object, unsigned int op, unsigned int value)
{
	sys_enter_futex.count++;
	if (unlikely(sys_enter_futex.enabled))
		shim_trace_printf(&sys_enter_futex, "uaddr: 0x%lx, op: 0x%08x, val: 0x%08x",
				  FUTEX_ADDRESS(object), op, value);
}

static void returned(struct kern_tracepoint *tp, long value)
{
	tp->count++;
	if (unlikely(tp->enabled))
		shim_trace_printf(tp, "0x%lx", value);
}

void shim_futex_returned(long value)
{
	returned(&sys_exit_futex, value);
}

void shim_yield_called(void)
{
	sys_enter_sched_yield.count++;
	if (unlikely(sys_enter_sched_yield.enabled))
		shim_trace_printf(&sys_enter_sched_yield, "");
}

void shim_yield_returned(void)
{
	returned(&sys_exit_sched_yield, 0);
}
