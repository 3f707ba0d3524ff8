// SPDX-License-Identifier: GPL-2.0-only
/* Programs of a scenario's tasks: lists of phases, read and run. */
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "scenario.h"

/* ------------------------------------------------------------------ named objects */

struct named {
	struct named *next;
	const char *kind, *name;
	void *object;
};

static void *object_named(const char *kind, const char *name)
{
	static struct named *all;
	struct named *n;

	for (n = all; n; n = n->next)
		if (!strcmp(n->kind, kind) && !strcmp(n->name, name))
			return n->object;
	n = hw_zalloc(sizeof(*n), 16);
	n->kind = kind;
	n->name = name;
	n->object = !strcmp(kind, "pipe") ? (void *)kern_pipe_create() :
		    !strcmp(kind, "mutex") ? (void *)kern_mutex_create(name) :
		    !strcmp(kind, "socket") ? (void *)kern_socket_create(HW_UNIX) :
		    hw_zalloc(sizeof(unsigned int), 64);	/* a futex's word, always 0 */
	n->next = all;
	all = n;
	return n->object;
}

/* ------------------------------------------------------------------ reading */

static void read_span(json_t *v, const struct path *at, struct phase *p)
{
	if (json_is_array(v)) {
		if (json_array_size(v) != 2)
			json_error_at(at, "a duration or [shortest, longest] is expected");
		p->min = json_time(json_array_get(v, 0), AT_INDEX(at, 0));
		p->max = json_time(json_array_get(v, 1), AT_INDEX(at, 1));
		if (p->max < p->min)
			json_error_at(at, "the longest is shorter than the shortest");
	} else {
		p->min = p->max = json_time(v, at);
	}
}

static const struct {
	const char *key;
	enum phase_kind kind;
	const char *object;
} phases[] = {
	{ "run", PHASE_RUN, NULL }, { "spin", PHASE_SPIN, NULL }, { "sleep", PHASE_SLEEP, NULL },
	{ "yield", PHASE_YIELD, NULL }, { "exec", PHASE_EXEC, NULL }, { "loop", PHASE_LOOP, NULL },
	{ "fork", PHASE_FORK, NULL }, { "pipe_write", PHASE_PIPE_WRITE, "pipe" },
	{ "pipe_read", PHASE_PIPE_READ, "pipe" }, { "send", PHASE_SEND, "socket" },
	{ "receive", PHASE_RECEIVE, "socket" }, { "wait", PHASE_WAIT, "futex" },
	{ "wake", PHASE_WAKE, "futex" }, { "touch", PHASE_TOUCH, NULL },
	{ "hold", PHASE_HOLD, "mutex" },
};

/* What some phases have beside their own key. */
static int goes_with(const char *key, enum phase_kind kind)
{
	if (!strcmp(key, "body"))
		return kind == PHASE_LOOP || kind == PHASE_FORK || kind == PHASE_HOLD;
	if (!strcmp(key, "count"))
		return kind == PHASE_WAKE;
	if (!strcmp(key, "size"))
		return kind == PHASE_TOUCH;
	return kind == PHASE_PIPE_WRITE || kind == PHASE_PIPE_READ || kind == PHASE_SEND || kind == PHASE_RECEIVE;
}

static int is_more(const char *key)
{
	return !strcmp(key, "body") || !strcmp(key, "bytes") || !strcmp(key, "count") || !strcmp(key, "size");
}

/* What a system call does while it holds a mutex; it is in the kernel all the time. */
static int in_a_call(enum phase_kind kind)
{
	return kind == PHASE_RUN || kind == PHASE_SLEEP || kind == PHASE_HOLD;
}

static void read_phase(json_t *obj, const struct path *at, struct phase *p)
{
	const char *key;
	json_t *v;
	int found = 0;

	if (!json_is_object(obj))
		json_error_at(at, "an object is expected");
	json_object_foreach(obj, key, v) {
		const struct path *here = AT(at, key);
		size_t i;

		if (is_more(key))
			continue;
		for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
			if (!strcmp(key, phases[i].key))
				break;
		if (i == sizeof(phases) / sizeof(phases[0]))
			json_error_at(here, "unknown key");
		if (found++)
			json_error_at(here, "a second phase in one object");
		p->kind = phases[i].kind;
		if (p->kind <= PHASE_SLEEP)
			read_span(v, here, p);
		else if (p->kind == PHASE_LOOP)
			p->count = json_int(v, here, 0, 1L << 40);
		else if (p->kind == PHASE_TOUCH)
			p->offset = (unsigned long)json_kb(v, here) << 10;
		else if (phases[i].object)
			p->object = object_named(phases[i].object, json_text(v, here));
		else if (!json_is_true(v))
			json_error_at(here, "true is expected");
	}
	if (!found)
		json_error_at(at, "no phase in it");
	json_object_foreach(obj, key, v)
		if (is_more(key) && !goes_with(key, p->kind))
			json_error_at(AT(at, key), "this phase has none");
	p->bytes = json_get_int(obj, at, "bytes", 1, 65536, 1);
	if (p->kind == PHASE_WAKE)
		p->count = json_get_int(obj, at, "count", 1, 1000000, 1);
	if (p->kind == PHASE_TOUCH)
		p->size = (unsigned long)json_kb(json_need(obj, at, "size"), AT(at, "size")) << 10;
	if (goes_with("body", p->kind)) {
		p->body = hw_zalloc(sizeof(*p->body), 16);
		program_read(json_need(obj, at, "body"), AT(at, "body"), p->body);
	}
	for (int i = 0; p->kind == PHASE_HOLD && i < p->body->nr; i++)
		if (!in_a_call(p->body->phase[i].kind))
			json_error_at(AT_INDEX(AT(at, "body"), i), "a system call runs, sleeps and holds mutexes");
}

