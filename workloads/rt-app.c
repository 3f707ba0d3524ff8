// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt-app: threads that go through the phases of a file, and a log line for each time
 * through one.  Events do what rt-app's do, with the same calls in the same order; rows
 * of the logs stay in memory until the end.
 */
#include <string.h>
#include <sys/stat.h>
#include "rt-app.h"
#include "rt-app-thread.h"

#define MOST_FORKS	1024		/* of one task, as in rt-app */
#define MOST_ENDED	64		/* processes that nobody has waited for, of one thread */
#define RUNTIME_STEP	32 /* us of work between two looks at the clock, as in rt-app */

static unsigned long long usec(unsigned long long ns)
{
	return (ns + WL_USEC / 2) / WL_USEC;
}

/* ------------------------------------------------------------------ events */

static void work(struct thread *t, unsigned long long us, struct rt_row *row)
{
	wl_run(us * WL_USEC * t->run->work / 1024);
	row->perf += us * WL_USEC / t->run->app->ns_per_loop;
}

static void run(struct thread *t, unsigned long long us, struct rt_row *row)
{
	unsigned long long start = wl_now();

	work(t, us, row);
	row->configured_run += us;
	row->run += usec(wl_now() - start);
}

static void run_by_clock(struct thread *t, unsigned long long us, struct rt_row *row)
{
	unsigned long long start = wl_now();

	do
		work(t, RUNTIME_STEP, row);
	while ((wl_now() - start) / WL_USEC < us);
	row->configured_run += us;
	row->run += usec(wl_now() - start);
}

static void wait_for_timer(struct thread *t, const struct rt_event *e, struct rt_row *row)
{
	struct rt_timer *timer = e->what->type == RT_OWN_TIMER ? &t->timer[e->what->index] : &e->what->timer;
	unsigned long long now, until;
	long long slack;

	row->configured_period += e->us;
	if (!timer->begun) {
		timer->begun = 1;
		timer->next = t->first;
	}
	timer->next += e->us * WL_USEC;
	now = wl_now();
	slack = now <= timer->next ? (long long)usec(timer->next - now) : -(long long)usec(now - timer->next);
	row->slack = slack + (t->run->app->cumulative_slack ? row->slack : 0);
	if (now < timer->next) {
		until = timer->next;	/* a thread that shares the timer moves it on meanwhile */
		wl_sleep_until(until);
		row->wakeup += usec(wl_now() - until);
	} else {
		if (timer->relative)
			timer->next = wl_now();
		row->wakeup = 0;
	}
}

static void meet(struct rt_resource *r)
{
	wl_lock(&r->mutex);
	if (!r->to_come) {
		wl_broadcast(&r->condition);
	} else {
		r->to_come--;
		wl_condition_wait(&r->condition, &r->mutex, WL_NEVER);
		r->to_come++;
	}
	wl_unlock(&r->mutex);
}

static void suspend(const struct rt_event *e)
{
	wl_lock(&e->mutex->mutex);
	wl_condition_wait(&e->what->condition, &e->mutex->mutex, WL_NEVER);
	wl_unlock(&e->mutex->mutex);
}

static void resume(const struct rt_event *e)
{
	wl_lock(&e->mutex->mutex);
	wl_broadcast(&e->what->condition);
	wl_unlock(&e->mutex->mutex);
}

/* Over the thread's buffer, again and again. */
static void write_memory(struct thread *t, unsigned long bytes)
{
	unsigned long size = t->run->app->mem_buffer;

	if (!t->buffer) {
		t->buffer = wl_region(size);
		if (t->node >= 0)
			wl_bind(t->buffer, t->node);
	}
	for (; bytes > size; bytes -= size)
		wl_touch(t->buffer, 0, size, WL_WRITE);
	if (bytes)
		wl_touch(t->buffer, 0, bytes, WL_WRITE);
}

/* To /dev/null, a buffer at a time: a system call that does nothing. */
static void write_nowhere(struct thread *t, unsigned long bytes)
{
	for (unsigned long done = 0; done < bytes; done += t->run->app->mem_buffer)
		wl_syscall();
}

static void fork_thread(struct thread *t, struct rt_task *task, struct rt_resource *counter);

static void perform(struct thread *t, const struct rt_event *e, struct rt_row *row)
{
	switch (e->kind) {
	case RT_RUN:
		run(t, e->us, row);
		break;
	case RT_RUNTIME:
		run_by_clock(t, e->us, row);
		break;
	case RT_SLEEP:
		wl_sleep(e->us * WL_USEC);
		break;
	case RT_TIMER:
		wait_for_timer(t, e, row);
		break;
	case RT_LOCK:
		wl_lock(&e->what->mutex);
		break;
	case RT_UNLOCK:
		wl_unlock(&e->what->mutex);
		break;
	case RT_SYNC:
		wl_signal(&e->what->condition);
		/* fall through */
	case RT_WAIT:
		wl_condition_wait(&e->what->condition, &e->mutex->mutex, WL_NEVER);
		break;
	case RT_SIGNAL:
		wl_signal(&e->what->condition);
		break;
	case RT_BROAD:
		wl_broadcast(&e->what->condition);
		break;
	case RT_BARRIER:
		meet(e->what);
		break;
	case RT_SUSPEND:
		suspend(e);
		break;
	case RT_RESUME:
		resume(e);
		break;
	case RT_YIELD:
		wl_yield();
		break;
	case RT_MEM:
		write_memory(t, e->bytes);
		break;
	case RT_IORUN:
		write_nowhere(t, e->bytes);
		break;
	case RT_FORK:
		fork_thread(t, e->child, e->what);
		break;
	case RT_REPLAY:
		rt_replay(&t->replay, t->task, e);
		break;
	}
}

