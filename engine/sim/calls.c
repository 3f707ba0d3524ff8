// SPDX-License-Identifier: GPL-2.0-only
/* workload.h in the simulator: each call goes through the kernel's own paths. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "json.h"
#include "scenario.h"

struct wl_task {
	struct sim_task task;
};

static struct sim_task *self(void)
{
	return cpus[sim.cpu].task;
}

static struct instance *outside;	/* its hook runs on the host's stack, before or after the run */

static struct instance *running(void)
{
	return outside ? outside : self()->instance;
}

struct wl_task *wl_self(void)
{
	return (struct wl_task *)self();
}

unsigned long long *wl_chance(void)
{
	return &self()->chance;
}

long long wl_option(const char *name)
{
	return wl_value(&running()->values, name);
}

const char *wl_text(const char *name)
{
	return wl_value_text(&running()->values, name);
}

void *wl_prepared(void)
{
	return running()->prepared;
}

void wl_refuse(const char *fmt, ...)
{
	char text[1000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	usage_error("workload %s: %s", running()->label, text);
}

/* ------------------------------------------------------------------ waiting for ever */

void wl_note_wait(const char *what, struct wl_task *holder)
{
	struct sim_task *task = self();

	task->waits_for = what;
	task->waits_for_task = (struct sim_task *)holder;
}

static void waits(const char *what)
{
	wl_note_wait(what, NULL);
}

static void goes_on(void)
{
	waits(NULL);
}

static int alive(const struct sim_task *task, const struct instance *instance)
{
	return task->instance == instance && task->kernel;
}

static void die_deadlocked(const struct instance *instance)
{
	fprintf(stderr, "schedsim: deadlock in workload %s at %.6f s: all its tasks wait\n",
		instance->label, (sim.clk - origin) / 1e9);
	for (struct sim_task *t = all_tasks; t; t = t->next) {
		if (!alive(t, instance))
			continue;
		fprintf(stderr, "  %s/%d waits for %s", t->comm, t->pid, t->waits_for);
		if (t->waits_for_task)
			fprintf(stderr, " of %s/%d", t->waits_for_task->comm, t->waits_for_task->pid);
		fputc('\n', stderr);
	}
	exit(3);
}

void instances_check(void)
{
	for (int i = 0; i < scenario.nr_workloads; i++) {
		struct instance *instance = &scenario.workloads[i];
		int tasks = 0, stuck = 0;

		if (instance->done)
			continue;
		for (struct sim_task *t = all_tasks; t; t = t->next)
			if (alive(t, instance)) {
				tasks++;
				stuck += t->waits_for && kern_is_blocked(t);
			}
		if (tasks && stuck == tasks)
			die_deadlocked(instance);
	}
}

/* ------------------------------------------------------------------ the machine */

int wl_cpus(void)
{
	return sim_nr_cpus;
}

int wl_llcs(void)
{
	return sim_nr_llcs;
}

int wl_nodes(void)
{
	return sim_nr_nodes;
}

int wl_cpu(void)
{
	return sim.cpu;
}

int wl_capacity(int cpu)
{
	return sim_cpu_topo[cpu].capacity;
}

int wl_idle_states(void)
{
	return sim_nr_idle_states;
}

const char *wl_idle_name(int state)
{
	return sim_idle_states[state].name;
}

void wl_idle_read(int cpu, int state, struct wl_idle *idle)
{
	struct kern_idle now;

	kern_idle_stats(cpu, state, &now);
	idle->usage = now.usage;
	idle->time = now.time_ns;
}

struct cpu_set {
	unsigned long bits[SIM_MAX_CPUS / 64];
};

static void set_cpu(int cpu, void *arg)
{
	struct cpu_set *set = arg;

	set->bits[cpu / 64] |= 1UL << cpu % 64;
}

static void pin(const unsigned long *cpus)
{
	int err = kern_setaffinity(self(), cpus, sim_nr_cpus);

	if (err)
		usage_error("workload %s: %s cannot be pinned: %s", running()->label, self()->comm,
			    strerror(-err));
}

void wl_pin_cpus(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = first; cpu < first + count && cpu < sim_nr_cpus; cpu++)
		set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_llcs(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = 0; cpu < sim_nr_cpus; cpu++)
		if (sim_cpu_topo[cpu].llc >= first && sim_cpu_topo[cpu].llc < first + count)
			set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_node(int node)
{
	struct cpu_set set = { };

	for (int cpu = 0; cpu < sim_nr_cpus; cpu++)
		if (sim_cpu_topo[cpu].node == node)
			set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_list(const char *list)
{
	json_t *text = json_string(list);
	struct cpu_set set = { };

	json_cpu_list(text, AT(NULL, running()->label), sim_nr_cpus - 1, set_cpu, &set);
	json_decref(text);
	pin(set.bits);
}

/* ------------------------------------------------------------------ shared memory */

void *wl_alloc(unsigned long bytes)
{
	return sim_zalloc(bytes, 64);
}

unsigned int wl_load(const unsigned int *word)
{
	return *word;
}

/* A change of a shared word: in the order of simulated time, at the cost of its line. */
static struct sim_line *change(const unsigned int *word)
{
	struct sim_line *line = cache_user_line(word);

	kern_sync();
	sim_line_lock(line);
	return line;
}

void wl_store(unsigned int *word, unsigned int value)
{
	wl_exchange(word, value);
}

unsigned int wl_exchange(unsigned int *word, unsigned int value)
{
	struct sim_line *line = change(word);
	unsigned int before = *word;

	*word = value;
	sim_line_unlock(line);
	return before;
}

unsigned int wl_add(unsigned int *word, int n)
{
	struct sim_line *line = change(word);
	unsigned int before = *word;

	*word += n;
	sim_line_unlock(line);
	return before;
}

int wl_replace(unsigned int *word, unsigned int expected, unsigned int value)
{
	struct sim_line *line = change(word);
	int was = *word == expected;

	if (was)
		*word = value;
	sim_line_unlock(line);
	return was;
}

/* Taken together on one line: who stores to as many others meanwhile waits as long in all. */
void wl_scatter(void *block, unsigned long bytes, unsigned int stores)
{
	unsigned long line = wl_uniform(0, (bytes - 1) / 64);

	kern_sync();
	cache_scatter(cache_user_line((char *)block + line * 64), stores);
}

/* ------------------------------------------------------------------ tasks */

struct start {
	void (*fn)(void *);
	void *arg;
	jmp_buf again;			/* where exec() begins anew */
};

static void task_main(struct sim_task *task)
{
	struct start start = *(struct start *)task->arg;

	sim_free(task->arg);
	task->arg = &start;
	setjmp(start.again);
	start.fn(start.arg);
}

static struct wl_task *start_task(const char *name, int number, void (*fn)(void *), void *arg)
{
	struct start *start = sim_zalloc(sizeof(*start), 16);

	start->fn = fn;
	start->arg = arg;
	return (struct wl_task *)launch_task(name, number, task_main, start);
}

struct wl_task *wl_fork(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -1, fn, arg);
}

struct wl_task *wl_thread(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -2, fn, arg);
}

