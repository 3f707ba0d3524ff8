// SPDX-License-Identifier: GPL-2.0-only
/*
 * start_kernel()'s stand-in.  Simulated time stands still until the last line;
 * then every CPU starts in its idle loop and pid 1 runs the scenario.
 */
#include <linux/sched/isolation.h>
#include <linux/sched/topology.h>
#include <linux/timer.h>
#include <linux/cpuset.h>
#include <linux/seq_file.h>
#include <generated/utsrelease.h>
#include "shim.h"
#include "tasks.h"

const char kern_release[] = UTS_RELEASE;
enum system_states system_state;
const struct kern_handlers *shim_handlers;

extern initcall_entry_t __shim_before_smp_start[], __shim_initcalls_start[], __shim_initcalls_end[];

static void idle_entry(void)
{
	local_irq_enable();
	cpu_startup_entry(hw.cpu ? CPUHP_AP_ONLINE_IDLE : CPUHP_ONLINE);
}

static void fork_idle_tasks(void)
{
	int cpu;

	init_task.thread.stack_base = hw_stack_alloc();
	init_task.thread.task = hw_zalloc(sizeof(struct kern_task), 64);
	for (cpu = 1; cpu < hw_nr_cpus; cpu++) {
		struct task_struct *idle = shim_new_task(&init_task, 0, "swapper");

		idle->flags |= PF_KTHREAD;
		idle->thread.task = init_task.thread.task;
		mmgrab(&init_mm);
		idle->active_mm = &init_mm;
		init_idle(idle, cpu);
	}
}

/*
 * Initcalls of the linked sources; the early ones run before the other CPUs' domains exist, and
 * migration_init(), by which the first CPU leads its core, before other CPUs are there.
 */
static void run_initcalls(initcall_entry_t *from, initcall_entry_t *to)
{
	initcall_entry_t *entry;

	for (entry = from; entry < to; entry++)
		initcall_from_entry(entry)();
}

/* kernel_init()'s stand-in: sched_init_smp() must not run as the idle task. */
static struct task_struct *boot_task(struct kern_task *init)
{
	struct task_struct *p = shim_new_task(&init_task, 1, "init");

	p->thread.task = init;
	init->kernel = p;
	shim_sched_new_task(p, &shim_root_css_set, 0);
	return p;
}

static void start_cpus(void)
{
	int cpu;

	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		struct task_struct *idle = raw_cpu_rq(cpu)->idle;
		void *sp = hw_co_init(idle->thread.stack_base, hw_stack_size, idle_entry);

		idle->thread.sp = NULL;
		raw_cpu_rq(cpu)->__lock.raw_lock.home = cpu + 1;
		hw_start_cpu(cpu, sp, idle);
	}
}

void kern_show_domains(void)
{
	sched_debug_verbose = true;
}

void kern_boot(struct kern_task *init, const struct kern_handlers *handlers)
{
	struct task_struct *boot;
	int cpu;

	shim_handlers = handlers;
	hw_on_interrupt(shim_irq_window);
	shim_setup_topology();
	shim_setup_percpu();
	hw_set_boot_cpu(0, &init_task);
	set_cpu_online(0, true);
	set_cpu_active(0, true);
	cpumask_copy(&init_task.cpus_mask, cpu_possible_mask);
	shim_setup_probes();
	shim_setup_decisions();
	shim_setup_isolation();
	sched_init();
	housekeeping_init();
	shim_setup_cgroups();
	shim_setup_tickless();
	shim_init_timers();
	hrtimers_init();
	softirq_init();
	shim_setup_loopback();
	sched_clock_init();
	call_function_init();
	seq_file_init();
	shim_setup_clockevent();
	fork_idle_tasks();
	run_initcalls(__shim_before_smp_start, __shim_initcalls_start);
	for (cpu = 1; cpu < hw_nr_cpus; cpu++)
		shim_cpuhp_bring_up(cpu);

	hw_set_boot_cpu(0, &init_task);
	boot = boot_task(init);
	hw_set_boot_cpu(0, boot);
	shim_setup_energy_model();
	shim_setup_itmt();
	sched_init_smp();
	cpuset_init_smp();
	shim_register_hot_lines();
	shim_setup_idle_drivers();
	run_initcalls(__shim_initcalls_start, __shim_initcalls_end);
	shim_sysctl_apart();
	hw_set_boot_cpu(0, boot);
	shim_setup_idle_decisions();
	shim_setup_idle_devices();
	shim_setup_workqueues();
	shim_setup_vmstat();
	/* as check_numabalancing_enable() does */
	if (IS_ENABLED(CONFIG_NUMA_BALANCING_DEFAULT_ENABLED) && num_online_nodes() > 1)
		set_numabalancing_state(true);
	shim_setup_cpufreq();
	shim_setup_thermal();
	hw_set_boot_cpu(0, raw_cpu_rq(0)->idle);
	wake_up_new_task(boot);
	system_state = SYSTEM_RUNNING;
	start_cpus();
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		shim_spent_look(raw_cpu_rq(cpu));
}

/*
 * Balance intervals as grown on an idle machine, their phases spread, not all due at once;
 * and what update_idle_cpu_scan() last left in an LLC without load: all of it may be searched.
 */
void kern_spread_balance(void)
{
	int cpu;

	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		struct sched_domain_shared *llc =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc_shared, cpu));
		struct sched_domain *sd;

		if (llc && shim_leads_llc(cpu))
			llc->nr_idle_scan = *raw_per_cpu_ptr(&sd_llc_size, cpu);

		for (sd = raw_cpu_rq(cpu)->sd; sd; sd = sd->parent) {
			sd->balance_interval = 2 * sd->span_weight;
			sd->last_balance = jiffies -
				hw_random() % (msecs_to_jiffies(sd->balance_interval) + 1);
		}
		raw_cpu_rq(cpu)->next_balance = jiffies;
	}
}
