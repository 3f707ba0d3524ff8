/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the kernel side share. */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include "headers.h"
#include "sched.h"
#include <kern.h>
#include "tree.h"
#include "memory.h"

/* Another CPU's data without the charge: for the engine's own bookkeeping. */
#define raw_per_cpu_ptr(ptr, cpu) \
	((typeof(ptr))((unsigned long)(ptr) + __per_cpu_offset[cpu]))
bool shim_is_percpu(const void *at);	/* in a CPU's copy of the static area, where runqueues are */
#define raw_cpu_rq(cpu)		raw_per_cpu_ptr((struct rq *)&runqueues, cpu)

/* boot.c */
extern const struct kern_handlers *shim_handlers;	/* of who runs the scenario */

/* tasks.c */
struct task_struct *shim_new_task(struct task_struct *from, int pid, const char *comm);
void shim_free_task(struct task_struct *p);
struct task_struct *shim_find_task(int pid);
struct task_struct *shim_task_at(const void *at);	/* NULL: there is none */
void shim_forget_pid(struct task_struct *p);	/* nobody finds it any more */
struct task_struct *shim_kthread_create(void (*fn)(void *), void *arg, int cpu, const char *comm);
extern struct css_set shim_root_css_set;

u64 shim_cgroup_id(const char *path);	/* 0: there is none of that path */
/* scx/maps.c: what a scheduler has stored with a task */
void shim_scx_task_gone(struct task_struct *p);

/* switch.c */
void shim_check_stack(const struct task_struct *p);

/* entry.c */
void shim_preemption_point(void);
void shim_kernel_work(simtime ns);

#ifdef CONFIG_SCHED_CLASS_EXT	/* hooked/kernel/sched/build_policy.c */
bool shim_ext_keeps_from_forking(void);
#else
static inline bool shim_ext_keeps_from_forking(void) { return false; }
#endif
void shim_syscall_begin(enum hw_time call);
void shim_syscall_exit(void);
void shim_exit_to_user(void);
void shim_user_work(simtime ns);

/* What others can see happens in the order of simulated time, interrupts first. */
static inline void shim_sync(void)
{
	if (hw_time_is_free())
		return;
	if (unlikely(hw.core_sched) || !hw_pass_user(&current->thread.task->hw))
		shim_user_work(0);
}

/* call: what its time, and sleep in it, counts as */
static inline void shim_syscall_enter(enum hw_time call)
{
	shim_sync();
	shim_syscall_begin(call);
}

/* fdget(), fdput(): threads count their use of the file, a process alone need not. */
static inline void shim_file_get(struct hw_line *file)
{
	if (current->thread.shares_files)
		hw_line_change_if(file);
}

static inline void shim_file_put(struct hw_line *file)
{
	if (current->thread.shares_files)
		hw_line_change(file);
}

/* spent.c */
void shim_spent_switch(struct task_struct *prev, bool queued, struct task_struct *next);
void shim_spent_queued(struct task_struct *p, int cpu);
void shim_spent_moved(struct task_struct *p, int cpu);
void shim_spent_look(struct rq *rq);
extern bool shim_has_limits;		/* some group's cpu.max was written */

/* objects.c */
unsigned int shim_new_object(void);
void shim_message_send(const char *kind, unsigned int object, unsigned int bytes);
void shim_message_receive(const char *kind, unsigned int object, unsigned int bytes);
void shim_message_done(unsigned int bytes);
void shim_futex_called(unsigned int object, unsigned int op, unsigned int value);
void shim_futex_returned(long value);
void shim_yield_called(void);
void shim_yield_returned(void);

/* working_set.c */
void shim_working_set_touch(void);

/* sleep.c */
u64 shim_timer_slack(void);

/* percpu.c, topology.c, time.c, hotplug.c, ... in the order boot calls them */
void shim_setup_percpu(void);
void shim_setup_topology(void);
void shim_sibling_comes(unsigned int cpu);
void shim_sibling_goes(unsigned int cpu);
bool shim_leads_llc(int cpu);
void shim_setup_clockevent(void);
struct clock_event_device *shim_clockevent(void);
void shim_setup_idle_drivers(void);
void shim_setup_idle_devices(void);
void shim_setup_probes(void);
void shim_setup_decisions(void);
void shim_setup_idle_decisions(void);
void shim_setup_cpufreq(void);
void shim_setup_thermal(void);
void shim_setup_workqueues(void);
void shim_setup_vmstat(void);
void shim_setup_energy_model(void);
void shim_cpuhp_bring_up(unsigned int cpu);
void shim_rcu_advance(void);

/* itmt.c, hooked/kernel/sched/build_utility.c */
void shim_setup_itmt(void);
int shim_itmt_flags(void);
void shim_prefer_cores(bool hybrid);

/* isolation.c, hooked/kernel/sched/build_utility.c */
void shim_setup_isolation(void);
void shim_isolate(char *cpus);
void shim_leave_tickless(char *cpus);
void shim_setup_tickless(void);		/* after sched_init() */

/* core_sched.c, hooked/kernel/sched/build_utility.c */
void shim_core_switched(struct task_struct *next);
void shim_core_enters_user(void);
unsigned long shim_core_cookie(void);
void shim_core_sched(unsigned long cookie);

/* files.c */
struct ctl_table;
void shim_add_sysctl(const char *dir, SHIM_SYSCTL *table);

/* sysctl.c */
void shim_sysctl_apart(void);

/* sysfs.c */
extern struct device shim_cpu_root;
int shim_sysfs_write(const char *path, const char *value);
long shim_sysfs_read(const char *path, char *buf, unsigned long size);
void shim_sysfs_list(void (*file)(const char *path, int writable));
int shim_add_cpuidle_interface(void);

/* numa.c, numa_names.c */
int shim_xchg_last_cpupid(int cpupid);
bool shim_should_migrate(struct task_struct *p, int nid, int cpu);
bool shim_mas_at_start(struct ma_state *mas);
void shim_mas_set_active(struct ma_state *mas);
void shim_mas_set_end(struct ma_state *mas);
void shim_trace_migrate_pages(unsigned long pages);

/* cpufreq.c */
bool shim_energy_aware_possible(void);
void shim_cap_frequency(int domain, int highest);

/* energy.c */
struct cpufreq_policy;
struct cpufreq_governor;
void shim_governor_changed(struct cpufreq_policy *policy, struct cpufreq_governor *old);
void shim_frequency_pressure(unsigned int cpu, unsigned long capacity);
struct em_perf_domain *shim_energy_domain(const struct hw_freq_domain *d, const struct cpumask *span);

/* workqueue.c */
struct work_struct;
void shim_queue_first_work(int cpu, struct work_struct *work);
void shim_unbound_works_on(const struct cpumask *cpus);

/* kthread.c */
int smpboot_park_threads(unsigned int cpu);
int smpboot_unpark_threads(unsigned int cpu);
int kthread_park(struct task_struct *p);

/* hot.c, hooked/kernel/sched/fair.c */
void shim_register_hot_lines(void);
void shim_register_hot_mask(const void *object, const struct cpumask *mask);
void shim_register_nohz_lines(void);

/* loopback.c */
void shim_setup_loopback(void);

/* cgroup.c */
void shim_setup_cgroups(void);
struct css_set *shim_cgroup_css_set(const char *path);

/* cpuset.c */
#ifdef CONFIG_CPUSETS
void shim_cpuset_fork(struct task_struct *p);
void shim_cpuset_exit(struct task_struct *p);
#else
static inline void shim_cpuset_fork(struct task_struct *p) { }
static inline void shim_cpuset_exit(struct task_struct *p) { }
#endif

#endif
