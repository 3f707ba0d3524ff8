// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pipe or socket a task writes or reads, and how much, for traces: so that whoever reads one
 * knows the object that tasks wait on, not only that they waited.
 */
#include "shim.h"
#include "trace_print.h"

#define MESSAGE_EVENT(event)								\
	static struct kern_tracepoint event __used __section("kern_tracepoints") = {	\
		.system = "messages", .name = #event, .emit = shim_trace_printf,	\
	};										\
	static struct kern_tracepoint *const event##_is_raised				\
	__used __section("kern_raised") = &event

MESSAGE_EVENT(message_send);
MESSAGE_EVENT(message_receive);
MESSAGE_EVENT(message_done);

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