/* ------------------------------------------------------------------ threads */

/* Changes only what the file says, and only when it has not been done. */
static void set_sched(struct thread *t, const struct rt_sched *s)
{
	struct wl_sched *now = &t->sched;

	if (t->in_force == s || !(s->has_policy || s->has_priority || s->has_slice || s->wanted.util_min >= 0 ||
				  s->wanted.util_max >= 0))
		return;
	t->in_force = s;
	if (s->has_policy)
		*now = s->wanted;
	if (s->has_priority) {
		now->priority = s->wanted.priority;
		now->nice = s->wanted.nice;
	}
	if (s->has_slice)
		now->runtime = s->wanted.runtime;
	now->util_min = s->wanted.util_min;
	now->util_max = s->wanted.util_max;
	wl_sched(now);
}

/* CPUs of the phase, else of the task, else as the thread began. */
static void set_cpus(struct thread *t, const char *cpus)
{
	if (!cpus)
		cpus = t->log.task->place.cpus;
	if (cpus == t->cpus)
		return;
	t->cpus = cpus;
	if (cpus)
		wl_pin_list(cpus);
	else
		wl_pin_cpus(0, wl_cpus());
}

static void set_group(struct thread *t, const char *group)
{
	if (!group || (t->group && !strcmp(group, t->group)))
		return;
	t->group = group;
	wl_group(group);
}

static void once(struct thread *t, const struct rt_phase *phase)
{
	struct rt_row row = { };
	unsigned long long start, end;

	set_sched(t, &phase->sched);
	set_group(t, phase->place.group);
	set_cpus(t, phase->place.cpus);
	if (phase->place.node >= 0)
		t->node = phase->place.node;
	start = wl_now();
	for (int i = 0; i < phase->nr && !wl_load(&t->run->over); i++)
		perform(t, &phase->event[i], &row);
	end = wl_now();
	row.start = usec(start);
	row.end = usec(end);
	row.period = usec(end - start);
	row.since_begin = usec(start - t->run->began);
	if (!wl_load(&t->run->over))
		rt_log_row(&t->log, &row);
	wl_work(WL_rt_app_phase);	/* the clock is read, the log written */
}

static void go(struct thread *t)
{
	const struct rt_task *task = t->log.task;

	for (int i = 0; i != task->loop; i += task->loop > 0)
		for (int p = 0; p < task->nr_phases; p++)
			for (int n = 0; n != task->phase[p].loop; n += task->phase[p].loop > 0) {
				if (wl_load(&t->run->over))
					return;
				once(t, &task->phase[p]);
			}
}

static struct thread *add_thread(struct run *run, struct rt_task *task, int fork);

/* The tasks that are there from the start of the process that this one begins. */
static void start_fellows(struct thread *t)
{
	struct rt_app *app = t->run->app;

	for (int i = 0; i < app->nr_tasks; i++) {
		struct rt_task *task = &app->task[i];

		if (task == t->task || task->process != t->process->id || !task->instances)
			continue;
		wl_lock(&t->run->lock);
		rt_launch(add_thread(t->run, task, -1), t);
		wl_unlock(&t->run->lock);
	}
}

void rt_thread_main(void *arg)
{
	struct thread *t = arg;
	struct run *run = t->run;
	const struct rt_task *task = t->log.task;
	int late = task->sched.wanted.policy == WL_DEADLINE;

	/* A deadline task's first budget is not for waiting at the start. */
	if (!late)
		set_sched(t, &task->sched);
	if (t->log.fork < 0) {
		if (t->leads)
			start_fellows(t);
		/* On another machine, the number of a CPU means nothing. */
		if (task->first_cpu >= 0 && run->app->recorded_cpus == wl_cpus())
			wl_move_to(task->first_cpu);
		if (!t->log.index)
			run->zero = wl_now();
		wl_barrier_wait(&run->start);
	}
	if (late)
		set_sched(t, &task->sched);
	set_group(t, task->place.group);
	t->first = run->zero + task->delay_us * WL_USEC;
	if (task->delay_us)
		wl_sleep_until(t->first);
	go(t);
	rt_end(t);
}

static void start_recorded(void *thread, struct rt_task *task);

static void join_recorded(void *thread, struct rt_task *task)
{
	rt_join(thread, task);
}

/* By the holder of the logs' lock. */
static struct thread *add_thread(struct run *run, struct rt_task *task, int fork)
{
	struct thread *t = wl_new(struct thread, 1);
	struct rt_resource *r = task->timers;
	struct rt_app *app = run->app;

