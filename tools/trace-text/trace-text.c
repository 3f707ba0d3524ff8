// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of ftrace, `trace-cmd report` and `perf script` as events of fixed size.
 *
 * A line is: task, CPU, flags or none, time, event, and the event's text. Lines of other events,
 * and lines that are not of an event, are passed over.
 */
#include "trace-text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "syscalls.h"

#define LONGEST_TEXT 4096	/* of one event; a longer one is damaged */
#define LONGEST_NAME 64
#define NR_KNOWN (1 << 14)
#define MOST_CPUS 8192		/* NR_CPUS_RANGE_END */
#define NONE (-1)

struct line {
	struct part event;
	struct part text;
	int64_t ns;
	int32_t cpu;
	int32_t current;
	enum context context;
	enum side side;
	int counter;			/* NONE: it is not one's figure */
	uint64_t count;
};

/* The parts of an event's text by their places: a task's name, its number, its priority. */
struct task_parts {
	int8_t name;
	int8_t task;
	int8_t priority;
};

struct shape {
	const char *event;
	enum kind kind;
	const char *patterns[2];
	int8_t columns[3];		/* parts of `one`, `two` and `three` */
	int8_t state;			/* the part of why a task stopped, for `three` */
	int8_t channel;			/* the part of a channel's kind, for `one` */
	int nr_tasks;
	struct task_parts tasks[2];
};

struct known {
	int32_t task;
	int32_t priority;
	uint32_t length;
	bool used;
	char name[LONGEST_NAME];
};

struct reader {
	struct known known[NR_KNOWN];
};

#define WOKEN "comm=%s pid=%d prio=%*"
#define WOKEN_SHORT "%s:%d [%i%*"
#define MESSAGE "kind=%w object=%d bytes=%d%*"
#define NO_PARTS { NONE, NONE, NONE }

static const struct shape shapes[] = {
	{ "sched_switch", SWITCH,
	  { "prev_comm=%s prev_pid=%d prev_prio=%i prev_state=%w ==> next_comm=%s next_pid=%d"
	    " next_prio=%i%*",
	    "%s:%d [%i] %w ==> %s:%d [%i]%*" },
	  { 1, 5, NONE }, 3, NONE, 2, { { 0, 1, 2 }, { 4, 5, 6 } } },
	{ "sched_waking", WAKING, { WOKEN, WOKEN_SHORT },
	  { 1, NONE, NONE }, NONE, NONE, 1, { { 0, 1, NONE } } },
	{ "sched_wakeup_new", WAKEUP_NEW, { WOKEN, WOKEN_SHORT },
	  { 1, NONE, NONE }, NONE, NONE, 1, { { 0, 1, NONE } } },
	{ "sched_migrate_task", MIGRATE,
	  { "comm=%s pid=%d prio=%i orig_cpu=%d dest_cpu=%d%*" },
	  { 1, 3, 4 }, NONE, NONE, 1, { { 0, 1, NONE } } },
	{ "sched_process_fork", FORK, { "comm=%s pid=%d child_comm=%s child_pid=%d%*" },
	  { 1, 3, NONE }, NONE, NONE, 1, { { 2, 3, NONE } } },
	{ "sched_process_exit", EXIT, { WOKEN },
	  { 1, NONE, NONE }, NONE, NONE, 1, { { 0, 1, NONE } } },
	{ "irq_handler_entry", IRQ_ENTRY, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "irq_handler_exit", IRQ_EXIT, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "softirq_entry", SOFTIRQ_ENTRY, { "vec=%d%*" },
	  { 0, NONE, NONE }, NONE, NONE, 0, { } },
	{ "softirq_exit", SOFTIRQ_EXIT, { "vec=%d%*" }, { 0, NONE, NONE }, NONE, NONE, 0, { } },
	{ "local_timer_entry", TIMER_ENTRY, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "local_timer_exit", TIMER_EXIT, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "hrtimer_expire_entry", TIMER_ENTRY, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "hrtimer_expire_exit", TIMER_EXIT, { "%*" }, NO_PARTS, NONE, NONE, 0, { } },
	{ "cpu_frequency", FREQUENCY, { "state=%d cpu_id=%d%*" },
	  { 0, 1, NONE }, NONE, NONE, 0, { } },
	{ "message_send", SEND, { MESSAGE }, { NONE, 1, 2 }, NONE, 0, 0, { } },
	{ "message_receive", RECEIVE, { MESSAGE }, { NONE, 1, 2 }, NONE, 0, 0, { } },
	{ "message_done", MESSAGE_DONE, { "bytes=%d%*" },
	  { 0, NONE, NONE }, NONE, NONE, 0, { } },
	{ "sched_process_exec", EXEC, { "filename=%s pid=%d old_pid=%*" },
	  { 1, NONE, NONE }, NONE, NONE, 0, { } },
};

