// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs going up and down: kernel/cpu.c's steps in its order, with the callbacks
 * that the linked kernel sources register.
 */
#include <linux/stop_machine.h>
#include <linux/completion.h>
#include <linux/clockchips.h>
#include <linux/cpuset.h>
#include <linux/sched/isolation.h>
#include "shim.h"

#define MAX_STEPS 16

struct step {
	enum cpuhp_state state;
	int (*startup)(unsigned int cpu);
	int (*teardown)(unsigned int cpu);
};

static struct step steps[MAX_STEPS];	/* registered ones, by state */
static int nr_steps;
static bool idle_dead[NR_CPUS];

bool cpuhp_tasks_frozen;

DEFINE_STATIC_PERCPU_RWSEM(cpu_hotplug_lock);

void cpus_read_lock(void)
{
	percpu_down_read(&cpu_hotplug_lock);
}

int cpus_read_trylock(void)
{
	return percpu_down_read_trylock(&cpu_hotplug_lock);
}

void cpus_read_unlock(void)
{
	percpu_up_read(&cpu_hotplug_lock);
}

void lockdep_assert_cpus_held(void)
{
}

#ifndef CONFIG_CPUSETS
/* Taken twice, the lock would make its holder wait for itself once a CPU is to go off-line. */
void rebuild_sched_domains(void)
{
#ifdef TREE_HAS_CPUSET_TAKES_LOCK
	rebuild_sched_domains_cpuslocked();
#else
	cpus_read_lock();
	rebuild_sched_domains_cpuslocked();
	cpus_read_unlock();
#endif
}
#endif

static void run_range(unsigned int cpu, bool up, enum cpuhp_state from, enum cpuhp_state to)
{
	int i;

	for (i = 0; i < nr_steps; i++) {
		struct step *s = &steps[up ? i : nr_steps - 1 - i];

		if (s->state < from || s->state > to)
			continue;
		if (up ? s->startup && s->startup(cpu) : s->teardown && s->teardown(cpu))
			hw_die("a hotplug callback failed", "state", s->state);
	}
}

#ifdef TREE_HAS_TMIGR_ROOTS
/*
 * Timer migration registers before the other CPUs come up, each prepared and online before the
 * next: as many roots of its hierarchy as CPUs that are prepared and not online would be too many.
 */
static int (*prepare_migration)(unsigned int cpu);

static bool prepare_later(enum cpuhp_state state, int (*startup)(unsigned int cpu))
{
	if (state != CPUHP_TMIGR_PREPARE)
		return false;
	prepare_migration = startup;
	return true;
}

static void prepare_now(enum cpuhp_state state, unsigned int cpu, unsigned int boot_cpu)
{
	if (state == CPUHP_AP_TMIGR_ONLINE && cpu != boot_cpu && prepare_migration(cpu))
		hw_die("a hotplug callback failed", "tmigr:prepare", state);
}
#else
static bool prepare_later(enum cpuhp_state state, int (*startup)(unsigned int cpu)) { return false; }
static void prepare_now(enum cpuhp_state state, unsigned int cpu, unsigned int boot_cpu) { }
#endif

/* The linked sources register at boot: their startup runs for every CPU that is up. */
int __cpuhp_setup_state(enum cpuhp_state state, const char *name, bool invoke,
			int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu),
			bool multi_instance)
{
	int cpu, i = nr_steps;

	if (nr_steps == MAX_STEPS)
		hw_die("too many hotplug states", name, 0);
	while (i > 0 && steps[i - 1].state > state) {
		steps[i] = steps[i - 1];
		i--;
	}
	steps[i] = (struct step) { state, startup, teardown };
	nr_steps++;
	if (prepare_later(state, startup))
		return startup(hw.cpu);
	if (invoke && startup) {
		int boot_cpu = hw.cpu;
		void *boot_task = current;

		for_each_online_cpu(cpu) {
			prepare_now(state, cpu, boot_cpu);
			/* preparing is the controlling CPU's work */
			if (cpu != boot_cpu && state > CPUHP_BRINGUP_CPU)
				hw_set_boot_cpu(cpu, raw_cpu_rq(cpu)->curr);
			/*
			 * no mutex of a callback's may switch to whoever has been woken: this is
			 * still boot
			 */
			__preempt_count_add(1);
			if (startup(cpu))
				hw_die("a hotplug callback failed", name, state);
			__preempt_count_sub(1);
			hw_set_boot_cpu(boot_cpu, boot_task);
		}
	}
	return 0;
}

static void prepare(unsigned int cpu)
{
	hrtimers_prepare_cpu(cpu);
	smpcfd_prepare_cpu(cpu);
	run_range(cpu, true, CPUHP_OFFLINE, CPUHP_BRINGUP_CPU - 1);
	timers_prepare_cpu(cpu);
}

/* On the CPU, interrupts off. */
static void starting(unsigned int cpu)
{
	shim_sibling_comes(cpu);
	sched_cpu_starting(cpu);
#ifdef TREE_HAS_HRTIMERS_STARTING
	hrtimers_cpu_starting(cpu);
#endif
	run_range(cpu, true, CPUHP_AP_OFFLINE, CPUHP_AP_ONLINE - 1);
	shim_setup_clockevent();
	set_cpu_online(cpu, true);
}

static void online(unsigned int cpu)
{
	smpboot_unpark_threads(cpu);
	run_range(cpu, true, CPUHP_AP_ONLINE, CPUHP_AP_ACTIVE - 1);
	sched_cpu_activate(cpu);
}

/* At boot, with nothing running anywhere. */
void shim_cpuhp_bring_up(unsigned int cpu)
{
	prepare(cpu);
	hw_set_boot_cpu(cpu, raw_cpu_rq(cpu)->idle);
	starting(cpu);
	sched_cpu_activate(cpu);
	hw_progress();
}

