// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where tasks' time goes.  A task's time is accounted up to `accounted`, which only moves forward,
 * and each step of it goes to one of HW_TIMES: so nothing is lost and nothing counts twice.  Nobody
 * reads these accounts but the results.
 */
#include <stdlib.h>
#include <string.h>
#include "inside.h"

struct hw_account *hw_first_account;

struct hw_account *hw_account(const char *name)
{
	struct hw_account **link = &hw_first_account, *account;

	for (; (account = *link); link = &account->next)
		if (!strncmp(account->name, name, HW_COMM_LEN - 1))
			return account;
	account = *link = hw_zalloc(sizeof(*account), 64);
	strncpy(account->name, name, HW_COMM_LEN - 1);
	return account;
}

/* ------------------------------------------------------------------ while a CPU is idle */

/*
 * A set of CPUs that tasks may run on, and how long one of them was idle.  What a waiting task
 * needs is the difference between the beginning and the end of its wait: it need not be looked at
 * while CPUs come and go.
 */
struct hw_places {
	struct hw_places *next;
	int		idle;			/* CPUs of it */
	simtime		at, idle_ns;		/* counted up to there */
	unsigned long	cpus[];
};

static struct hw_places *all_places;
static struct cpu_places {			/* sets that a CPU is in */
	struct hw_places **set;
	int		nr;
} places_of[HW_MAX_CPUS];
static unsigned char is_free[HW_MAX_CPUS], idles[HW_MAX_CPUS];
static struct hw_task *waiting[HW_MAX_CPUS];	/* by CPU; those whose time is accounted */

#define WORD_BITS	(8 * sizeof(unsigned long))

static unsigned long size_of_set(void)
{
	return (hw_nr_cpus + WORD_BITS - 1) / WORD_BITS * sizeof(unsigned long);
}

static struct hw_places *find_places(const unsigned long *cpus)
{
	struct hw_places *p = all_places;

	while (p && memcmp(p->cpus, cpus, size_of_set()))
		p = p->next;
	return p;
}

static struct hw_places *add_places(const unsigned long *cpus)
{
	struct hw_places *p = hw_zalloc(sizeof(*p) + size_of_set(), 64);

	memcpy(p->cpus, cpus, size_of_set());
	p->next = all_places;
	p->at = hw.clk;
	all_places = p;
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		struct cpu_places *of = &places_of[cpu];

		if (!(cpus[cpu / WORD_BITS] >> cpu % WORD_BITS & 1))
			continue;
		of->set = realloc(of->set, (of->nr + 1) * sizeof(*of->set));
		of->set[of->nr++] = p;
		p->idle += is_free[cpu];
	}
	return p;
}

/* Where a task may run.  On its one CPU no other can be idle. */
void hw_task_may_run_on(struct hw_task *task, const unsigned long *cpus, int nr)
{
	if (!task->account)
		return;
	if (nr == 1)
		task->places = NULL;
	else if (!task->places || memcmp(task->places->cpus, cpus, size_of_set()))
		task->places = find_places(cpus) ?: add_places(cpus);
}

/* Up to now; clocks of CPUs differ a little, and another one may have counted further. */
static simtime idle_time(struct hw_places *p)
{
	simtime ahead = p->at > hw.clk ? p->at - hw.clk : 0;

	if (!ahead) {
		if (p->idle)
			p->idle_ns += hw.clk - p->at;
		p->at = hw.clk;
	}
	return p->idle && p->idle_ns > ahead ? p->idle_ns - ahead : p->idle_ns;
}

/* ------------------------------------------------------------------ a task's time */

static void spend(struct hw_task *task, enum hw_time what, simtime until)
{
	if (until <= task->accounted)
		return;
	task->account->ns[what] += until - task->accounted;
	task->accounted = until;
}

/* Runnable, in a queue: as long as a CPU was idle meanwhile it could have run there. */
static void spend_waiting(struct hw_task *task)
{
	simtime idle = 0;

	if (task->places) {
		simtime now = idle_time(task->places);

		idle = now > task->idle_before ? now - task->idle_before : 0;
		task->idle_before = now;
	}
	if (idle && hw.clk > task->accounted)
		spend(task, HW_TIME_WAIT_IDLE,
		      idle < hw.clk - task->accounted ? task->accounted + idle : hw.clk);
	spend(task, HW_TIME_WAIT_BUSY, hw.clk);
}