/* Nobody asks for it any more: when the kernel has let go too, it can go. */
static void forget(struct sim_task *task)
{
	task->joined = 1;
	if (task->released)
		task_free(task);
}

void wl_join(struct wl_task *joined)
{
	struct sim_task *task = &joined->task;
	unsigned int id = task->pid;
	int thread = task->is_thread;

	wl_note_wait("the end", joined);
	if (!thread)
		kern_wait_child(task);
	else
		while (wl_load(&task->thread) == id && !self()->killed)
			kern_futex_wait(&task->thread, id, SIM_NEVER);
	goes_on();
	forget(task);
}

int wl_wait(void)
{
	struct sim_task *task;

	waits("the end of a child");
	task = kern_wait_child(NULL);
	goes_on();
	if (task)
		forget(task);
	return task != NULL;
}

void wl_exec(void (*fn)(void *), void *arg)
{
	struct start *start = self()->arg;

	kern_exec();
	start->fn = fn;
	start->arg = arg;
	longjmp(start->again, 1);
}

void wl_exit(void)
{
	kern_exit();
}

void wl_sched(const struct wl_sched *sched)
{
	static const int policies[] = { 0, 3, 5, 1, 2, 6 };	/* uapi/linux/sched.h */
	struct kern_attr attr = {
		.policy = policies[sched->policy], .nice = sched->nice, .rt_priority = sched->priority,
		.dl_runtime = sched->runtime, .dl_deadline = sched->deadline, .dl_period = sched->period,
		.uclamp_min = sched->util_min, .uclamp_max = sched->util_max,
	};
	int err = kern_setattr(self(), &attr);

	if (err)
		usage_error("workload %s: the policy of %s: %s", running()->label, self()->comm,
			    strerror(-err));
}