	t->run = run;
	t->task = task;
	t->replay = (struct rt_replay) { .thread = t, .start = start_recorded, .join = join_recorded,
					 .app = run->app, .over = &run->over, .began = run->began };
	t->log.task = task;
	t->log.index = run->nr_threads++;
	t->log.fork = fork;
	t->node = task->place.node;
	t->sched.util_min = t->sched.util_max = -1;
	t->timer = wl_new(struct rt_timer, task->nr_timers);
	for (int i = 0; i < task->nr_timers; i++, r = r->next)
		t->timer[i] = r->timer;
	if (app->last_log)
		app->last_log->next = &t->log;
	else
		app->logs = &t->log;
	app->last_log = &t->log;
	return t;
}

static void fork_thread(struct thread *t, struct rt_task *task, struct rt_resource *counter)
{
	struct run *run = t->run;

	wl_lock(&run->lock);
	if (counter->forks == MOST_FORKS)
		wl_refuse("task %s is forked more than %d times", task->name, MOST_FORKS);
	rt_launch(add_thread(run, task, counter->forks++), t);
	wl_unlock(&run->lock);
}

/* By a replay: each task once.  Whoever waits for all threads of one process finds them begun. */
static void start_recorded(void *thread, struct rt_task *task)
{
	struct thread *t = thread, *started;
	struct run *run = t->run;
	int processes = run->app->processes;

	rt_reap(t, MOST_ENDED);
	wl_lock(&run->lock);
	started = add_thread(run, task, 0);
	if (processes)
		wl_unlock(&run->lock);
	rt_launch(started, t);
	if (!processes)
		wl_unlock(&run->lock);
}

/* ------------------------------------------------------------------ the run */

static void wait_for_all(struct run *run)
{
	struct rt_log *log = run->app->logs;

	while (log) {
		struct thread *t = (struct thread *)log;

		wl_join(t->handle);
		wl_lock(&run->lock);		/* a thread that has ended forks no more */
		log = log->next;
		wl_unlock(&run->lock);
	}
}

/* Whether a task that is there from the start is started by the one that begins its process. */
static int follows(const struct rt_app *app, const struct rt_task *task)
{
	for (const struct rt_task *before = app->task; task->process && before < task; before++)
		if (before->process == task->process && before->instances)
			return 1;
	return 0;
}

static void rt_app(void)
{
	struct rt_app *app = wl_prepared();
	struct run *run = wl_new(struct run, 1);

	run->app = app;
	/*
	 * What rt-app finds by timing its loop there, which its manual wants done at the highest
	 * frequency.  Timed here, a variant that slows that CPU would do less work and look better.
	 */
	run->work = app->reference < 0 ? 1024 : wl_speed(app->reference);
	app->logs = app->last_log = NULL;	/* it may be called again, and its threads were killed */
	for (struct rt_resource *r = app->resources; r; r = r->next) {
		r->mutex = (struct wl_mutex) { };
		r->condition = (struct wl_condition) { };
		r->timer = (struct rt_timer) { };
		r->to_come = r->expected;
		r->forks = 0;
	}
	for (int i = 0; i < app->nr_tasks; i++)
		app->task[i].wakes = app->task[i].asleep = app->task[i].done = app->task[i].over =
			app->task[i].awaited = 0;
	if (app->replays)
		rt_replay_connect(app);
	wl_barrier_init(&run->start, app->nr_threads);
	wl_begin();
	run->began = wl_now();
	wl_lock(&run->lock);
	for (int i = 0; i < app->nr_tasks; i++)
		for (int n = 0; n < app->task[i].instances; n++)
			if (!follows(app, &app->task[i]))
				rt_launch(add_thread(run, &app->task[i], -1), NULL);
	wl_unlock(&run->lock);
	if (app->duration)
		wl_sleep(app->duration * WL_SEC);
	else if (app->processes)
		rt_wait_for_processes(run);
	else
		wait_for_all(run);
	wl_store(&run->over, 1);
	wl_end();
	if (app->replays) {
		wl_result("time", wl_elapsed(), "s");
		rt_replay_report(app);
	}
}

static void *prepare(void)
{
	struct rt_app *app;
	struct stat folder;

	if (!*wl_text("file"))
		wl_refuse("no file is named; the option is \"file\"");
	app = rt_app_read(wl_text("file"));
	if (*wl_text("logdir") && (stat(wl_text("logdir"), &folder) || !S_ISDIR(folder.st_mode)))
		wl_refuse("logdir: %s is not a folder", wl_text("logdir"));
	return app;
}

static const struct wl_option options[] = {
	{ "file", 'f', WL_PATH, 0, 0, 0, NULL, "what to do, in rt-app's JSON" },
	{ "logdir", 0, WL_PATH, 0, 0, 0, NULL, "folder for rt-app's log of each thread; without it there is none" },
	{ }
};

WORKLOAD(rt_app) = {
	.name = "rt-app",
	.summary = "threads that do what a file of rt-app says",
	.original = "rt-app 1.0",
	.options = options,
	.prepare = prepare,
	.main = rt_app,
	.finish = rt_log_finish,
};