static void settle(struct hw_task *task)
{
	if (task->spends == HW_TIME_WAIT_BUSY)
		spend_waiting(task);
	else
		spend(task, task->spends, hw.clk);
}

static int is_on_cpu(const struct hw_task *task)
{
	return task->spends < HW_TIME_WAKING;
}

enum hw_time hw_spend_on(enum hw_time what)
{
	struct hw_task *task = cpus[hw.cpu].spender;
	enum hw_time before;

	if (!task)
		return what;
	before = task->spends;
	spend(task, before, hw.clk);
	task->spends = what;
	return before;
}

void hw_spent(enum hw_time what, simtime from)
{
	struct hw_task *task = cpus[hw.cpu].spender;

	if (!task || hw.clk == from)
		return;
	spend(task, task->spends, from);
	spend(task, what, hw.clk);
}

/* ns * all / by; what is left of the division counts the next time. */
static simtime part_of(simtime ns, unsigned int all, unsigned int by, unsigned int *rest)
{
	simtime sum = ns * all + (*rest < by ? *rest : by - 1);

	*rest = sum % by;
	return sum / by;
}

/*
 * What of the time went by at full speed, and what each cause added, in the order of struct pace:
 * with work w, w at full speed, w / capacity on this CPU, and so on.  The sum is exact, whatever
 * the rounding.
 */
void spent_in_user(struct cpu *c)
{
	struct hw_task *task = c->spender;
	const struct pace *pace = &c->pace;
	const unsigned int by[] = { 65536, pace->capacity, pace->frequency, pace->sibling };
	static const enum hw_time slowed_by[] = {
		HW_TIME_USER, HW_TIME_CAPACITY, HW_TIME_FREQUENCY, HW_TIME_SIBLING
	};
	simtime ns, until, from = 0;

	if (!task || hw.clk <= task->accounted)
		return;
	if (task->spins_until || pace->all == 65536) {
		spend(task, HW_TIME_USER, hw.clk);
		return;
	}
	ns = hw.clk - task->accounted;
	for (int i = 0; i < 4; i++) {
		if (i && by[i] == by[i - 1])	/* nothing of that kind slows it down */
			continue;
		until = part_of(ns, pace->all, by[i], &c->spent_rest[i]);
		until = until > ns ? ns : until < from ? from : until;
		task->account->ns[slowed_by[i]] += until - from;
		from = until;
	}
	task->account->ns[HW_TIME_MEMORY] += ns - from;
	task->accounted = hw.clk;
}

void spent_on_lines(struct cpu *c, simtime ns)
{
	struct hw_task *task = c->spender;

	if (task && hw.clk > task->accounted)
		spend(task, HW_TIME_REFILL,
		      ns < hw.clk - task->accounted ? task->accounted + ns : hw.clk);
}

/* ------------------------------------------------------------------ running, sleeping, waiting */

static void leave_queue(struct hw_task *task)
{
	if (!task->waits_on)
		return;
	if (task->previous_waiting)
		task->previous_waiting->next_waiting = task->next_waiting;
	else
		waiting[task->waits_on - 1] = task->next_waiting;
	if (task->next_waiting)
		task->next_waiting->previous_waiting = task->previous_waiting;
	task->waits_on = 0;
}

static void enter_queue(struct hw_task *task, int cpu)
{
	task->previous_waiting = NULL;
	task->next_waiting = waiting[cpu];
	if (task->next_waiting)
		task->next_waiting->previous_waiting = task;
	waiting[cpu] = task;
	task->waits_on = cpu + 1;
}

static void wait_on(struct hw_task *task, int cpu, int throttled)
{
	task->spends = throttled ? HW_TIME_THROTTLED : idles[cpu] ? HW_TIME_WAKING : HW_TIME_WAIT_BUSY;
	if (task->places)
		task->idle_before = idle_time(task->places);
}

struct hw_task *hw_first_waiting(int cpu)
{
	return waiting[cpu];
}