void wl_nice(int nice)
{
	wl_sched(&(struct wl_sched) { .nice = nice, .util_min = -1, .util_max = -1 });
}

void wl_group(const char *path)
{
	char part[128];
	int err;

	for (const char *end = path; *end && end[1]; ) {
		end = strchrnul(end + 1, '/');
		snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
		kern_cgroup_create(part);	/* or it is there */
	}
	err = kern_cgroup_attach(self(), path);
	if (err)
		usage_error("workload %s: group %s: %s", running()->label, path, strerror(-err));
}

/* ------------------------------------------------------------------ time and work */

unsigned long long wl_now(void)
{
	kern_run(sim_costs.clock_read);
	return kern_now();
}

void wl_alarm(unsigned long long ns)
{
	self()->alarm = kern_now() + ns;
}

int wl_alarm_rang(void)
{
	return kern_now() >= self()->alarm;
}

void wl_run(unsigned long long ns)
{
	kern_run(ns);
}

void wl_divide(unsigned long long n)
{
	kern_run(n * sim_costs.divide_per_1000 / 1000);
}

void wl_spin(unsigned long long ns)
{
	kern_run_clock(ns);
}

void wl_relax(void)
{
	kern_run_clock(machine.spin_ns);
}

void wl_sleep(unsigned long long ns)
{
	kern_sleep(ns);
}

void wl_sleep_until(unsigned long long time)
{
	kern_sleep_until(time);
}

void wl_yield(void)
{
	kern_yield();
}

void wl_syscall(void)
{
	kern_syscall(NULL);
}

void wl_footprint(unsigned long bytes)
{
	self()->footprint_kb = bytes >> 10;
}

void wl_memory_share(int percent)
{
	self()->memory_share = percent * 1024 / 100;
}

/* ------------------------------------------------------------------ messages */

struct wl_pipe *wl_pipe(void)
{
	return (struct wl_pipe *)kern_pipe_create();
}

void wl_pipe_write(struct wl_pipe *pipe, unsigned int bytes)
{
	waits("room in a pipe");
	kern_pipe_write((struct kern_pipe *)pipe, bytes);
	goes_on();
}

void wl_pipe_read(struct wl_pipe *pipe, unsigned int bytes)
{
	int got = 1;

	waits("a message in a pipe");
	for (unsigned int have = 0; got && have < bytes; have += got)
		got = kern_pipe_read((struct kern_pipe *)pipe, bytes - have);
	goes_on();
}

struct wl_socket {
	enum kern_protocol protocol;
	struct kern_socket *in, *out;
};

void wl_connect(enum wl_protocol protocol, struct wl_socket *end[2])
{
	static const enum kern_protocol kernels[] = { KERN_UNIX, KERN_TCP, KERN_UDP };
	struct kern_socket *there = kern_socket_create(kernels[protocol]);
	struct kern_socket *back = kern_socket_create(kernels[protocol]);

	for (int i = 0; i < 2; i++) {
		end[i] = wl_new(struct wl_socket, 1);
		*end[i] = (struct wl_socket) { kernels[protocol], i ? there : back, i ? back : there };
	}
}

void wl_send(struct wl_socket *socket, unsigned int bytes)
{
	waits("room in a socket");
	kern_socket_send(socket->out, bytes);
	goes_on();
}

