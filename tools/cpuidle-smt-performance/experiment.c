// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "clock.h"
#include "cpus.h"
#include "experiment.h"
#include "fail.h"

#define FIBONACCI_NUMBERS	4096		/* between two looks at the clock: a few us */
#define START_DELAY		(5 * NSEC_PER_SEC / 1000)

static pthread_barrier_t ready, go;

/* What goes through an irritator's pipe. */
struct wake {
	uint64_t sent;
	uint64_t counts;		/* or it is one of the warm-up */
};

static uint64_t get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* What every thread does first; its tid. */
static pid_t settle_on(int cpu)
{
	int error = run_on(cpu);

	if (error)
		fail("CPU %d: no thread may run there: %s", cpu, strerror(error));
	return syscall(SYS_gettid);
}

static void begin_together(void)
{
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&go);
}

/* ------------------------------------------------------------------ the workload */

/* Through memory, so that no compiler makes less of it. */
static void fibonacci(volatile unsigned int *number)
{
	number[0] = 0;
	number[1] = 1;
	for (int i = 2; i < FIBONACCI_NUMBERS + 2; i++)
		number[i] = number[i - 1] + number[i - 2];
}

static void *work(void *arg)
{
	struct experiment *x = arg;
	struct workload *w = &x->workload;
	const struct sched_param none = { 0 };
	unsigned int number[FIBONACCI_NUMBERS + 2];
	uint64_t time, first;

	w->tid = settle_on(x->options->workload_cpu);
	if (x->lowest_class && sched_setscheduler(0, SCHED_IDLE, &none))
		fail("SCHED_IDLE is refused: %s", strerror(errno));
	begin_together();
	while ((time = now()) < get(&x->begin) && time < get(&x->end))
		fibonacci(number);
	first = time;
	while (time < get(&x->end)) {
		fibonacci(number);
		w->operations += FIBONACCI_NUMBERS;
		time = now();
	}
	w->elapsed = time - first;
	return NULL;
}

/* ------------------------------------------------------------------ irritators */

static void *irritate(void *arg)
{
	struct irritator *me = arg;
	uint64_t slept, woken;
	struct wake wake;

	me->tid = settle_on(me->cpu);
	begin_together();
	for (;;) {
		slept = now();
		if (read(me->out, &wake, sizeof(wake)) != sizeof(wake))
			return NULL;		/* the waker has closed its end */
		woken = now();
		if (!wake.counts)
			continue;
		histogram_add(&me->wakeup, woken - wake.sent);
		if (wake.sent < slept)
			me->late++;
		else
			histogram_add(&me->sleep, woken - slept);
	}
}

/* ------------------------------------------------------------------ the waker */

/* The time at which the wait is over: at or after `due`. */
static uint64_t wait_until(uint64_t due, bool sleeping)
{
	uint64_t time;

	if (sleeping)
		sleep_until(due);
	while ((time = now()) < due)
		relax();
	return time;
}

static void wake_all(struct experiment *x, bool counts)
{
	for (int i = 0; i < x->options->nr_irritators; i++) {
		struct irritator *it = &x->irritator[i];
		const struct wake wake = { now(), counts };

		if (write(it->in, &wake, sizeof(wake)) != sizeof(wake) && counts)
			it->lost++;
	}
}

/* Slots of [due, until) after the first that nothing was done in, as far as they count. */
static uint64_t missed(const struct experiment *x, uint64_t due, uint64_t until)
{
	if (due < get(&x->begin))
		due = get(&x->begin);
	return due < until ? (until - due) / x->options->period : 0;
}

static void *wake_each_period(void *arg)
{
	struct experiment *x = arg;
	const struct options *o = x->options;
	struct waker *w = &x->waker;
	uint64_t due, time;

	prctl(PR_SET_TIMERSLACK, 1);
	w->tid = settle_on(o->waker_cpu);
	begin_together();
	due = now() + o->period;
	for (;;) {
		bool counts;

		time = wait_until(due, o->sleeping_waker);
		if (time >= get(&x->end)) {
			w->missed += missed(x, due, get(&x->end));
			break;
		}
		counts = time >= get(&x->begin);
		if (counts) {
			histogram_add(&w->lateness, time - due);
			w->missed += missed(x, due, time);
		}
		wake_all(x, counts);
		if (o->from_last_wake)
			due = now() + o->period;
		else
			due += ((time - due) / o->period + 1) * o->period;
	}
	for (int i = 0; i < o->nr_irritators; i++)
		close(x->irritator[i].in);
	return NULL;
}

