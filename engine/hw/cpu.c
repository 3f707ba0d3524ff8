// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated CPUs.  Each runs on its own coroutine; one that has to wait gives
 * the host to the CPU whose event comes first.  Clocks of different CPUs differ
 * by less than the machine's catch_up allowance.
 */
#include <stddef.h>
#include <string.h>
#include "event.h"
#include "inside.h"

struct hw_state hw = { .irq_due = HW_NEVER, .catch_up = HW_NEVER, .next = HW_NEVER, .epoch = 1 };
struct cpu cpus[HW_MAX_CPUS];
static const struct pace full_pace = { 65536, 65536, 65536, 65536 };
unsigned long events;

static void *main_sp;
static void **given_by;			/* saved stack of the coroutine that resumed the running CPU */
static simtime control_due = HW_NEVER;	/* the engine's own loop; at equal times CPUs come first */
static simtime last_event;
static void (*interrupt)(void);

static inline simtime min_time(simtime a, simtime b)
{
	return a < b ? a : b;
}

static inline simtime max_time(simtime a, simtime b)
{
	return a > b ? a : b;
}

static void set_irq_due(struct cpu *c)
{
	c->irq_due = min_time(c->vector[HW_TIMER], min_time(c->vector[HW_CALL], c->vector[HW_RESCHED]));
}

/* When the stopped CPU wants the host again. */
static simtime wake_time(const struct cpu *c)
{
	switch (c->state) {
	case CPU_USER:
		return max_time(c->clk, min_time(c->resume, c->irq_due));
	case CPU_HALT:
		return max_time(c->clk, min_time(c->vector[HW_POLL], c->irq_due));
	case CPU_POLL:
		return max_time(c->clk, min_time(c->resume, min_time(c->vector[HW_POLL], c->irq_due)));
	case CPU_KERNEL:
	case CPU_CHANGE:
		return c->resume;
	default:
		return HW_NEVER;
	}
}

void hw_power_on(void)
{
	cache_init();
	for (int i = 0; i < hw_nr_cpus; i++) {
		cpus[i].id = i;
		for (int v = 0; v < HW_NR_VECTORS; v++)
			cpus[i].vector[v] = HW_NEVER;
		cpus[i].irq_due = HW_NEVER;
		cpus[i].pace = full_pace;
		cpus[i].entry = HW_ENTRY_OTHER;
		cpus[i].copies = cache_copies(i);
		speed_cpu_changed(i);
	}
	power_init();
	event_init(hw_nr_cpus);
}

/* Only ever earlier: while a CPU runs, hw.next is the earliest event of all others. */
void hw_ask_control(simtime t)
{
	control_due = min_time(control_due, t);
	hw.next = min_time(hw.next, t);
}

/* A CPU has one lock less, whoever found that out. */
void hw_let_go(int cpu)
{
	int *held = cpu == hw.cpu ? &hw.held : &cpus[cpu].held;

	(*held)--;
}

/* Earliest event of anybody but the running CPU, which has none in the queue. */
static inline simtime next_of_others(void)
{
	return min_time(event_key_time(event_first()), control_due);
}

static inline void load(struct cpu *c, simtime t)
{
	if (t < last_event)
		hw_die("event in the past", "cpu", c->id);
	last_event = t;
	events++;
	hw.cpu = c->id;
	hw.clk = max_time(c->clk, t);
	hw.irq_on = c->irq_on;
	hw.held = c->held;
	hw.current_task = c->current_task;
	hw.irq_due = c->irq_due;
	hw.slowdown = c->slowdown;
	hw.epoch++;
	hw.catch_up = hw.clk + hw_costs.catch_up;
	copies_here = c->copies;
	event_take(c->id);
	hw.next = next_of_others();
}

/* Run whoever is first, or the engine's own loop.  Returns when it is the caller's turn. */
static inline void run_first(void **save_sp, event_key first)
{
	struct cpu *next = &cpus[event_key_slot(first)];
	simtime t = event_key_time(first);

	if (control_due < t) {
		hw_switch_context(save_sp, &main_sp);
		return;
	}
	if (t == EVENT_NEVER)
		hw_die("every CPU waits for ever", "cpu", hw.cpu);
	given_by = save_sp;
	load(next, t);
	hw_switch_context(save_sp, &next->sp);
}

