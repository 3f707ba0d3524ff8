// SPDX-License-Identifier: GPL-2.0-only
/* kernel/sched/fair.c with tracepoints in its load balancing; some functions have two names. */
#include "shim.h"
#include <trace/events/schedlab.h>
#include "hook.h"
#include "idle_choice.h"
#include "steady.h"

#define GROUP_STATS(name, env, sds, group, sgs, more...)		\
({									\
	__auto_type __env = (env);					\
	__auto_type __sds = (sds);					\
	__auto_type __group = (group);					\
	__auto_type __sgs = (sgs);					\
	__auto_type __given = SHIM_KEEP((name)(__env, __sds, __group, __sgs, ##more)); \
									\
	hw_charge(hw_costs.scan_group);					\
	trace_group_stats(__env, __sds, __group, __sgs);		\
	SHIM_GIVE(__given, (name)(__env, __sds, __group, __sgs, ##more)); \
})
#define update_sg_lb_stats(args...)	SHIM_HOOK(GROUP_STATS, update_sg_lb_stats, args)

/*
 * The lines that functions read of the runqueue they are asked about.  cpu_rq() itself stands for
 * the first one, with the lock and nr_running; cpu_runnable()'s callers count what runs with the
 * CFS runqueue's counts.
 */
#define LOOK_CPU(lines, name, cpu, more...)				\
({									\
	int __cpu = (cpu);						\
									\
	hw_look(__cpu, lines);						\
	(name)(__cpu, ##more);						\
})
#define LOOK_RQ(lines, name, queue, more...)				\
({									\
	struct rq *__rq = (queue);					\
									\
	hw_look(cpu_of(__rq), lines);					\
	(name)(__rq, ##more);						\
})
#define IDLE(name, cpu, more...)					\
({									\
	int __of_cpu = (cpu);						\
	__auto_type __is_idle = LOOK_CPU(RQ_CURRENT, name, __of_cpu, ##more); \
									\
	if (__is_idle)							\
		hw_look(__of_cpu, RQ_HEAD | RQ_PENDING);		\
	__is_idle;							\
})
#define IDLE_POLICY(name, args...)	LOOK_CPU(RQ_HEAD | RQ_CFS, name, args)
#define IDLE_RQ(name, args...)		LOOK_RQ(RQ_HEAD | RQ_CFS, name, args)
#define UTILIZATION(name, args...)	LOOK_CPU(RQ_AVERAGES, name, args)
/* cpu_util_cfs() and its kind, which have looked, pass no task. */
#define UTILIZATION_WITH(name, cpu, task, more...)			\
({									\
	int __of_cpu = (cpu);						\
	struct task_struct *__with = (task);				\
									\
	if (__with)							\
		hw_look(__of_cpu, RQ_AVERAGES);				\
	(name)(__of_cpu, __with, ##more);				\
})
#define LOAD(name, args...)		LOOK_RQ(RQ_AVERAGES, name, args)
#define RUNNABLE(name, args...)		LOOK_RQ(RQ_AVERAGES | RQ_CFS, name, args)

#define idle_cpu(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE, idle_cpu, cpu, ##more)
#define available_idle_cpu(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE, available_idle_cpu, cpu, ##more)
#define idle_cpu_without(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE, idle_cpu_without, cpu, ##more)
#define sched_idle_cpu(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE_POLICY, sched_idle_cpu, cpu, ##more)
#define choose_sched_idle_rq(rq, more...) SHIM_CHOOSE(SHIM_DECLARES_##rq)(IDLE_RQ, choose_sched_idle_rq, rq, ##more)
#define cpu_util_cfs(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(UTILIZATION, cpu_util_cfs, cpu, ##more)
#define cpu_util_cfs_boost(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(UTILIZATION, cpu_util_cfs_boost, cpu, ##more)
#define cpu_util_without(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(UTILIZATION, cpu_util_without, cpu, ##more)
#define cpu_util_next(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(UTILIZATION, cpu_util_next, cpu, ##more)
#define cpu_util(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(UTILIZATION_WITH, cpu_util, cpu, ##more)
#define cpu_load(rq, more...) SHIM_CHOOSE(SHIM_DECLARES_##rq)(LOAD, cpu_load, rq, ##more)
#define cpu_load_without(rq, more...) SHIM_CHOOSE(SHIM_DECLARES_##rq)(LOAD, cpu_load_without, rq, ##more)
#define cpu_runnable(rq, more...) SHIM_CHOOSE(SHIM_DECLARES_##rq)(RUNNABLE, cpu_runnable, rq, ##more)
#define cpu_runnable_without(rq, more...) SHIM_CHOOSE(SHIM_DECLARES_##rq)(RUNNABLE, cpu_runnable_without, rq, ##more)

/* Balancing of NUMA domains, one CPU at a time: a flag where earlier trees have a spinlock. */
#ifndef TREE_HAS_BALANCE_LOCK
/* By the flag's place, not its name: a patch may rename it, or add another one. */
static arch_spinlock_t *flags_lock(const atomic_t *flag)
{
	static struct {
		const atomic_t *flag;
		arch_spinlock_t lock;
	} known[4];
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!known[i].flag)
			known[i].flag = flag;
		if (known[i].flag == flag)
			return &known[i].lock;
	}
	hw_die("fair.c takes more flags as locks than the engine has", __FILE__, __LINE__);
}

#define atomic_cmpxchg_acquire(v, from, to)				\
({									\
	SHIM_MATCHED("atomic_cmpxchg_acquire");				\
	!arch_spin_trylock(flags_lock(v)) || (atomic_cmpxchg_acquire)(v, from, to); \
})
#define atomic_try_cmpxchg_acquire(v, from, to)				\
({									\
	SHIM_MATCHED("atomic_try_cmpxchg_acquire");			\
	arch_spin_trylock(flags_lock(v)) && (atomic_try_cmpxchg_acquire)(v, from, to); \
})
#define atomic_set_release(v, to)					\
({									\
	SHIM_MATCHED("atomic_set_release");				\
	(atomic_set_release)(v, to);					\
	arch_spin_unlock(flags_lock(v));				\
})
#endif

/* What a CPU's present pass has found; a CPU makes one at a time. */
struct shim_pass {
	struct sched_group *group;
	struct rq *queue;
	long imbalance;
	int migration;
};
static struct shim_pass passes[HW_MAX_CPUS];
static void found_queue(struct lb_env *env, struct sched_group *group, struct rq *queue);

#define FIND_QUEUE(name, env, group, more...)				\
({									\
	__auto_type __env = (env);					\
	__auto_type __group = (group);					\
	struct rq *__queue = (name)(__env, __group, ##more);		\
									\
	found_queue(__env, __group, __queue);				\
	__queue;							\
})
#define find_busiest_queue(args...)	SHIM_HOOK_2ND(FIND_QUEUE, find_busiest_queue, args)
#define sched_balance_find_src_rq(args...) \
	SHIM_HOOK_2ND(FIND_QUEUE, sched_balance_find_src_rq, args)

#define BALANCE(name, dst, rq, sd, idle, ours, more...)			\
({									\
	int __dst = (dst);						\
	struct sched_domain *__sd = (sd);				\
	__auto_type __idle = (idle);					\
	int *__ours = (ours);						\
	unsigned int __failed = __sd->nr_balance_failed;		\
	enum hw_time __before = hw_spend_on(HW_TIME_BALANCE);		\
	simtime __from = hw.clk;					\
									\
	if (__before == HW_TIME_NEWIDLE)				\
		hw_spend_on(HW_TIME_NEWIDLE);				\
	passes[hw.cpu] = (struct shim_pass) { };			\
	__auto_type __moved = (name)(__dst, rq, __sd, __idle, __ours, ##more); \
	hw_function_ran(HW_LOAD_BALANCE, __from);			\
	hw_spend_on(__before);						\
	if (*__ours)							\
		shim_balance_passed(__dst, __sd, __idle);		\
	trace_load_balance(__dst, __sd, __idle, *__ours, __failed, &passes[hw.cpu], __moved); \
	__moved;							\
})
#define load_balance(args...)		SHIM_HOOK(BALANCE, load_balance, args)
#define sched_balance_rq(args...)	SHIM_HOOK(BALANCE, sched_balance_rq, args)

/*
 * In the order in which newidle balancing asks; what it asks of the domains behind the lowest is
 * left out.
 */
static void count_newidle(struct rq *rq)
{
	struct sched_domain *sd = rcu_dereference_sched(rq->sd);

	kern_newidle.entries++;
	kern_newidle.avg_idle += rq->avg_idle;
	if (rq->ttwu_pending)
		kern_newidle.pending++;
	else if (!SHIM_RD_OVERLOADED(rq->rd))
		kern_newidle.calm++;
	else if (sd && rq->avg_idle < sd->max_newidle_lb_cost)
		kern_newidle.brief++;
}

#define NEWIDLE(name, rq, rf, more...)					\
({									\
	struct rq *__of = (rq);						\
	enum hw_time __before = hw_spend_on(HW_TIME_NEWIDLE);		\
	simtime __from = hw.clk;					\
									\
	count_newidle(__of);						\
	trace_newidle_entry(__of);					\
	__auto_type __pulled = (name)(__of, rf, ##more);		\
	kern_newidle.found += __pulled > 0;				\
	hw_function_ran(HW_NEWIDLE_BALANCE, __from);			\
	hw_spend_on(__before);						\
	trace_newidle_exit(__of, __pulled);				\
	__pulled;							\
})
#define newidle_balance(args...)	SHIM_HOOK(NEWIDLE, newidle_balance, args)
#define sched_balance_newidle(args...)	SHIM_HOOK(NEWIDLE, sched_balance_newidle, args)

#define TIMED(function, name, args...)					\
({									\
	simtime __from = hw.clk;					\
	__auto_type __given = SHIM_KEEP((name)(args));			\
									\
	hw_function_ran(function, __from);				\
	SHIM_GIVE(__given, (name)(args));				\
})
#define SD_STATS(name, args...)		TIMED(HW_UPDATE_SD_LB_STATS, name, args)
#define update_sd_lb_stats(args...)	SHIM_HOOK(SD_STATS, update_sd_lb_stats, args)

#define BLOCKED(name, args...)		TIMED(HW_UPDATE_BLOCKED_AVERAGES, name, args)
#define update_blocked_averages(args...) SHIM_HOOK(BLOCKED, update_blocked_averages, args)
#ifdef TREE_HAS_BLOCKED_AVERAGES_OF_RQ
/* Of which newidle balancing calls the inner part. */
#define __sched_balance_update_blocked_averages(args...) \
	SHIM_HOOK(BLOCKED, __sched_balance_update_blocked_averages, args)
#else
#define sched_balance_update_blocked_averages(args...) \
	SHIM_HOOK(BLOCKED, sched_balance_update_blocked_averages, args)
#endif

/* The first thing newidle balancing does about a domain it reaches. */
#define REACH_DOMAIN(name, sd, next, more...)				\
({									\
	struct sched_domain *__sd = (sd);				\
	__auto_type __given = SHIM_KEEP((name)(__sd, next, ##more));	\
									\
	trace_newidle_domain(raw_cpu_rq(hw.cpu), __sd);			\
	SHIM_GIVE(__given, (name)(__sd, next, ##more));			\
})
#define update_next_balance(args...)	SHIM_HOOK(REACH_DOMAIN, update_next_balance, args)

/* By which newidle balancing passes over a domain where it seldom finds a task (NI_RANDOM). */
#define DRAW(name, args...)						\
({									\
	__auto_type __drawn = (name)(args);				\
									\
	trace_newidle_draw(raw_cpu_rq(hw.cpu), __drawn);		\
	__drawn;							\
})
#define sched_rng(args...)		SHIM_CALL(DRAW, sched_rng, ##args)

#define PREFER(name, p, nid, more...)					\
({									\
	struct task_struct *__of = (p);					\
	int __before = __of->numa_preferred_nid;			\
	__auto_type __given = SHIM_KEEP((name)(__of, nid, ##more));	\
									\
	trace_numa_prefer(__of, __before);				\
	SHIM_GIVE(__given, (name)(__of, nid, ##more));			\
})
#define sched_setnuma(args...)		SHIM_HOOK(PREFER, sched_setnuma, args)

#include <kernel/sched/fair.c>

static void found_queue(struct lb_env *env, struct sched_group *group, struct rq *queue)
{
	passes[hw.cpu] = (struct shim_pass) {
		.group = group, .queue = queue,
		.imbalance = env->imbalance, .migration = env->migration_type,
	};
}

void shim_register_nohz_lines(void)
{
	int word;

	for (word = 0; word < BITS_TO_LONGS(hw_nr_cpus); word++)
		hw_hot_register(&nohz, cpumask_bits(nohz.idle_cpus_mask) + word);
#ifdef TREE_HAS_NOHZ_NR_CPUS
	hw_hot_register(&nohz, &nohz.nr_cpus);
#endif
}

static unsigned int shim_idle_near(int cpu)
{
	struct sched_domain *llc = rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc, cpu));
	unsigned int idle = 0;
	int each;

	if (!llc)
		return 0;
	for_each_cpu(each, sched_domain_span(llc))
		idle += raw_cpu_rq(each)->curr == raw_cpu_rq(each)->idle &&
			!raw_cpu_rq(each)->nr_running && !raw_cpu_rq(each)->ttwu_pending;
	return idle;
}

/* Here, where the records' sources are known. */
#define CREATE_TRACE_POINTS
#include <trace/events/schedlab.h>
