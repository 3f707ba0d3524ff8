// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the task is that the kernel's watchdog found waiting: with the scheduler, or in which queue,
 * and which operation should move it on.  The kernel's dump says it, as it was when that was found.
 */
#include <linux/sched/ext.h>
#include "scx.h"

#define BY_THE_SCHEDULER	2	/* ops_state, SCX_OPSS_QUEUED: taken by it, in no queue */

struct waits {
	char		name[64];	/* with its pid in brackets */
	long		since_ms;
	unsigned int	ops_state;
	bool		has_queue;
	u64		queue;
};

/*
 * "  R busy4[5] -5292ms", and lines about it; newer trees have the task's scheduler before the time,
 * with an asterisk if it is the one that ends.
 */
static bool read_task(const char *line, const char *end, struct waits *w)
{
	const char *name = line + 4, *bracket = NULL, *last = line, *at;
	char state[40];

	if (end - line < 8 || line[0] != ' ' || line[3] != ' ' || line[2] != 'R' || end[-1] != 's')
		return false;
	for (at = name; at < end; at++) {
		if (*at == ']')
			bracket = at;
		if (*at == ' ')
			last = at + 1;
	}
	if (!bracket || bracket - name + 2 > sizeof(w->name) || (last > bracket + 2 && bracket[2] != '*'))
		return false;
	strscpy(w->name, name, bracket - name + 2);
	strscpy(state, last, min_t(size_t, end - last - 1, sizeof(state)));	/* without "ms" */
	if (kstrtol(state, 10, &w->since_ms))
		return false;
	at = strstr(end, "ops_state/qseq=");
	w->ops_state = at ? at[strlen("ops_state/qseq=")] - '0' : 0;
	at = strstr(end, "dsq_id=");
	at = at ? at + strlen("dsq_id=") : "";
	w->has_queue = *at == '0';
	strscpy(state, at, min_t(size_t, strcspn(at, " \n") + 1, sizeof(state)));
	return !w->has_queue || !kstrtoull(state, 16, &w->queue);
}

/* The one of the kernel's message; if that is about none, the one that has waited for longest. */
static bool find(const char *msg, const char *dump, struct waits *found)
{
	bool any = false;
	const char *end;
	struct waits w;

	for (; (end = strchr(dump, '\n')); dump = end + 1) {
		if (!read_task(dump, end, &w))
			continue;
		if (!any || w.since_ms < found->since_ms)
			*found = w;
		any = true;
		if (msg && strstarts(msg, w.name)) {
			*found = w;
			return true;
		}
	}
	return any;
}

static const char *operation(const struct shim_scheduler *s, const char *name)
{
	static char text[400];
	unsigned int i;

	for (i = 0; i < s->nr_ops; i++) {
		const struct shim_op *op = &s->op_table[i];
		const void *function = *op->real ?: *(void **)(s->ops + op->offset);

		if (strcmp(op->signature->name, name))
			continue;
		if (!function)
			return NULL;
		hw_scheduler_function(function, text, sizeof(text));
		return text;
	}
	return NULL;
}

const char *shim_scx_stall(const struct shim_scheduler *s, const char *msg, const char *dump)
{
	static char text[600];
	const char *does;
	struct waits w;
	int at;

	if (!dump || !find(msg, dump, &w))
		return "";
	at = msg && strstarts(msg, w.name) ? scnprintf(text, sizeof(text), ": ") :
	     scnprintf(text, sizeof(text), "; %s has waited for %ld.%03ld s: ", w.name, -w.since_ms / 1000, -w.since_ms % 1000);
	if (!w.has_queue && w.ops_state == BY_THE_SCHEDULER) {
		does = operation(s, "enqueue");
		scnprintf(text + at, sizeof(text) - at, "%s got it and nothing dispatched it since", does ?: "the scheduler");
	} else if (w.has_queue && !(w.queue & SCX_DSQ_FLAG_BUILTIN)) {
		does = operation(s, "dispatch");
		scnprintf(text + at, sizeof(text) - at, "it is in dispatch queue %#llx, %s%s", w.queue,
			  does ? "and was not moved to a CPU by " : "and there is no dispatch() that moves it to a CPU",
			  does ?: "");
	} else if (w.has_queue) {
		scnprintf(text + at, sizeof(text) - at, "it is in %s queue, behind others",
			  w.queue == SCX_DSQ_GLOBAL ? "the global" : "a CPU's local");
	} else {
		return "";
	}
	return text;
}