void *cpu_resumer(int *cpu)
{
	*cpu = given_by == &main_sp ? -1 : (struct cpu *)((char *)given_by - offsetof(struct cpu, sp)) - cpus;
	return given_by ? *given_by : NULL;
}

static inline void let_others_run(struct cpu *c, simtime wake)
{
	event_key first = event_first(); /* and stays it: known without waiting for what is added */

	c->clk = hw.clk;
	c->irq_on = hw.irq_on;
	c->held = hw.held;
	c->current_task = hw.current_task;
	event_add(c->id, wake);
	run_first(&c->sp, first);
}

static void give_up(struct cpu *c, simtime wake)
{
	if (wake <= hw.next) {		/* nobody comes before: go on at once */
		last_event = max_time(last_event, wake);
		events++;
		hw.clk = max_time(hw.clk, wake);
		hw.irq_due = c->irq_due;
		hw.epoch++;
		hw.catch_up = hw.clk + hw_costs.catch_up;
		return;
	}
	let_others_run(c, wake);
}

/* The engine's own turn: run CPUs until t, or until one of them asks for it. */
void hw_run_until(simtime t)
{
	control_due = t;
	if (event_key_time(event_first()) <= control_due)
		run_first(&main_sp, event_first());
	last_event = max_time(last_event, control_due);
	hw.clk = control_due;
}

static __attribute__((noinline)) void picture(struct cpu *c, enum hw_picture_kind kind)
{
	if (kind == HW_PICTURE_BUSY && c->task)
		kind += c->task->group;
	picture_add(c->id, kind, max_time(c->mark, c->pictured), hw.clk);
	c->pictured = hw.clk;
}

/* The time since the CPU's mark goes into one of its accounts, and into the picture. */
static inline simtime account(struct cpu *c, simtime *sum, enum hw_picture_kind kind)
{
	simtime ns = hw.clk - c->mark;

	*sum += ns;
	if (__builtin_expect(picture_on, 0))
		picture(c, kind);
	c->mark = hw.clk;
	return ns;
}

static inline void account_kernel(struct cpu *c)
{
	hw_counts.kernel_ns[c->entry] += account(c, &c->kernel_ns, HW_PICTURE_BUSY);
}

enum hw_entry hw_enter(enum hw_entry entry)
{
	struct cpu *c = &cpus[hw.cpu];
	enum hw_entry before = c->entry;

	account_kernel(c);
	c->entry = entry;
	return before;
}

/* What the present task had of the CPU. */
static void count_task(struct cpu *c)
{
	if (c->task && c->task->account)
		c->task->account->ran[hw_cpu_topo[c->id].kind] += hw.clk - c->ran_from;
	c->ran_from = hw.clk;
}

/* Brings the accounts of CPUs in user mode or idle up to the present, and those of tasks. */
void hw_settle_accounts(void)
{
	for (int i = 0; i < hw_nr_cpus; i++) {
		struct cpu *c = &cpus[i];

		count_task(c);
		if (hw.clk <= c->mark)
			continue;
		if (c->state == CPU_USER)
			account(c, &c->user_ns, HW_PICTURE_BUSY);
		else if (c->state == CPU_HALT || c->state == CPU_POLL || c->state == CPU_CHANGE)
			account(c, &c->idle_ns, HW_PICTURE_IDLE);
		else if (c->state == CPU_OFF)
			account(c, &c->off_ns, HW_PICTURE_OFFLINE);
	}
}

/* ------------------------------------------------------------------ user mode */

/*
 * Time is counted in ns, and where lines are waited for in parts of one; a pace says how much of
 * 65536 parts of work is done meanwhile.  So work has parts that are smaller than both.
 */
#define WORK_PARTS	((simtime)65536 * REFILL_PARTS)

/*
 * The ns that the task's work takes: work / pace, rounded up, less what it is ahead.  In two steps,
 * as the product of long work has more than 64 bits.
 */