void hw_task_comes(struct hw_task *task)
{
	if (!task->account)
		return;
	task->account->tasks++;
	task->came = task->accounted = hw.clk;
	task->spends = HW_TIME_WAKING;
	task->was_in = task->call = HW_TIME_PROCESS;
}

/* Sleeping for what its system call waits for; a fault's reason has no sleep of its own. */
static enum hw_time asleep(const struct hw_task *task)
{
	if (task->call > HW_TIME_OTHER)
		return HW_TIME_ASLEEP_OTHER;
	return HW_TIME_ASLEEP_READ + (task->call - HW_TIME_READ);
}

void hw_task_stops(struct hw_task *task, int is_over)
{
	if (!task->account)
		return;
	cpus[hw.cpu].spender = NULL;
	spend(task, task->spends, hw.clk);
	task->was_in = task->spends;
	task->spends = task->is_woken ? HW_TIME_WAKING : asleep(task);
	task->is_woken = 0;
	if (is_over) {
		task->account->ended += task->accounted - task->came;
		task->account = NULL;
	}
}

void hw_task_is_woken(struct hw_task *task)
{
	if (!task->account)
		return;
	if (is_on_cpu(task)) {
		task->is_woken = 1;
		return;
	}
	settle(task);
	if (!task->waits_on)
		task->spends = HW_TIME_WAKING;
}

void hw_task_waits(struct hw_task *task, int cpu, int throttled)
{
	if (!task->account)
		return;
	task->is_woken = 0;
	if (is_on_cpu(task))
		return;
	settle(task);
	leave_queue(task);
	enter_queue(task, cpu);
	wait_on(task, cpu, throttled);
}

void hw_task_runs(struct hw_task *task)
{
	if (!task->account)
		return;
	settle(task);
	leave_queue(task);
	task->spends = task->was_in;
	cpus[hw.cpu].spender = task;
}

void hw_cpu_idles(int cpu, int now_idles, int now_free)
{
	if (now_free != is_free[cpu]) {
		is_free[cpu] = now_free;
		for (int i = 0; i < places_of[cpu].nr; i++) {
			struct hw_places *p = places_of[cpu].set[i];

			idle_time(p);
			p->idle += now_free ? 1 : -1;
		}
	}
	if (now_idles == idles[cpu])
		return;
	idles[cpu] = now_idles;
	for (struct hw_task *task = waiting[cpu]; task; task = task->next_waiting) {
		settle(task);
		wait_on(task, cpu, task->spends == HW_TIME_THROTTLED);
	}
}

/* ------------------------------------------------------------------ the window */

static void settle_all(void)
{
	for (int i = 0; i < hw_nr_cpus; i++)
		if (cpus[i].state == CPU_USER)
			cpu_count_work(&cpus[i]);
	for (struct hw_task *task = hw_first_task; task; task = task->next)
		if (task->account)
			settle(task);
}

void spent_begin_window(void)
{
	settle_all();
	for (struct hw_account *a = hw_first_account; a; a = a->next) {
		a->tasks = a->ended = 0;
		memset(a->ns, 0, sizeof(a->ns));
		memset(a->ran, 0, sizeof(a->ran));
	}
	for (struct hw_task *task = hw_first_task; task; task = task->next)
		if (task->account) {
			task->account->tasks++;
			task->came = task->accounted;
		}
}

/* Of each group the parts are the whole: the time its tasks were there in the window. */
static void check(const struct hw_account *a)
{
	simtime parts = 0;

	for (int i = 0; i < HW_NR_TIMES; i++)
		parts += a->ns[i];
	if (parts != a->ended) {
		fprintf(stderr, "schedsim: tasks %s were there for %llu ns, of which %llu ns are accounted\n",
			a->name, a->ended, parts);
		hw_die("tasks' time is not conserved", a->name, a->tasks);
	}
}

/* The run is over: for the accounts all tasks have ended. */
void hw_settle_times(void)
{
	settle_all();
	for (struct hw_task *task = hw_first_task; task; task = task->next)
		if (task->account) {
			task->account->ended += task->accounted - task->came;
			task->came = task->accounted;
		}
	for (const struct hw_account *a = hw_first_account; a; a = a->next)
		check(a);
}
