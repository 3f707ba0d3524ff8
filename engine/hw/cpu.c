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

struct sim_state sim = { .irq_due = SIM_NEVER, .catch_up = SIM_NEVER, .next = SIM_NEVER, .epoch = 1 };
struct cpu cpus[SIM_MAX_CPUS];
unsigned long events;

static void *main_sp;
static void **given_by;			/* saved stack of who gave the host to the running CPU */
static simtime control_due = SIM_NEVER;	/* the engine's own loop; at equal times CPUs come first */
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
	c->irq_due = min_time(c->vector[SIM_TIMER], min_time(c->vector[SIM_CALL], c->vector[SIM_RESCHED]));
}

/* When the stopped CPU wants the host again. */
static simtime wake_time(const struct cpu *c)
{
	switch (c->state) {
	case CPU_USER:
		return max_time(c->clk, min_time(c->resume, c->irq_due));
	case CPU_HALT:
		return max_time(c->clk, min_time(c->vector[SIM_POLL], c->irq_due));
	case CPU_POLL:
		return max_time(c->clk, min_time(c->resume, min_time(c->vector[SIM_POLL], c->irq_due)));
	case CPU_KERNEL:
	case CPU_CHANGE:
		return c->resume;
	default:
		return SIM_NEVER;
	}
}

void sim_power_on(void)
{
	cache_init();
	for (int i = 0; i < sim_nr_cpus; i++) {
		cpus[i].id = i;
		for (int v = 0; v < SIM_NR_VECTORS; v++)
			cpus[i].vector[v] = SIM_NEVER;
		cpus[i].irq_due = SIM_NEVER;
		cpus[i].rate = 65536;
		cpus[i].copies = cache_copies(i);
		speed_cpu_changed(i);
	}
	event_init(sim_nr_cpus);
}

/* Only ever earlier: while a CPU runs, sim.next is the earliest event of all others. */
void sim_ask_control(simtime t)
{
	control_due = min_time(control_due, t);
	sim.next = min_time(sim.next, t);
}

/* Earliest event of anybody but the running CPU, which has none in the queue. */
static inline simtime next_of_others(void)
{
	return min_time(event_key_time(event_first()), control_due);
}

static inline void load(struct cpu *c, simtime t)
{
	if (t < last_event)
		sim_die("event in the past", "cpu", c->id);
	last_event = t;
	events++;
	sim.cpu = c->id;
	sim.clk = max_time(c->clk, t);
	sim.irq_on = c->irq_on;
	sim.held = c->held;
	sim.current_task = c->current_task;
	sim.irq_due = c->irq_due;
	sim.slowdown = c->slowdown;
	sim.epoch++;
	sim.catch_up = sim.clk + sim_costs.catch_up;
	copies_here = c->copies;
	event_set(c->id, SIM_NEVER);
	sim.next = next_of_others();
}

/* Run whoever is first, or the engine's own loop.  Returns when it is the caller's turn. */
static inline void run_first(void **save_sp, event_key first)
{
	struct cpu *next = &cpus[event_key_slot(first)];
	simtime t = event_key_time(first);

	if (control_due < t) {
		sim_switch_context(save_sp, &main_sp);
		return;
	}
	given_by = save_sp;
	load(next, t);
	sim_switch_context(save_sp, &next->sp);
}

void *cpu_resumer(int *cpu)
{
	*cpu = given_by == &main_sp ? -1 : (struct cpu *)((char *)given_by - offsetof(struct cpu, sp)) - cpus;
	return given_by ? *given_by : NULL;
}

static void give_up(struct cpu *c, simtime wake)
{
	event_key first;

	if (wake <= sim.next) {		/* nobody comes before: go on at once */
		last_event = max_time(last_event, wake);
		events++;
		sim.clk = max_time(sim.clk, wake);
		sim.irq_due = c->irq_due;
		sim.epoch++;
		sim.catch_up = sim.clk + sim_costs.catch_up;
		if (wake == SIM_NEVER)
			sim_die("every CPU waits for ever", "cpu", c->id);
		return;
	}
	c->clk = sim.clk;
	c->irq_on = sim.irq_on;
	c->held = sim.held;
	c->current_task = sim.current_task;
	first = event_first();		/* and stays it: known without waiting for what is added */
	event_add(c->id, wake);
	run_first(&c->sp, first);
}

/* The engine's own turn: run CPUs until t, or until one of them asks for it. */
void sim_run_until(simtime t)
{
	control_due = t;
	if (event_key_time(event_first()) <= control_due)
		run_first(&main_sp, event_first());
	last_event = max_time(last_event, control_due);
	sim.clk = control_due;
}

static void account_kernel(struct cpu *c)
{
	simtime ns = sim.clk - c->mark;

	c->kernel_ns += ns;
	sim_counts.kernel_ns[c->entry] += ns;
	c->mark = sim.clk;
}