static simtime time_at_pace(const struct cpu *c)
{
	simtime whole = c->task->work / c->pace.all, ahead = c->task->ahead;
	simtime rest = c->task->work % c->pace.all * WORK_PARTS, ns = (simtime)c->pace.all * REFILL_PARTS;

	if (whole >= EVENT_NEVER / 65536)
		return EVENT_NEVER;
	if (rest < ahead) {
		if (!whole)
			return 0;
		whole--;
		rest += (simtime)c->pace.all * WORK_PARTS;
	}
	return whole * 65536 + (rest - ahead + ns - 1) / ns;
}

/* What is less than a ns of work is done ahead: it counts the next time. */
simtime work_at_pace(struct cpu *c, simtime time)
{
	simtime parts = time % WORK_PARTS * c->pace.all + c->task->ahead;

	c->task->ahead = parts % WORK_PARTS;
	return time / WORK_PARTS * c->pace.all + parts / WORK_PARTS;
}

/* Some of its footprint is not there; who busy-waits has none to go over. */
static int is_cold(const struct hw_task *task)
{
	if (task->spins_until)
		return 0;
	return task->cold_l1 || task->cold_new.lines || task->cold_near.lines ||
	       task->cold_far.lines || task->owed >= REFILL_PARTS;
}

static simtime work_time(const struct cpu *c)
{
	simtime ns;

	if (c->task->spins_until)
		return c->task->work;
	ns = time_at_pace(c);
	return is_cold(c->task) && ns != EVENT_NEVER ? ns + refill_wait(c->task) : ns;
}

static void progress(struct cpu *c, simtime now)
{
	simtime done;

	if (now <= c->since)
		return;
	done = now - c->since;
	c->since = now;
	if (is_cold(c->task))
		done = refill_work_in(c, done);
	else if (!c->task->spins_until)
		done = work_at_pace(c, done * REFILL_PARTS);
	c->task->work -= min_time(done, c->task->work);
}

/* Of a CPU in user mode: its task's work, and where the time went, up to now. */
void cpu_count_work(struct cpu *c)
{
	progress(c, hw.clk);
	spent_in_user(c);
}

/* Its time was rounded up: the task did more, by less than a ns. */
static void finish_work(struct cpu *c)
{
	struct hw_task *task = c->task;

	if (!task->spins_until)
		task->ahead += time_at_pace(c) * c->pace.all * REFILL_PARTS - task->work * WORK_PARTS;
	if (is_cold(task))
		refill_work_done(c);
	task->work = 0;
}

int hw_run_user(struct hw_task *task)
{
	struct cpu *c = &cpus[hw.cpu];

	c->clk = hw.clk;
	account_kernel(c);
	if (hw.clk >= hw.irq_due)
		return 0;
	hw_spend_on(task->spends);
	c->task = task;
	c->state = CPU_USER;
	c->since = hw.clk;
	speed_task_starts(c);
	if (task->spins_until)
		task->work = task->spins_until > hw.clk ? task->spins_until - hw.clk : 0;
	c->resume = hw.clk;
	if (task->work || task->owed >= REFILL_PARTS) {
		c->pace = speed_of(c, task);
		c->resume += work_time(c);
	}
	give_up(c, min_time(c->resume, hw.irq_due));

	if (hw.clk >= c->resume)
		finish_work(c);
	else
		progress(c, hw.clk);
	spent_in_user(c);
	speed_task_stops(c);
	c->state = CPU_KERNEL;
	account(c, &c->user_ns, HW_PICTURE_BUSY);
	return task->work == 0 && hw.clk < hw.irq_due;
}

/*
 * As hw_run_user() of a task without work: interrupts, and the others come as far as this CPU is.
 */
int hw_pass_user(struct hw_task *task)
{
	struct cpu *c = &cpus[hw.cpu];

	if (task->memory_share)
		return hw_run_user(task);
	account_kernel(c);
	if (hw.clk >= hw.irq_due)
		return 0;
	hw_spend_on(task->spends);
	c->task = task;
	boost_look(c->id);
	c->state = CPU_USER;
	c->since = c->resume = hw.clk;
	if (hw.clk <= hw.next)
		give_up(c, hw.clk);
	else
		let_others_run(c, hw.clk);
	c->state = CPU_KERNEL;
	return hw.clk < hw.irq_due;
}

