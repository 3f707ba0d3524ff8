// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where fork, exec and wakeups put a task, one decision at a time: CPUs are kept busy so that
 * one answer is the best, there is time for everything to settle, and the task that was asked for
 * reports the CPU it finds itself on.  Between two kernels, or a kernel and the simulator, answers
 * may be compared one by one.  Where siblings are equal, the answer is the first CPU of the core.
 * Nothing is asked whose answer hangs on what load balancing saw last, such as how far SIS_UTIL
 * lets wakeups search a busy cache, or whether pinned tasks have marked a group as imbalanced.
 *
 * CPUs are numbered thread by thread, core by core, as QEMU does: two threads a core, and
 * last-level caches of the same size.
 */
#include "workload.h"

#define SETTLE		(150 * WL_MSEC)
#define BLINK		(20 * WL_MSEC)
#define NAP		(250 * WL_MSEC)	/* in it busy CPUs are made busy, and settle */
#define SPIN		(2 * WL_MSEC)
#define MAX_CPUS	256

struct placement {
	int		rounds;			/* of a case; the most frequent answer counts */
	unsigned int	stop;
	unsigned int	answer;
	unsigned int	word;			/* what a sleeper waits for */
	struct wl_pipe	*pipe;
	struct busy {
		struct placement *p;
		struct wl_task	*task;
		int		cpu;
	} busy[2 * MAX_CPUS];
	int		nr_busy;
};

static void anywhere(void)
{
	wl_pin_cpus(0, wl_cpus());
}

/* On this CPU, with leave to go anywhere from now on. */
static void stand_on(int cpu)
{
	wl_pin_cpus(cpu, 1);
	wl_spin(SETTLE);
	anywhere();
}

static void tell(struct placement *p)
{
	wl_store(&p->answer, (unsigned int)wl_cpu());
}

static void stay_busy(void *arg)
{
	struct busy *busy = arg;

	wl_pin_cpus(busy->cpu, 1);
	while (!wl_load(&busy->p->stop))
		wl_spin(SPIN);
}

/* Keeps CPUs [first, first + count) busy, but not `spared`. */
static void make_busy(struct placement *p, int first, int count, int spared)
{
	for (int cpu = first; cpu < first + count; cpu++) {
		struct busy *busy = &p->busy[p->nr_busy];

		if (cpu == spared)
			continue;
		*busy = (struct busy) { .p = p, .cpu = cpu };
		busy->task = wl_thread("busy", stay_busy, busy);
		p->nr_busy++;
	}
}

static void let_go(struct placement *p)
{
	wl_store(&p->stop, 1);
	while (p->nr_busy)
		wl_join(p->busy[--p->nr_busy].task);
	wl_store(&p->stop, 0);
	wl_sleep(BLINK);
}

/* ------------------------------------------------------------------ who is asked */

static void child(void *arg)
{
	tell(arg);
}

static int where_forked(struct placement *p)
{
	stand_on(0);
	wl_join(wl_fork("child", child, p));
	return (int)wl_load(&p->answer);
}

static void execute(void *arg)
{
	stand_on(0);
	wl_exec(child, arg);
}

static int where_executed(struct placement *p)
{
	wl_join(wl_fork("child", execute, p));
	return (int)wl_load(&p->answer);
}

#define SLEEPER_CPU	2

static void sleeper(void *arg)
{
	stand_on(SLEEPER_CPU);
	wl_sleep(NAP);
	tell(arg);
}

static void pipe_sleeper(void *arg)
{
	struct placement *p = arg;

	stand_on(SLEEPER_CPU);
	wl_pipe_read(p->pipe, 1);
	tell(p);
}

static void futex_sleeper(void *arg)
{
	struct placement *p = arg;

	stand_on(SLEEPER_CPU);
	while (!wl_load(&p->word))
		wl_futex_wait(&p->word, 0, WL_NEVER);
	tell(p);
}

/* A sleeper that has never been elsewhere. */
static struct wl_task *lay_down(void (*how)(void *), struct placement *p)
{
	struct wl_task *task;

	wl_pin_cpus(SLEEPER_CPU, 1);
	task = wl_fork("sleeper", how, p);
	anywhere();
	return task;
}

/* Of a sleeper that last ran on SLEEPER_CPU, woken by its timer while others are busy. */
static int where_woken(struct placement *p, int first, int count, int spared)
{
	struct wl_task *task = lay_down(sleeper, p);

	wl_sleep(BLINK);
	make_busy(p, first, count, spared);
	wl_join(task);
	let_go(p);
	return (int)wl_load(&p->answer);
}