enum sim_entry sim_enter(enum sim_entry entry)
{
	struct cpu *c = &cpus[sim.cpu];
	enum sim_entry before = c->entry;

	account_kernel(c);
	c->entry = entry;
	return before;
}

/* Brings the accounts of CPUs in user mode or idle up to the present. */
void sim_settle_accounts(void)
{
	for (int i = 0; i < sim_nr_cpus; i++) {
		struct cpu *c = &cpus[i];
		simtime ns = sim.clk > c->mark ? sim.clk - c->mark : 0;

		if (c->state == CPU_USER)
			c->user_ns += ns;
		else if (c->state == CPU_HALT || c->state == CPU_POLL || c->state == CPU_CHANGE)
			c->idle_ns += ns;
		else if (c->state == CPU_OFF)
			c->off_ns += ns;
		else
			continue;
		c->mark += ns;
	}
}

/* ------------------------------------------------------------------ user mode */

/* work * 65536 / rate, rounded up, in two steps: the product of long work has more than 64 bits. */
static simtime work_time(const struct cpu *c)
{
	simtime whole = c->task->work / c->rate, rest = c->task->work % c->rate;

	if (c->task->spins_until)
		return c->task->work;
	if (whole >= EVENT_NEVER / 65536)
		return EVENT_NEVER;
	return whole * 65536 + (rest * 65536 + c->rate - 1) / c->rate;
}

static void progress(struct cpu *c, simtime now)
{
	simtime done;

	if (now <= c->since)
		return;
	done = now - c->since;
	c->since = now;
	if (!c->task->spins_until)
		done = done / 65536 * c->rate + done % 65536 * c->rate / 65536;
	c->task->work -= min_time(done, c->task->work);
}

int sim_run_user(struct sim_task *task)
{
	struct cpu *c = &cpus[sim.cpu];

	c->clk = sim.clk;
	account_kernel(c);
	if (sim.clk >= sim.irq_due)
		return 0;
	c->task = task;
	c->state = CPU_USER;
	c->since = sim.clk;
	speed_task_starts(c);
	if (task->spins_until)
		task->work = task->spins_until > sim.clk ? task->spins_until - sim.clk : 0;
	c->resume = sim.clk;
	if (task->work) {
		c->rate = speed_of(c, task);
		c->resume += work_time(c);
	}
	give_up(c, min_time(c->resume, sim.irq_due));

	if (sim.clk >= c->resume)
		task->work = 0;
	else
		progress(c, sim.clk);
	speed_task_stops(c);
	c->state = CPU_KERNEL;
	c->user_ns += sim.clk - c->mark;
	c->mark = sim.clk;
	return task->work == 0 && sim.clk < sim.irq_due;
}

/* Its sibling, its frequency or its node's memory traffic changed. */
void cpu_update_rate(int cpu)
{
	struct cpu *c = &cpus[cpu];
	simtime wake;

	if (c->state != CPU_USER)
		return;
	progress(c, sim.clk);
	c->rate = speed_of(c, c->task);
	c->resume = max_time(c->since, c->clk) + work_time(c);
	if (cpu == sim.cpu)
		return;
	wake = wake_time(c);
	event_set(cpu, max_time(wake, last_event));
	sim.next = next_of_others();
}

/* ------------------------------------------------------------------ idle and waiting */

void sim_halt(int polling, simtime until)
{
	struct cpu *c = &cpus[sim.cpu];

	account_kernel(c);
	if (sim.clk < sim.irq_due) {
		c->state = polling ? CPU_POLL : CPU_HALT;
		c->resume = until;
		speed_siblings_changed(sim.cpu);
		c->clk = sim.clk;
		give_up(c, wake_time(c));
		c->state = CPU_KERNEL;
		speed_siblings_changed(sim.cpu);
	}
	c->vector[SIM_POLL] = SIM_NEVER;
	c->idle_ns += sim.clk - c->mark;
	c->mark = sim.clk;
}

/* Idle for the accounts; busy: siblings see a CPU at work. */
void sim_idle_change(simtime ns, int busy)
{
	struct cpu *c = &cpus[sim.cpu];

	if (!ns)
		return;
	account_kernel(c);
	if (!busy) {
		c->state = CPU_CHANGE;
		speed_siblings_changed(sim.cpu);
	}
	c->resume = sim.clk + ns;
	give_up(c, c->resume);
	if (!busy) {
		c->state = CPU_KERNEL;
		speed_siblings_changed(sim.cpu);
	}
	c->idle_ns += sim.clk - c->mark;
	c->mark = sim.clk;
}

void sim_wait_until(simtime t)
{
	struct cpu *c = &cpus[sim.cpu];

	c->state = CPU_KERNEL;
	c->resume = t;
	give_up(c, t);
}

void sim_catch_up(void)
{
	sim_counts.catch_ups++;
	if (sim.clk > sim.next)
		sim_wait_until(sim.clk);
	else
		sim.catch_up = sim.clk + sim_costs.catch_up;
}