/* Its sibling, its frequency or its node's memory traffic changed. */
void cpu_update_rate(int cpu)
{
	struct cpu *c = &cpus[cpu];
	simtime wake;

	/* this CPU may be ahead of it in time */
	if (c->state != CPU_USER || wake_time(c) <= hw.clk)
		return;
	cpu_count_work(c);
	c->pace = speed_of(c, c->task);
	c->resume = max_time(c->since, c->clk) + work_time(c);
	if (cpu == hw.cpu)
		return;
	wake = wake_time(c);
	event_set(cpu, max_time(wake, last_event));
	hw.next = next_of_others();
}

/* ------------------------------------------------------------------ idle and waiting */

void hw_halt(int state, int polling, simtime until)
{
	struct cpu *c = &cpus[hw.cpu];

	account_kernel(c);
	power_cpu_idle(hw.cpu, state);
	if (hw.clk < hw.irq_due) {
		c->state = polling ? CPU_POLL : CPU_HALT;
		c->resume = until;
		speed_siblings_changed(hw.cpu);
		c->clk = hw.clk;
		give_up(c, wake_time(c));
		c->state = CPU_KERNEL;
		speed_siblings_changed(hw.cpu);
	}
	c->vector[HW_POLL] = HW_NEVER;
	account(c, &c->idle_ns, HW_PICTURE_IDLE);
	power_cpu_busy(hw.cpu);
}

/* Idle for the accounts; busy: siblings see a CPU at work. */
void hw_idle_change(int state, simtime ns, int busy)
{
	struct cpu *c = &cpus[hw.cpu];

	if (!ns)
		return;
	account_kernel(c);
	power_cpu_changes(hw.cpu, state);
	if (!busy) {
		c->state = CPU_CHANGE;
		speed_siblings_changed(hw.cpu);
	}
	c->resume = hw.clk + ns;
	give_up(c, c->resume);
	if (!busy) {
		c->state = CPU_KERNEL;
		speed_siblings_changed(hw.cpu);
	}
	account(c, &c->idle_ns, HW_PICTURE_IDLE);
	power_cpu_busy(hw.cpu);
}

void hw_wait_until(simtime t)
{
	struct cpu *c = &cpus[hw.cpu];

	c->state = CPU_KERNEL;
	c->resume = t;
	give_up(c, t);
}

/* Most of all events: it waits for nothing but the others. */
void hw_catch_up(void)
{
	struct cpu *c = &cpus[hw.cpu];

	hw_counts.catch_ups++;
	if (hw.clk <= hw.next) {
		hw.catch_up = hw.clk + hw_costs.catch_up;
		return;
	}
	c->state = CPU_KERNEL;
	c->resume = hw.clk;
	let_others_run(c, hw.clk);
}

#define LOCKUP	(100 * MSEC)	/* no CPU waits longer with interrupts off and goes on */

/* What the kernel's detector of hard lockups would say after 10 s. */
static void check_lockup(struct cpu *c, simtime from)
{
	if (hw.irq_on || c->spins_to != from)
		c->spins_from = from;
	c->spins_to = hw.clk;
	if (hw.clk - c->spins_from > LOCKUP)
		hw_die("hard lockup: a CPU waits for another one with interrupts off", "hw_spin", 0);
}

void hw_spin(void)
{
	simtime from = hw.clk;

	if (!hw.live)
		hw_die("something waits at boot", "hw_spin", 0);
	hw_counts.spins++;
	hw.clk += hw_costs.spin;
	hw_wait_until(hw.clk);
	hw_spent(HW_TIME_LOCK, from);
	check_lockup(&cpus[hw.cpu], from);
	if (hw.irq_on && hw.clk >= hw.irq_due)
		interrupt();
}

/* ------------------------------------------------------------------ interrupts */

void hw_on_interrupt(void (*handler)(void))
{
	interrupt = handler;
}

int hw_take_vector(void)
{
	struct cpu *c = &cpus[hw.cpu];
	int first = HW_TIMER;

	for (int v = HW_CALL; v <= HW_RESCHED; v++)
		if (c->vector[v] < c->vector[first])
			first = v;
	if (c->vector[first] > hw.clk)
		return -1;
	c->vector[first] = HW_NEVER;
	set_irq_due(c);
	hw.irq_due = c->irq_due;
	return first;
}