/* Of the same, woken from the other last-level cache by somebody who goes on running. */
static int where_woken_from_afar(struct placement *p, int waker, int by_pipe)
{
	struct wl_task *task;

	wl_store(&p->word, 0);
	task = lay_down(by_pipe ? pipe_sleeper : futex_sleeper, p);
	wl_sleep(SETTLE);
	wl_pin_cpus(waker, 1);
	wl_spin(SPIN);
	if (by_pipe) {
		wl_pipe_write(p->pipe, 1);
	} else {
		wl_store(&p->word, 1);
		wl_futex_wake(&p->word, 1);
	}
	wl_spin(BLINK);
	wl_join(task);
	anywhere();
	return (int)wl_load(&p->answer);
}

/* ------------------------------------------------------------------ what is asked */

struct answers {
	unsigned int	count[MAX_CPUS];
};

static void heard(struct answers *answers, int cpu)
{
	answers->count[cpu]++;
}

static void result(const char *name, const struct answers *answers)
{
	int most = 0;

	for (int cpu = 1; cpu < wl_cpus(); cpu++)
		if (answers->count[cpu] > answers->count[most])
			most = cpu;
	wl_result(name, most, "cpu");
}

/* Of fork, or of exec, while the busy CPUs are. */
static void ask(struct placement *p, const char *name, int (*where)(struct placement *p), int core)
{
	struct answers *answers = wl_new(struct answers, 1);

	wl_sleep(SETTLE);
	for (int i = 0; i < p->rounds; i++) {
		int cpu = where(p);

		heard(answers, core ? cpu & ~1 : cpu);
		wl_sleep(BLINK);
	}
	let_go(p);
	result(name, answers);
}

static void ask_woken(struct placement *p, const char *name, int first, int count, int spared)
{
	struct answers *answers = wl_new(struct answers, 1);

	for (int i = 0; i < p->rounds; i++)
		heard(answers, where_woken(p, first, count, spared));
	result(name, answers);
}

static void ask_afar(struct placement *p, const char *name, int waker, int by_pipe, int core)
{
	struct answers *answers = wl_new(struct answers, 1);

	for (int i = 0; i < p->rounds; i++) {
		int cpu = where_woken_from_afar(p, waker, by_pipe);

		heard(answers, core ? cpu & ~1 : cpu);
	}
	result(name, answers);
}

static void placement_main(void)
{
	struct placement *p = wl_new(struct placement, 1);
	int cpus = wl_cpus(), llc;

	if (cpus > MAX_CPUS || wl_llcs() < 2 || cpus / wl_llcs() < 4)
		wl_refuse("placement wants two last-level caches or more, of four CPUs or more each");
	llc = cpus / wl_llcs();
	p->rounds = (int)wl_option("rounds");
	p->pipe = wl_pipe();

	/* Only one CPU is idle, in the other cache or near; who forks has CPU 0 alone. */
	make_busy(p, 1, cpus - 1, llc + 1);
	ask(p, "fork.only_idle_far", where_forked, 0);
	make_busy(p, 1, cpus - 1, 3);
	ask(p, "fork.only_idle_near", where_forked, 0);
	/*
	 * Half the CPUs, and one thread of the other cache's first core: a whole core is idle
	 * there.
	 */
	make_busy(p, 0, llc + 1, -1);
	ask(p, "fork.idle_core", where_forked, 1);
	make_busy(p, 0, cpus, llc + 2);
	ask(p, "exec.only_idle_far", where_executed, 0);
	/*
	 * Only one is idle near.  The task that execs shares its CPU with a pinned task, so that
	 * its side may be marked as imbalanced: the other side has to be worse than that,
	 * overloaded.
	 */
	make_busy(p, 0, cpus, 3);
	make_busy(p, llc, cpus - llc, -1);
	ask(p, "exec.only_idle_near", where_executed, 0);

	ask_woken(p, "wake.idle_machine", SLEEPER_CPU, 0, -1);
	/* Only its own CPU is busy: an idle core is better than its sibling. */
	ask_woken(p, "wake.idle_core", SLEEPER_CPU, 1, -1);
	/* Its own CPU and one of the other core are busy: its sibling is the nearest. */
	ask_woken(p, "wake.idle_sibling", 0, SLEEPER_CPU + 1, 1);
	ask_afar(p, "wake.futex_from_afar", llc, 0, 0);
	ask_afar(p, "wake.pipe_from_afar", llc, 1, 1);
}

static const struct wl_option placement_options[] = {
	{ "rounds", 'r', WL_COUNT, 5, 1, 1000, NULL, "how often each is asked; the most frequent answer counts" },
	{}
};

WORKLOAD(placement) = {
	.name		= "placement",
	.summary	= "where fork, exec and wakeups put a task, one decision at a time",
	.original	= "schedlab's own",
	.options	= placement_options,
	.main		= placement_main,
};