/* As CHANNELS of schedlab/lab/recording/events.py. */
static const char *const channels[] = { "pipe", "packets", "unix", "tcp", "udp" };

struct reader *trace_text_open(void)
{
	return calloc(1, sizeof(struct reader));
}

void trace_text_close(struct reader *r)
{
	free(r);
}

static const struct shape *find_shape(const struct part *event)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (part_is(event, shapes[i].event))
			return &shapes[i];
	}
	return NULL;
}

/* A word with a colon after it; where it ends, or NULL. */
static const char *read_word(const char *at, const char *end, struct part *word)
{
	const char *stop = at;

	while (stop < end && word_letter(*stop))
		stop++;
	if (stop == at || stop == end || *stop != ':')
		return NULL;
	*word = (struct part){ at, stop - at };
	return stop + 1;
}

/* The third letter of the flags is about interrupts. */
static enum context read_flags(const char *flags)
{
	switch (flags[2]) {
	case 'h': case 'H': case 'z': case 'Z':
		return INTERRUPT;
	case 's':
		return SOFTIRQ;
	default:
		return TASK;
	}
}

#define LATEST_SECOND	INT64_C(9000000000)	/* whose nanoseconds are a number of 64 bits */

static const char *read_time(const char *at, const char *end, int64_t *ns)
{
	struct part seconds = { at, digits(at, end, 10) };	/* clocks of the day have 10 */
	struct part rest;
	int64_t whole = 0, scaled;

	for (size_t i = 0; i < seconds.length; i++)
		whole = 10 * whole + (seconds.at[i] - '0');
	at += seconds.length;
	if (!seconds.length || at == end || *at != '.' || whole > LATEST_SECOND)
		return NULL;
	rest = (struct part){ at + 1, digits(at + 1, end, 9) };
	at = rest.at + rest.length;
	if (rest.length < 6 || at == end || *at != ':')
		return NULL;
	scaled = part_number(&rest);
	for (size_t i = rest.length; i < 9; i++)
		scaled *= 10;
	*ns = whole * INT64_C(1000000000) + scaled;
	return at + 1;
}

/*
 * A system call begins or ends: of "sys_enter_futex: ...", as an event, and "sys_futex(uaddr: ..."
 * and "sys_futex -> 0x0", as ftrace's own text has it. Its name without these is left.
 */
static enum side read_side(struct part *event)
{
	static const struct {
		const char *before;
		enum side side;
	} sides[] = { { "sys_enter_", CALL_BEGINS }, { "sys_exit_", CALL_ENDS } };

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		size_t length = strlen(sides[i].before);

		if (event->length <= length || memcmp(event->at, sides[i].before, length))
			continue;
		event->at += length;
		event->length -= length;
		return sides[i].side;
	}
	return NO_CALL;
}

static bool read_call(const char *at, const char *end, struct line *l)
{
	const char *begin = at + 4;

	if (end - at < 6 || memcmp(at, "sys_", 4))
		return false;
	for (at = begin; at < end && word_letter(*at);)
		at++;
	l->event = (struct part){ begin, at - begin };
	if (at < end && *at == '(') {
		l->side = CALL_BEGINS;
		l->text = (struct part){ at + 1, end - at - 1 };
		return true;
	}
	if (end - at > 4 && !memcmp(at, " -> ", 4)) {
		l->side = CALL_ENDS;
		l->text = (struct part){ at + 4, end - at - 4 };
		return true;
	}
	return false;
}

/* As COUNTERS of schedlab/lab/recording/events.py; the last ones are other names. */
static const struct {
	const char *name;
	int counter;
} counters[] = {
	{ "instructions", 0 }, { "cycles", 1 }, { "task-clock", 2 }, { "cpu-cycles", 1 },
};

static bool name_letter(char c)
{
	return word_letter(c) || c == '-';
}

/* Which counter an event's name names: "instructions:u:", "cpu_core/cycles/:"; NONE: none. */
static int find_counter(const char *at, const char *end)
{
	struct part word;

	while (at < end && *at != ' ') {
		for (word.at = at; at < end && name_letter(*at);)
			at++;
		word.length = at - word.at;
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
			if (part_is(&word, counters[i].name))
				return counters[i].counter;
		}
		if (at < end && *at != ' ')
			at++;
	}
	return NONE;
}

/* perf prints how much an event counts before its name; of a tracepoint that is 1. */
static const char *read_count(const char *at, const char *end, struct line *l)
{
	size_t length = digits(at, end, 18);

	if (!length || end - at <= (ptrdiff_t)length || at[length] != ' ')
		return at;
	l->count = 0;
	for (size_t i = 0; i < length; i++)
		l->count = 10 * l->count + (at[i] - '0');
	at = skip_spaces(at + length, end);
	l->counter = find_counter(at, end);
	return at;
}

