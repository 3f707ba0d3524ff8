// SPDX-License-Identifier: GPL-2.0-only
/* A scheduler's operations and its calls of kfuncs and helpers, as events of a trace. */
#include <linux/cgroup.h>
#include "scx.h"
#include <trace/events/schedlab.h>

extern struct kern_tracepoint shim_tp_scx_op, shim_tp_scx_answer, shim_tp_scx_call;

static int put(char *to, int size, const char *name, char kind, u64 value)
{
	const char *space = name && *name ? " " : "", *is = name && *name ? "=" : "";

	name = name ?: "";
	switch (kind) {
	case 't':
		return value ? scnprintf(to, size, "%s%s%s%d", space, name, is, ((struct task_struct *)value)->pid) :
			       scnprintf(to, size, "%s%s%snone", space, name, is);
	case 'c':
		return value ? scnprintf(to, size, "%s%s%s%llu", space, name, is, cgroup_id((struct cgroup *)value)) :
			       scnprintf(to, size, "%s%s%snone", space, name, is);
	case 'b':
		return scnprintf(to, size, "%s%s%s%d", space, name, is, !!(u8)value);
	case 'd':
		return scnprintf(to, size, "%s%s%s%d", space, name, is, (s32)value);
	case 'u':
		return scnprintf(to, size, "%s%s%s%u", space, name, is, (u32)value);
	case 'D':
		return scnprintf(to, size, "%s%s%s%lld", space, name, is, (s64)value);
	case 'x':
		return scnprintf(to, size, "%s%s%s%#llx", space, name, is, value);
	}
	return 0;			/* where a pointer leads is nobody's business: runs differ in it */
}

static void put_all(char *to, int size, const struct shim_signature *s, const u64 *arguments)
{
	int i, at = 0;

	*to = 0;
	for (i = 0; s->kinds[i]; i++)
		at += put(to + at, size - at, s->arguments[i], s->kinds[i], arguments[i]);
}

/* Before it is loaded: each operation gets a function before it, where a trace wants to know. */
void shim_scx_tell(void)
{
	unsigned int i;

	if (!shim_tp_scx_op.enabled && !shim_tp_scx_answer.enabled)
		return;
	for (i = 0; i < shim_scheduler.nr_ops; i++) {
		const struct shim_op *op = &shim_scheduler.op_table[i];
		void **at = shim_scheduler.ops + op->offset;

		if (*at) {
			*op->real = *at;
			*at = op->told;
		}
	}
}

void shim_scx_begins(const struct shim_signature *op, const u64 *arguments)
{
	char text[SHIM_SCX_TEXT];

	put_all(text, sizeof(text), op, arguments);
	trace_scx_op(op->name, text);
}

void shim_scx_ends(const struct shim_signature *op, u64 answer)
{
	char text[SHIM_SCX_TEXT] = "";

	if (op->answer == 'v')
		return;
	put(text, sizeof(text), "answer", op->answer, answer);
	trace_scx_answer(op->name, text);
}

void shim_scx_called(const struct shim_signature *function, const u64 *arguments, u64 answer)
{
	char text[SHIM_SCX_TEXT];
	int at;

	if (!shim_tp_scx_call.enabled)
		return;
	put_all(text, sizeof(text), function, arguments);
	at = strlen(text);
	put(text + at, sizeof(text) - at, "answer", function->answer, answer);
	trace_scx_call(function->name, text);
}