/* Others come as far as this CPU is: what it does next, all see in order of time. */
void sim_order(void)
{
	if (sim.clk > sim.next && !sim.held)
		sim_catch_up();
}

void sim_spin(void)
{
	if (!sim.live)
		sim_die("something waits at boot", "sim_spin", 0);
	sim_counts.spins++;
	sim.clk += sim_costs.spin;
	sim_wait_until(sim.clk);
	if (sim.irq_on && sim.clk >= sim.irq_due)
		interrupt();
}

/* ------------------------------------------------------------------ interrupts */

void sim_on_interrupt(void (*handler)(void))
{
	interrupt = handler;
}

int sim_take_vector(void)
{
	struct cpu *c = &cpus[sim.cpu];
	int first = SIM_TIMER;

	for (int v = SIM_CALL; v <= SIM_RESCHED; v++)
		if (c->vector[v] < c->vector[first])
			first = v;
	if (c->vector[first] > sim.clk)
		return -1;
	c->vector[first] = SIM_NEVER;
	set_irq_due(c);
	sim.irq_due = c->irq_due;
	return first;
}

void sim_set_timer(simtime expires)
{
	struct cpu *c = &cpus[sim.cpu];

	c->vector[SIM_TIMER] = expires;
	set_irq_due(c);
	sim.irq_due = c->irq_due;
}

void sim_send_vector(int cpu, int vector, simtime latency)
{
	struct cpu *c = &cpus[cpu];
	simtime t = sim.clk + latency, wake;

	if (c->vector[vector] <= t || c->state == CPU_OFF)
		return;
	c->vector[vector] = t;
	set_irq_due(c);
	if (cpu == sim.cpu) {
		sim.irq_due = c->irq_due;
		return;
	}
	if (!sim.live)
		return;
	wake = wake_time(c);
	if (wake < event_time(cpu)) {
		event_add(cpu, wake);
		sim.next = min_time(sim.next, wake);
	}
}

int sim_in_kernel(int cpu)
{
	return cpus[cpu].state == CPU_KERNEL || cpus[cpu].state == CPU_CHANGE;
}

void sim_context_switch(void *next_task, struct sim_task *next)
{
	struct cpu *c = &cpus[sim.cpu];

	sim.current_task = next_task;
	c->task = next;
	c->vector[SIM_POLL] = SIM_NEVER;
	sim.epoch++;
}

/* ------------------------------------------------------------------ CPUs coming and going */

void sim_set_boot_cpu(int cpu, void *task)
{
	cpus[sim.cpu].state = CPU_KERNEL;
	sim.cpu = cpu;
	sim.current_task = task;
	sim.irq_on = 0;
	sim.irq_due = SIM_NEVER;
	sim.epoch++;
	cpus[cpu].state = CPU_KERNEL;
}

void sim_start_cpu(int cpu, void *sp, void *task)
{
	struct cpu *c = &cpus[cpu];

	c->sp = sp;
	c->current_task = task;
	c->state = CPU_KERNEL;
	c->clk = c->mark = c->started = c->resume = sim.clk;
	c->kernel_ns = 0;
	c->irq_on = 0;
	event_set(cpu, sim.clk);
	speed_siblings_changed(cpu);
}

void sim_cpu_dead(void)
{
	struct cpu *c = &cpus[sim.cpu];

	account_kernel(c);
	c->state = CPU_OFF;
	for (int v = 0; v < SIM_NR_VECTORS; v++)
		c->vector[v] = SIM_NEVER;
	c->irq_due = SIM_NEVER;
	speed_siblings_changed(sim.cpu);
	give_up(c, SIM_NEVER);
}

void sim_cpu_alive(int cpu, void *sp, void *task)
{
	struct cpu *c = &cpus[cpu];

	c->off_ns += sim.clk - c->mark;
	c->mark = c->clk = c->resume = sim.clk;
	c->sp = sp;
	c->current_task = task;
	c->irq_on = 0;
	c->held = 0;
	c->state = CPU_KERNEL;
	speed_siblings_changed(cpu);
	event_set(cpu, sim.clk);
	sim.next = next_of_others();
}

struct sim_task *sim_running_task(void)
{
	return cpus[sim.cpu].task;
}

struct sim_cpu_time sim_cpu_time(int cpu)
{
	const struct cpu *c = &cpus[cpu];

	return (struct sim_cpu_time) { c->user_ns, c->kernel_ns, c->idle_ns, c->off_ns };
}

void sim_check_time(void)
{
	for (int i = 0; i < sim_nr_cpus; i++) {
		const struct cpu *c = &cpus[i];

		if (c->user_ns + c->kernel_ns + c->idle_ns + c->off_ns != c->mark - c->started)
			sim_die("time is not conserved", "cpu", i);
	}
}

unsigned long sim_events(void)
{
	return events;
}

simtime sim_cpu_busy_ns(int cpu)
{
	return cpus[cpu].user_ns + cpus[cpu].kernel_ns;
}