void hw_set_timer(simtime expires)
{
	struct cpu *c = &cpus[hw.cpu];

	c->vector[HW_TIMER] = expires;
	set_irq_due(c);
	hw.irq_due = c->irq_due;
}

void hw_send_vector(int cpu, int vector, simtime latency)
{
	struct cpu *c = &cpus[cpu];
	simtime t = hw.clk + latency, wake;

	if (c->vector[vector] <= t || c->state == CPU_OFF)
		return;
	c->vector[vector] = t;
	set_irq_due(c);
	if (cpu == hw.cpu) {
		hw.irq_due = c->irq_due;
		return;
	}
	if (!hw.live)
		return;
	wake = wake_time(c);
	if (wake < event_time(cpu)) {
		event_add(cpu, wake);
		hw.next = min_time(hw.next, wake);
	}
}

/* From the engine's own turn, when no CPU runs. */
void hw_interrupt(int cpu, int vector)
{
	struct cpu *c = &cpus[cpu];

	c->vector[vector] = min_time(c->vector[vector], hw.clk);
	set_irq_due(c);
	if (wake_time(c) < event_time(cpu))
		event_add(cpu, wake_time(c));
}

int hw_in_kernel(int cpu)
{
	return cpus[cpu].state == CPU_KERNEL || cpus[cpu].state == CPU_CHANGE;
}

void hw_context_switch(void *next_task, struct hw_task *next)
{
	struct cpu *c = &cpus[hw.cpu];

	count_task(c);
	if (picture_on)
		picture(c, HW_PICTURE_BUSY);
	hw.current_task = next_task;
	c->task = next;
	c->vector[HW_POLL] = HW_NEVER;
	hw.epoch++;
}

/* ------------------------------------------------------------------ CPUs coming and going */

void hw_set_boot_cpu(int cpu, void *task)
{
	cpus[hw.cpu].state = CPU_KERNEL;
	hw.cpu = cpu;
	hw.current_task = task;
	hw.irq_on = 0;
	hw.irq_due = HW_NEVER;
	hw.epoch++;
	cpus[cpu].state = CPU_KERNEL;
}

void hw_start_cpu(int cpu, void *sp, void *task)
{
	struct cpu *c = &cpus[cpu];

	c->sp = sp;
	c->current_task = task;
	c->state = CPU_KERNEL;
	c->clk = c->mark = c->started = c->resume = hw.clk;
	c->kernel_ns = 0;
	c->irq_on = 0;
	power_cpu_busy(cpu);
	event_set(cpu, hw.clk);
	speed_siblings_changed(cpu);
}

void hw_cpu_dead(void)
{
	struct cpu *c = &cpus[hw.cpu];

	account_kernel(c);
	c->state = CPU_OFF;
	for (int v = 0; v < HW_NR_VECTORS; v++)
		c->vector[v] = HW_NEVER;
	c->irq_due = HW_NEVER;
	power_cpu_off(hw.cpu);
	speed_siblings_changed(hw.cpu);
	give_up(c, HW_NEVER);
}

void hw_cpu_alive(int cpu, void *sp, void *task)
{
	struct cpu *c = &cpus[cpu];

	account(c, &c->off_ns, HW_PICTURE_OFFLINE);
	c->clk = c->resume = hw.clk;
	c->sp = sp;
	c->current_task = task;
	c->irq_on = 0;
	c->held = 0;
	c->state = CPU_KERNEL;
	power_cpu_busy(cpu);
	speed_siblings_changed(cpu);
	event_set(cpu, hw.clk);
	hw.next = next_of_others();
}

struct hw_task *hw_running_task(void)
{
	return cpus[hw.cpu].task;
}

struct hw_cpu_time hw_cpu_time(int cpu)
{
	const struct cpu *c = &cpus[cpu];

	return (struct hw_cpu_time) { c->user_ns, c->kernel_ns, c->idle_ns, c->off_ns };
}

void hw_check_time(void)
{
	for (int i = 0; i < hw_nr_cpus; i++) {
		const struct cpu *c = &cpus[i];

		if (c->user_ns + c->kernel_ns + c->idle_ns + c->off_ns != c->mark - c->started)
			hw_die("time is not conserved", "cpu", i);
	}
}

unsigned long hw_events(void)
{
	return events;
}
