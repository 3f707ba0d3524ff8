/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the kernel side share. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/signal.h>
#include <linux/sched/init.h>
#include <linux/sched/hotplug.h>
#include <linux/sched/clock.h>
#include <linux/init_task.h>
#include <linux/interrupt.h>
#include <linux/hrtimer.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/smpboot.h>
#include <linux/wait.h>
#include <linux/tick.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/sched/cputime.h>
#include "sched.h"
#include <kern.h>
#include "tree.h"
#include "memory.h"

/* Another CPU's data without the charge: for the engine's own bookkeeping. */
#define raw_per_cpu_ptr(ptr, cpu) \
	((typeof(ptr))((unsigned long)(ptr) + __per_cpu_offset[cpu]))
#define raw_cpu_rq(cpu)		raw_per_cpu_ptr((struct rq *)&runqueues, cpu)

/* boot.c */
extern const struct kern_handlers *sim_handlers;	/* of who runs the scenario */

/* tasks.c */
struct task_struct *sim_new_task(struct task_struct *from, int pid, const char *comm);
void sim_free_task(struct task_struct *p);
struct task_struct *sim_kthread_create(void (*fn)(void *), void *arg, int cpu, const char *comm);
extern struct css_set sim_root_css_set;

/* switch.c */
void sim_check_stack(const struct task_struct *p);

/* entry.c */
void sim_sync(void);
void sim_preemption_point(void);
void sim_kernel_work(simtime ns);
void sim_syscall_enter(void);
void sim_syscall_exit(void);
void sim_file_get(struct sim_line *file);
void sim_file_put(struct sim_line *file);
void sim_exit_to_user(void);
void sim_user_work(simtime ns);

/* working_set.c */
void sim_working_set_touch(void);

/* sleep.c */
u64 sim_timer_slack(void);

/* percpu.c, topology.c, time.c, hotplug.c, ... in the order boot calls them */
void sim_setup_percpu(void);
void sim_setup_topology(void);
void sim_sibling_comes(unsigned int cpu);
void sim_sibling_goes(unsigned int cpu);
bool sim_leads_llc(int cpu);
void sim_setup_clockevent(void);
struct clock_event_device *sim_clockevent(void);
void sim_setup_idle_drivers(void);
void sim_setup_idle_devices(void);
void sim_setup_probes(void);
void sim_setup_decisions(void);
void sim_setup_cpufreq(void);
void sim_setup_thermal(void);
void sim_setup_workqueues(void);
void sim_setup_vmstat(void);
void sim_setup_energy_model(void);
void sim_cpuhp_bring_up(unsigned int cpu);
void sim_rcu_advance(void);

/* itmt.c, hooked/kernel/sched/build_utility.c */
void sim_setup_itmt(void);
int sim_itmt_flags(void);
void sim_prefer_cores(bool hybrid);

/* isolation.c, hooked/kernel/sched/build_utility.c */
void sim_setup_isolation(void);
void sim_isolate(char *cpus);

/* core_sched.c, hooked/kernel/sched/build_utility.c */
void sim_core_switched(struct task_struct *next);
void sim_core_enters_user(void);
unsigned long sim_core_cookie(void);
void sim_core_sched(unsigned long cookie);

/* files.c */
struct ctl_table;
void sim_add_sysctl(const char *dir, SIM_SYSCTL *table);

/* sysctl.c */
void sim_sysctl_apart(void);

/* sysfs.c */
extern struct device sim_cpu_root;
int sim_sysfs_write(const char *path, const char *value);
long sim_sysfs_read(const char *path, char *buf, unsigned long size);
void sim_sysfs_list(void (*file)(const char *path, int writable));
int sim_add_cpuidle_interface(void);

/* numa.c, numa_names.c */
int sim_xchg_last_cpupid(int cpupid);
bool sim_should_migrate(struct task_struct *p, int nid, int cpu);
bool sim_mas_at_start(struct ma_state *mas);
void sim_mas_set_active(struct ma_state *mas);
void sim_mas_set_end(struct ma_state *mas);
void sim_trace_migrate_pages(unsigned long pages);

/* cpufreq.c */
bool sim_energy_aware_possible(void);
void sim_cap_frequency(int domain, int highest);

/* energy.c */
struct cpufreq_policy;
struct cpufreq_governor;
void sim_governor_changed(struct cpufreq_policy *policy, struct cpufreq_governor *old);
void sim_frequency_pressure(unsigned int cpu, unsigned long capacity);
struct em_perf_domain *sim_energy_domain(const struct sim_freq_domain *d, const struct cpumask *span);

/* workqueue.c */
struct work_struct;
void sim_queue_first_work(int cpu, struct work_struct *work);

/* kthread.c */
int smpboot_park_threads(unsigned int cpu);
int smpboot_unpark_threads(unsigned int cpu);
int kthread_park(struct task_struct *p);

/* hot.c, hooked/kernel/sched/fair.c */
void sim_register_hot_lines(void);
void sim_register_nohz_lines(void);

/* loopback.c */
void sim_setup_loopback(void);

/* cgroup.c */
void sim_setup_cgroups(void);
struct css_set *sim_cgroup_css_set(const char *path);

#endif