/* From behind the CPU to the end of the line; the flags may be missing. */
static bool read_behind_cpu(const char *at, const char *end, struct line *l)
{
	const char *flags, *next;

	l->context = UNKNOWN;
	l->side = NO_CALL;
	l->counter = NONE;
	if (at < end && *at && strchr("dDbB.X", *at)) {
		flags = at;
		while (at < end && *at != ' ')
			at++;
		if (at - flags < 4 || at - flags > 9)
			return false;
		l->context = read_flags(flags);
		at = skip_spaces(at, end);
	}
	at = read_time(at, end, &l->ns);
	if (!at || at == end || *at != ' ')
		return false;
	at = read_count(skip_spaces(at, end), end, l);
	if (l->counter != NONE || read_call(at, end, l))
		return true;
	at = read_word(at, end, &l->event);
	if (!at)
		return false;
	next = read_word(at, end, &l->event);	/* after the name of the event's system */
	at = skip_spaces(next ? next : at, end);
	l->text = (struct part){ at, end - at };
	l->side = read_side(&l->event);
	return true;
}

/* From the bracket before the CPU to the end of the line. */
static bool read_rest(const char *bracket, const char *end, struct line *l)
{
	struct part cpu = { bracket + 1, digits(bracket + 1, end, 6) };
	const char *at = cpu.at + cpu.length;

	if (!cpu.length || end - at < 2 || at[0] != ']' || at[1] != ' ')
		return false;
	l->cpu = part_number(&cpu);
	return l->cpu < MOST_CPUS && read_behind_cpu(skip_spaces(at + 1, end), end, l);
}

static const char *digits_before(const char *begin, const char *at)
{
	while (at > begin && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at;
}

/* The number of the task that runs, before the bracket: after its name, and maybe a process. */
static bool read_current(const char *begin, const char *bracket, struct line *l)
{
	const char *end = bracket, *at;
	struct part number;

	while (end > begin && end[-1] == ' ')
		end--;
	if (end == bracket || end == begin)
		return false;
	if (end[-1] == ')') {
		for (at = end - 1; at > begin && strchr("0123456789 -", at[-1]) && at[-1];)
			at--;
		if (at == begin || at[-1] != '(')
			return false;
		for (end = at - 1; end > begin && end[-1] == ' ';)
			end--;
	}
	at = digits_before(begin, end);
	if (at > begin && at < end && at[-1] == '/') {
		end = at - 1;
		at = digits_before(begin, end);
	}
	number = (struct part){ at, end - at };
	if (!number.length || number.length > 9 || at - begin < 2)
		return false;
	if (at[-1] == '-' && at[-2] == ' ' && part_number(&number) == 1) {
		l->current = ENDED;
		return true;
	}
	l->current = part_number(&number);
	return at[-1] == '-' || at[-1] == ' ';
}

/* The latency format of trace-cmd: the CPU has no brackets, and its flags follow at once. */
static bool read_latency_format(const char *begin, const char *end, struct line *l)
{
	struct part number, cpu;

	for (const char *at = begin; (at = memchr(at, '-', end - at)); at++) {
		number = (struct part){ at + 1, digits(at + 1, end, 9) };
		cpu.at = skip_spaces(number.at + number.length, end);
		cpu.length = digits(cpu.at, end, 6);
		if (at == begin || !number.length || cpu.at == number.at + number.length || !cpu.length)
			continue;
		l->current = part_number(&number);
		l->cpu = part_number(&cpu);
		if (l->cpu < MOST_CPUS && read_behind_cpu(cpu.at + cpu.length, end, l) &&
		    l->context != UNKNOWN)
			return true;
	}
	return false;
}

/* A task's name may have brackets too: the first ones count that fit. */
static bool read_line(const char *begin, const char *end, struct line *l)
{
	const char *bracket = begin;

	while ((bracket = memchr(bracket, '[', end - bracket))) {
		if (read_rest(bracket, end, l) && read_current(begin, bracket, l))
			return true;
		bracket++;
	}
	return read_latency_format(begin, end, l);
}

static enum stop read_stop(const struct part *state)
{
	switch (state->at[0]) {
	case 'R':
		return PREEMPTED;
	case 'S': case 'I':
		return SLEEP;
	case 'D':
		return UNINTERRUPTIBLE;
	case 'X': case 'Z': case 'x':
		return DEAD;
	default:
		return OTHER;
	}
}

static int32_t read_channel(const struct part *kind)
{
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
		if (part_is(kind, channels[i]))
			return i;
	}
	return 0;
}

