// SPDX-License-Identifier: GPL-2.0-only
/* A scheduler's operations and its calls of kfuncs and helpers, as events of a trace. */
#include <linux/cgroup.h>
#include "scx.h"
#include <trace/events/schedlab.h>

extern struct kern_tracepoint shim_tp_scx_op, shim_tp_scx_answer, shim_tp_scx_call;

static int put_value(char *to, int size, char kind, u64 value)
{
	switch (kind) {
	case 't':
		return value ? scnprintf(to, size, "%d", ((struct task_struct *)value)->pid) : scnprintf(to, size, "none");
	case 'c':
		return value ? scnprintf(to, size, "%llu", cgroup_id((struct cgroup *)value)) : scnprintf(to, size, "none");
	case 'b':
		return scnprintf(to, size, "%d", !!(u8)value);
	case 'd':
		return scnprintf(to, size, "%d", (s32)value);
	case 'u':
		return scnprintf(to, size, "%u", (u32)value);
	case 'D':
		return scnprintf(to, size, "%lld", (s64)value);
	default:
		return scnprintf(to, size, "%#llx", value);
	}
}

/* A sub-scheduler's are told from the root's by its group. */
static const char *shown(char *to, int size, const struct shim_signature *s)
{
	if (!s->of->group)
		return s->name;
	snprintf(to, size, "%s:%s", s->of->group, s->name);
	return to;
}

/* Where other pointers lead is left out: it differs from run to run. */
static int put(char *to, int size, const char *name, char kind, u64 value)
{
	int at = 0;

	if (kind == 'p' || kind == 'v')
		return 0;
	if (name && *name)
		at = scnprintf(to, size, " %s=", name);
	return at + put_value(to + at, size - at, kind, value);
}

static void put_all(char *to, int size, const struct shim_signature *s, const u64 *arguments)
{
	int i, at = 0;

	*to = 0;
	for (i = 0; s->kinds[i]; i++)
		at += put(to + at, size - at, s->arguments[i], s->kinds[i], arguments[i]);
}

#ifdef ENGINE_SANITIZE
#define TRACES_ALWAYS	true	/* nothing else says where an operation begins */
#else
#define TRACES_ALWAYS	false
#endif

/* Called before the scheduler is loaded: each operation gets its traced function if a trace wants it. */
void shim_scx_trace_operations(void)
{
	unsigned int i;

	if (!TRACES_ALWAYS && !shim_tp_scx_op.enabled && !shim_tp_scx_answer.enabled)
		return;
	for (i = 0; i < shim_scheduler->nr_ops; i++) {
		const struct shim_op *op = &shim_scheduler->op_table[i];
		void **at = shim_scheduler->ops + op->offset;

		if (*at) {
			*op->real = *at;
			*at = op->traced;
		}
	}
}

void shim_scx_begins(const struct shim_signature *op, const u64 *arguments)
{
	char text[SHIM_SCX_TEXT], name[SHIM_SCX_TEXT];

	shim_scx_new_operation();
	put_all(text, sizeof(text), op, arguments);
	trace_scx_op(shown(name, sizeof(name), op), text);
}

void shim_scx_ends(const struct shim_signature *op, u64 answer)
{
	char text[SHIM_SCX_TEXT] = "", name[SHIM_SCX_TEXT];

	put(text, sizeof(text), "answer", op->answer, answer);
	trace_scx_answer(shown(name, sizeof(name), op), text);
}

void shim_scx_called(const struct shim_signature *function, const u64 *arguments, u64 answer)
{
	char text[SHIM_SCX_TEXT], name[SHIM_SCX_TEXT];
	int at;

	if (!shim_tp_scx_call.enabled)
		return;
	put_all(text, sizeof(text), function, arguments);
	at = strlen(text);
	put(text + at, sizeof(text) - at, "answer", function->answer, answer);
	trace_scx_call(shown(name, sizeof(name), function), text);
}