void cpuhp_online_idle(enum cpuhp_state state)
{
	if (state == CPUHP_AP_ONLINE_IDLE)
		stop_machine_unpark(hw.cpu);
}

/* ------------------------------------------------------------------ while the machine runs */

struct ap_work {
	unsigned int cpu;
	bool up;
	int ret;
	struct completion done;
};

/* What the kernel's cpuhp/N threads do. */
static void ap_thread(void *arg)
{
	struct ap_work *work = arg;
	unsigned int cpu = work->cpu;

	shim_kernel_work(hw_costs.hotplug);
	if (work->up) {
		online(cpu);
	} else {
		work->ret = sched_cpu_deactivate(cpu);	/* undoes what it did, if it refuses */
		if (work->ret)
			goto done;
		run_range(cpu, false, CPUHP_AP_ONLINE, CPUHP_AP_ACTIVE - 1);
		smpboot_park_threads(cpu);
		sched_cpu_wait_empty(cpu);
	}
done:
	complete(&work->done);
}

static int run_on_ap(unsigned int cpu, bool up)
{
	struct ap_work work = { .cpu = cpu, .up = up };
	struct task_struct *p;
	char comm[TASK_COMM_LEN];

	init_completion(&work.done);
	snprintf(comm, sizeof(comm), "cpuhp/%u", cpu);
	p = shim_kthread_create(ap_thread, &work, cpu, comm);
	get_task_struct(p);
	wake_up_new_task(p);
	wait_for_completion(&work.done);
	/* As kthread_park() does: it must have left the queue of a CPU that goes away. */
	while (READ_ONCE(p->on_rq) || READ_ONCE(p->on_cpu))
		if (READ_ONCE(p->on_cpu))
			cpu_relax();
		else
			schedule_timeout_uninterruptible(1);
	put_task_struct(p);
	return work.ret;
}

static int take_down(void *unused)
{
	unsigned int cpu = hw.cpu;

	shim_sibling_goes(cpu);
	set_cpu_online(cpu, false);
	run_range(cpu, false, CPUHP_AP_OFFLINE, CPUHP_AP_ONLINE - 1);
	shim_tick_cpu_dying(cpu);
#ifdef TREE_HAS_HRTIMERS_DYING
	hrtimers_cpu_dying(cpu);
#endif
	smpcfd_dying_cpu(cpu);
	sched_cpu_dying(cpu);
	stop_machine_park(cpu);
	return 0;
}

void cpuhp_report_idle_dead(void)
{
	idle_dead[hw.cpu] = true;
}

void arch_cpu_idle_dead(void)
{
	hw_cpu_dead();
	unreachable();
}

/* cpu_up_down_serialize_trainwrecks(): 6.1 rebuilds the domains in a work. */
static void wait_for_cpusets(void)
{
#ifdef TREE_HAS_CPUSET_HOTPLUG_WORK
	cpuset_wait_for_hotplug();
#endif
}

/* As cpu_down() asks: else a rebuilt domain would span no CPU. */
static bool is_last_housekeeper(int cpu)
{
	int other;

	for_each_cpu_and(other, cpu_online_mask, housekeeping_cpumask(HK_TYPE_DOMAIN))
		if (other != cpu)
			return false;
	return true;
}

int kern_cpu_down(int cpu)
{
	int ret;

	shim_syscall_enter(HW_TIME_OTHER);
	if (!cpu_online(cpu) || is_last_housekeeper(cpu)) {
		ret = cpu_online(cpu) ? -EBUSY : -EINVAL;
		goto out;
	}
	percpu_down_write(&cpu_hotplug_lock);
	set_cpu_dying(cpu, true);
	ret = run_on_ap(cpu, false);
	if (ret) {
		set_cpu_dying(cpu, false);
		goto unlock;
	}
	idle_dead[cpu] = false;
	stop_machine_cpuslocked(take_down, NULL, cpumask_of(cpu));
	while (!idle_dead[cpu])
		schedule_timeout_uninterruptible(1);
	shim_tick_cleanup_dead(cpu);
	timers_dead_cpu(cpu);
	run_range(cpu, false, CPUHP_OFFLINE, CPUHP_BRINGUP_CPU - 1);
	smpcfd_dead_cpu(cpu);
#ifndef TREE_HAS_HRTIMERS_DYING
	hrtimers_dead_cpu(cpu);
#endif
	shim_register_hot_lines();
unlock:
	percpu_up_write(&cpu_hotplug_lock);
	wait_for_cpusets();
out:
	shim_syscall_exit();
	return ret;
}

/* First code of a CPU that comes back: start_secondary(). */
static void secondary_start(void)
{
	hw_charge(hw_costs.hotplug);
	starting(hw.cpu);
	local_irq_enable();
	cpu_startup_entry(CPUHP_AP_ONLINE_IDLE);
}

int kern_cpu_up(int cpu)
{
	struct task_struct *idle = raw_cpu_rq(cpu)->idle;

	shim_syscall_enter(HW_TIME_OTHER);
	if (cpu_online(cpu)) {
		shim_syscall_exit();
		return -EINVAL;
	}
	percpu_down_write(&cpu_hotplug_lock);
	set_cpu_dying(cpu, false);
	prepare(cpu);
	hw_cpu_alive(cpu, hw_co_init(idle->thread.stack_base, hw_stack_size, secondary_start), idle);
	while (!cpu_online(cpu))
		schedule_timeout_uninterruptible(1);
	run_on_ap(cpu, true);
	shim_register_hot_lines();
	percpu_up_write(&cpu_hotplug_lock);
	wait_for_cpusets();
	shim_syscall_exit();
	return 0;
}