/* ------------------------------------------------------------------ the run */

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, arg);

	if (error)
		fail("no thread can be created: %s", strerror(error));
	return thread;
}

static pthread_t start_irritator(struct experiment *x, int i)
{
	struct irritator *it = &x->irritator[i];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
		fail("irritator %d: no pipe can be made: %s", i, strerror(errno));
	it->cpu = x->options->irritator_cpu[i];
	it->out = ends[0];
	it->in = ends[1];
	return start(irritate, it);
}

/* Keeps this thread, which reads sysfs, off the CPUs that are measured. */
static void step_aside(const struct options *o)
{
	bool taken[MAX_CPUS] = { false };

	taken[o->workload_cpu] = taken[o->waker_cpu] = true;
	for (int i = 0; i < o->nr_irritators; i++)
		taken[o->irritator_cpu[i]] = true;
	if (!run_beside(taken))
		run_on(o->waker_cpu);
}

static void list_idle_cpus(struct experiment *x)
{
	bool listed[MAX_CPUS] = { false };

	for (int i = 0; i < x->options->nr_irritators; i++) {
		int cpu = x->options->irritator_cpu[i];

		if (!listed[cpu])
			x->idle_cpu[x->nr_idle_cpus++] = cpu;
		listed[cpu] = true;
	}
}

static sigset_t ending_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	return signals;
}

/* Until `when`, or a signal ends the run. */
static void pass_time(struct experiment *x, uint64_t when)
{
	const sigset_t signals = ending_signals();
	uint64_t time;

	while (!x->interrupted && (time = now()) < when) {
		const struct timespec left = { (when - time) / NSEC_PER_SEC, (when - time) % NSEC_PER_SEC };
		int got = sigtimedwait(&signals, NULL, &left);

		if (got > 0) {
			x->interrupted = got;
			set(&x->end, now());
		}
	}
}

static void measure_idle(struct experiment *x)
{
	struct idle_states before[MAX_IRRITATORS];
	uint64_t began = now();

	for (int i = 0; i < x->nr_idle_cpus; i++)
		before[i] = read_idle(x->idle_cpu[i]);
	pass_time(x, x->end);
	x->idle_elapsed = now() - began;
	for (int i = 0; i < x->nr_idle_cpus; i++) {
		x->idle[i] = read_idle(x->idle_cpu[i]);
		idle_since(&x->idle[i], &before[i]);
		free_idle(&before[i]);
	}
}

void run_experiment(struct experiment *x, void (*placed)(const struct experiment *x))
{
	const struct options *o = x->options;
	const sigset_t signals = ending_signals();
	pthread_t thread[MAX_IRRITATORS + 2];
	int nr = 0;

	x->irritator = aligned_alloc(_Alignof(struct irritator), o->nr_irritators * sizeof(*x->irritator));
	if (!x->irritator)
		fail("no memory");
	memset(x->irritator, 0, o->nr_irritators * sizeof(*x->irritator));
	list_idle_cpus(x);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_barrier_init(&ready, NULL, o->nr_irritators + 3);
	pthread_barrier_init(&go, NULL, o->nr_irritators + 3);
	thread[nr++] = start(work, x);
	for (int i = 0; i < o->nr_irritators; i++)
		thread[nr++] = start_irritator(x, i);
	thread[nr++] = start(wake_each_period, x);
	pthread_barrier_wait(&ready);
	step_aside(o);
	placed(x);
	x->begin = now() + START_DELAY + o->warmup;
	x->end = x->begin + o->duration;
	pthread_barrier_wait(&go);
	pass_time(x, x->begin);
	measure_idle(x);
	for (int i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < o->nr_irritators; i++)
		close(x->irritator[i].out);
	pthread_barrier_destroy(&ready);
	pthread_barrier_destroy(&go);
}