int wl_receive(struct wl_socket *socket, unsigned int bytes)
{
	unsigned int have = 0;
	int got;

	waits("a message in a socket");
	do {
		got = kern_socket_receive(socket->in, bytes - have);
		have += got;
	} while (got && have < bytes && socket->protocol != KERN_UDP);
	goes_on();
	return have;
}

void wl_close(struct wl_socket *socket)
{
	kern_socket_close(socket->out);
}

struct wl_file {
	struct sim_line users;
};

struct wl_file *wl_file(void)
{
	return wl_new(struct wl_file, 1);
}

void wl_dup(struct wl_file *file)
{
	for (int call = 0; call < 2; call++)
		kern_syscall(&file->users);
}

int wl_poll(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	struct kern_pollable one, *pollable = nr == 1 ? &one : sim_zalloc(nr * sizeof(*pollable), 16);
	int found;

	for (int i = 0; i < nr; i++) {
		pollable[i].pipe = (struct kern_pipe *)set[i].pipe;
		pollable[i].socket = set[i].socket ? set[i].socket->in : NULL;
	}
	if (timeout == WL_NEVER)
		waits("something to read in poll()");
	found = kern_poll(pollable, nr, timeout);
	goes_on();
	if (pollable != &one)
		sim_free(pollable);
	return found;
}

struct wl_watch *wl_watch(void)
{
	return (struct wl_watch *)kern_watch_create();
}

void wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	struct kern_pollable pollable = {
		.pipe = (struct kern_pipe *)what->pipe,
		.socket = what->socket ? what->socket->in : NULL,
	};

	kern_watch_add((struct kern_watch *)watch, &pollable, data);
}

void *wl_watch_wait(struct wl_watch *watch, unsigned long long timeout)
{
	void *data;

	if (timeout == WL_NEVER)
		waits("something to read in epoll_wait()");
	data = kern_watch_wait((struct kern_watch *)watch, timeout);
	goes_on();
	return data;
}

/* ------------------------------------------------------------------ futexes */

int wl_futex_wait(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	int err;

	if (timeout != WL_NEVER)
		goes_on();
	else if (!self()->waits_for)
		waits("a futex");
	err = kern_futex_wait(word, value, timeout);
	goes_on();
	return err != -ETIMEDOUT;
}

int wl_futex_wake(unsigned int *word, int nr)
{
	return kern_futex_wake(word, nr);
}

/* ------------------------------------------------------------------ results */

void wl_begin(void)
{
	running()->began = kern_now();
	if (running()->measures)
		results_window_begin();
}

void wl_end(void)
{
	running()->ended = kern_now();
}

double wl_elapsed(void)
{
	const struct instance *instance = running();

	return ((instance->ended ? instance->ended : kern_now()) - instance->began) / 1e9;
}

void wl_result(const char *name, double value, const char *unit)
{
	json_array_append_new(running()->results, json_pack("{s:s, s:f, s:s}", "name", name,
							    "value", value, "unit", unit));
}

/* ------------------------------------------------------------------ beginning and end */

void instance_prepare(struct instance *instance)
{
	outside = instance;
	if (instance->values.workload->prepare)
		instance->prepared = instance->values.workload->prepare();
	outside = NULL;
}

void instances_finish(void)
{
	for (int i = 0; i < scenario.nr_workloads; i++) {
		struct instance *instance = &scenario.workloads[i];

		outside = instance;
		if (instance->done && instance->values.workload->finish)
			instance->values.workload->finish(instance->prepared);
	}
	outside = NULL;
}

static void instance_main(struct sim_task *task)
{
	struct instance *instance = task->arg;
	int err = instance->group ? kern_cgroup_attach(task, instance->group) : 0;

	if (err)
		usage_error("workload %s: group %s: %s", instance->label, instance->group, strerror(-err));
	if (instance->has_affinity)
		pin(instance->affinity);
	instance->values.workload->main();
	goes_on();
	instance->done = 1;
	if (!instance->ended)
		instance->ended = kern_now();
	for (struct sim_task *t = all_tasks; t; t = t->next)
		if (t != task && alive(t, instance))
			kern_kill(t);
	workload_done();
}

void instance_start(struct instance *instance)
{
	launch_workload(instance->values.workload->name, instance_main, instance);
}