/* Can it run for ever without any time passing? */
static int takes_time(const struct program *program)
{
	for (int i = 0; i < program->nr; i++) {
		const struct phase *p = &program->phase[i];

		if (p->kind == PHASE_LOOP ? takes_time(p->body) : p->kind > PHASE_SLEEP || p->min)
			return 1;
	}
	return 0;
}

void program_read(json_t *list, const struct path *at, struct program *program)
{
	json_t *obj;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list))
		json_error_at(at, "a list of phases is expected");
	program->nr = json_array_size(list);
	program->phase = hw_zalloc(program->nr * sizeof(struct phase), 16);
	json_array_foreach(list, i, obj)
		read_phase(obj, AT_INDEX(at, i), &program->phase[i]);
	if (!takes_time(program))
		json_error_at(at, "no phase takes any time; repeated, it would never end");
}

/* ------------------------------------------------------------------ running */

static void run_program(struct task *task, const struct program *program, unsigned long long *rng);

struct child_arg {
	const struct program *program;
	unsigned long long rng;
};

static void child_main(struct kern_task *kern)
{
	struct task *task = task_of(kern);
	struct child_arg *arg = task->arg;

	run_program(task, arg->program, &arg->rng);
}

static simtime span(const struct phase *p, unsigned long long *rng)
{
	return p->min == p->max ? p->min : p->min + hw_random_of(rng) % (p->max - p->min + 1);
}

/* The task's next work is on this part of its memory: on the node that has most of it. */
static void touch(struct task *task, unsigned long offset, unsigned long size)
{
	unsigned long on_node[HW_MAX_NODES] = { }, bytes;
	int node, most = 0;

	if (!task->memory)
		hw_refuse("task %s touches memory and has no mm", task->comm);
	for (; size; offset += bytes, size -= bytes) {
		bytes = kern_touch(task->memory, offset, size, &node);
		on_node[node] += bytes;
		if (on_node[node] > on_node[most])
			most = node;
	}
	task->mem_node = most;
}

static void hold(const struct phase *p, unsigned long long *rng, int held)
{
	kern_mutex_take(p->object, held);
	for (int i = 0; i < p->body->nr; i++) {
		const struct phase *inner = &p->body->phase[i];

		if (inner->kind == PHASE_RUN)
			kern_work(span(inner, rng));
		else if (inner->kind == PHASE_SLEEP)
			kern_work_sleep(span(inner, rng));
		else
			hold(inner, rng, 1);
	}
	kern_mutex_give(p->object, held);
}

static void run_phase(struct task *task, const struct phase *p, unsigned long long *rng)
{
	struct child_arg *child;

	switch (p->kind) {
	case PHASE_RUN:
		kern_run(span(p, rng));
		break;
	case PHASE_SPIN:
		kern_run_clock(span(p, rng));
		break;
	case PHASE_SLEEP:
		kern_sleep(span(p, rng));
		break;
	case PHASE_YIELD:
		kern_yield();
		break;
	case PHASE_EXEC:
		kern_exec();
		break;
	case PHASE_LOOP:
		for (unsigned long i = 0; !p->count || i < p->count; i++)
			run_program(task, p->body, rng);
		break;
	case PHASE_FORK:
		child = hw_zalloc(sizeof(*child), 16);
		child->program = p->body;
		child->rng = hw_random_of(rng);
		task_launch(task->comm, -1, child_main, child);
		kern_wait_child(NULL);
		hw_free(child);
		break;
	case PHASE_PIPE_WRITE:
		kern_pipe_write(p->object, p->bytes);
		break;
	case PHASE_PIPE_READ:
		kern_pipe_read(p->object, p->bytes);
		break;
	case PHASE_SEND:
		kern_socket_send(p->object, p->bytes);
		break;
	case PHASE_RECEIVE:
		kern_socket_receive(p->object, p->bytes);
		break;
	case PHASE_WAIT:
		kern_futex_wait(p->object, 0, HW_NEVER);
		break;
	case PHASE_WAKE:
		kern_futex_wake(p->object, p->count);
		break;
	case PHASE_TOUCH:
		touch(task, p->offset, p->size);
		break;
	case PHASE_HOLD:
		hold(p, rng, 0);
		break;
	}
}

static void run_program(struct task *task, const struct program *program, unsigned long long *rng)
{
	for (int i = 0; i < program->nr; i++)
		run_phase(task, &program->phase[i], rng);
	task->ops++;
}

/* Where its memory's users are counted by the CPUs they may run on, it first has to be there. */
int waits_to_be_placed(const struct task_spec *spec)
{
	return spec->mm >= 0 && (spec->has_affinity || spec->group) && kern_bounds_cids();
}

void program_main(struct kern_task *kern)
{
	struct task *task = task_of(kern);
	const struct task_spec *spec = task->arg;
	unsigned long long rng = hw_random();

	if (spec->cookie)
		kern_core_sched(spec->cookie->value);
	while (waits_to_be_placed(spec) && !task->placed)
		kern_futex_wait(&task->placed, 0, HW_NEVER);
	if (spec->mm >= 0) {
		task->memory = scenario.memory[spec->mm].region;
		kern_memory_use(task->memory);
	}
	for (unsigned long i = 0; !spec->loops || i < spec->loops; i++)
		run_program(task, &spec->program, &rng);
}