static void tell_name(struct reader *r, const char *text, const struct task_parts *of, bool begins,
		      const struct part *parts, struct named *named, struct found *found)
{
	const struct part *name = &parts[of->name];
	int32_t task = part_number(&parts[of->task]);
	int32_t priority = of->priority == NONE ? NO_PRIORITY : part_number(&parts[of->priority]);
	struct known *known = &r->known[task & (NR_KNOWN - 1)];
	bool same = known->used && known->task == task && known->length == name->length &&
		    !memcmp(known->name, name->at, name->length);

	if (begins)
		known->used = false;
	else if (same && (priority == NO_PRIORITY || priority == known->priority))
		return;
	if (!known->used || known->task != task || priority != NO_PRIORITY)
		known->priority = priority;
	known->task = task;
	known->used = name->length <= LONGEST_NAME;
	if (known->used) {
		known->length = name->length;
		memcpy(known->name, name->at, name->length);
	}
	named[found->named++] = (struct named){ task, priority, begins, name->at - text,
						 name->length };
}

static bool match(const struct shape *shape, const struct part *text, struct part *parts)
{
	if (text->length > LONGEST_TEXT)
		return false;
	for (int i = 0; i < 2 && shape->patterns[i]; i++) {
		if (pattern_match(shape->patterns[i], text->at, text->at + text->length, parts))
			return true;
	}
	return false;
}

static int32_t column(const struct shape *shape, int which, const struct part *parts)
{
	return shape->columns[which] == NONE ? 0 : part_number(&parts[shape->columns[which]]);
}

/* A line that cannot be read was one of an event's where it has the name of one. */
static bool names_event(const char *begin, const char *end)
{
	struct part word;

	for (const char *colon = begin; (colon = memchr(colon, ':', end - colon)); colon++) {
		for (word.at = colon; word.at > begin && word_letter(word.at[-1]);)
			word.at--;
		word.length = colon - word.at;
		if (find_shape(&word) || part_is(&word, "inet_sock_set_state") ||
		    part_is(&word, "task_newtask") ||
		    (read_side(&word) != NO_CALL && is_read_call(&word)))
			return true;
	}
	return false;
}

static void damage(const char *begin, const char *end, const char *text, struct found *found)
{
	if (found->damaged++)
		return;
	found->first_damaged = begin - text;
	found->first_damaged_length = end - begin;
}

static void read_event(struct reader *r, const char *text, const struct line *l,
		       const struct shape *shape, struct event *events, struct named *named,
		       struct found *found)
{
	struct part parts[MOST_PARTS];
	struct event *event;

	if (!match(shape, &l->text, parts)) {
		damage(l->text.at, l->text.at + l->text.length, text, found);
		return;
	}
	event = &events[found->events++];
	*event = (struct event){
		.ns = l->ns,
		.cpu = l->cpu,
		.current = l->current,
		.one = column(shape, 0, parts),
		.two = column(shape, 1, parts),
		.three = column(shape, 2, parts),
		.kind = shape->kind,
		.context = l->context,
	};
	if (shape->state != NONE)
		event->three = read_stop(&parts[shape->state]);
	if (shape->channel != NONE)
		event->one = read_channel(&parts[shape->channel]);
	for (int i = 0; i < shape->nr_tasks; i++)
		tell_name(r, text, &shape->tasks[i], shape->kind == FORK, parts, named, found);
}

void trace_text_read(struct reader *r, const char *text, size_t length, struct event *events,
		     struct named *named, struct found *found)
{
	const char *end = text + length, *next;
	const struct shape *shape;
	struct event *event;
	struct line l;

	*found = (struct found){ 0 };
	for (const char *begin = text; begin < end; begin = next + 1) {
		next = memchr(begin, '\n', end - begin);
		if (!next)
			next = end;
		if (!read_line(begin, next, &l)) {
			if (names_event(begin, next))
				damage(begin, next, text, found);
			continue;
		}
		event = &events[found->events];
		*event = (struct event){ .ns = l.ns, .cpu = l.cpu, .current = l.current,
					 .context = l.context };
		if (l.counter != NONE) {
			event->kind = COUNT;
			event->one = l.counter;
			event->two = l.count & ((1u << COUNT_LOW_BITS) - 1);
			event->three = l.count >> COUNT_LOW_BITS;
			found->events++;
			continue;
		}
		if (l.side != NO_CALL) {
			found->events += read_syscall(&l.event, l.side, &l.text, event);
			continue;
		}
		if (part_is(&l.event, "inet_sock_set_state")) {
			found->events += read_tcp_state(&l.text, event);
			continue;
		}
		if (part_is(&l.event, "task_newtask")) {
			found->events += read_new_task(&l.text, event);
			continue;
		}
		shape = find_shape(&l.event);
		if (shape)
			read_event(r, text, &l, shape, events, named, found);
	}
}
