// SPDX-License-Identifier: GPL-2.0-only
/* kernel/sched/fair.c with tracepoints in its load balancing; some functions have two names. */
#include "shim.h"
#include <trace/events/schedlab.h>
#include "hook.h"
#include "idle_choice.h"
#include "steady.h"
#include "wakeup.h"

#define GROUP_STATS(name, env, sds, group, sgs, more...)		\
({									\
	__auto_type shim_env = (env);					\
	__auto_type shim_sds = (sds);					\
	__auto_type shim_group = (group);				\
	__auto_type shim_sgs = (sgs);					\
	__auto_type shim_given = SHIM_KEEP((name)(shim_env, shim_sds, shim_group, shim_sgs, ##more)); \
									\
	hw_charge(hw_costs.scan_group);					\
	trace_group_stats(shim_env, shim_sds, shim_group, shim_sgs);	\
	SHIM_GIVE(shim_given, (name)(shim_env, shim_sds, shim_group, shim_sgs, ##more)); \
})
#define update_sg_lb_stats(args...)	SHIM_HOOK(GROUP_STATS, update_sg_lb_stats, args)

/*
 * The lines that functions read of the runqueue they are asked about.  cpu_rq() itself stands for
 * the first one, with the lock and nr_running; cpu_runnable()'s callers count what runs with the
 * CFS runqueue's counts.
 */
#define LOOK_CPU(lines, name, cpu, more...)				\
({									\
	int shim_cpu = (cpu);						\
									\
	hw_look(shim_cpu, lines);					\
	(name)(shim_cpu, ##more);					\
})
#define LOOK_RQ(lines, name, queue, more...)				\
({									\
	struct rq *shim_rq = (queue);					\
									\
	hw_look(cpu_of(shim_rq), lines);				\
	(name)(shim_rq, ##more);					\
})
#define IDLE(name, cpu, more...)					\
({									\
	int shim_of_cpu = (cpu);					\
	__auto_type shim_is_idle = LOOK_CPU(RQ_CURRENT, name, shim_of_cpu, ##more); \
									\
	if (!shim_is_idle)						\
		shim_is_idle = hw_is_seen_idle(shim_of_cpu);		\
	if (shim_is_idle)						\
		hw_look(shim_of_cpu, RQ_HEAD | RQ_PENDING);		\
	shim_is_idle;							\
})
#define IDLE_NOW(name, cpu, more...)					\
({									\
	int shim_of_now = (cpu);					\
									\
	shim_wakeup_looks_at(shim_of_now);				\
	IDLE(name, shim_of_now, ##more);				\
})
#define IDLE_POLICY(name, args...)	LOOK_CPU(RQ_HEAD | RQ_CFS, name, args)
#define IDLE_RQ(name, args...)		LOOK_RQ(RQ_HEAD | RQ_CFS, name, args)
#define UTILIZATION(name, args...)	LOOK_CPU(RQ_AVERAGES, name, args)
/* cpu_util_cfs() and its kind, which have looked, pass no task. */
#define UTILIZATION_WITH(name, cpu, task, more...)			\
({									\
	int shim_of_cpu = (cpu);					\
	struct task_struct *shim_with = (task);				\
									\
	if (shim_with)							\
		hw_look(shim_of_cpu, RQ_AVERAGES);			\
	(name)(shim_of_cpu, shim_with, ##more);				\
})
#define LOAD(name, args...)		LOOK_RQ(RQ_AVERAGES, name, args)
#define RUNNABLE(name, args...)		LOOK_RQ(RQ_AVERAGES | RQ_CFS, name, args)

#define idle_cpu(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE, idle_cpu, cpu, ##more)
#define available_idle_cpu(cpu, more...) SHIM_CHOOSE(SHIM_DECLARES_##cpu)(IDLE_NOW, available_idle_cpu, cpu, ##more)
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
#include "flags.h"
#define atomic_cmpxchg_acquire(v, from, to)				\
({									\
	SHIM_MATCHED("atomic_cmpxchg_acquire");				\
	shim_flag_cmpxchg(v, from, to);					\
})
#define atomic_try_cmpxchg_acquire(v, from, to)				\
({									\
	SHIM_MATCHED("atomic_try_cmpxchg_acquire");			\
	shim_flag_try_cmpxchg(v, from, to);				\
})
#define atomic_set_release(v, to)					\
({									\
	SHIM_MATCHED("atomic_set_release");				\
	shim_flag_set(v, to);						\
})
/* In other words, as patches may have it. */
#define atomic_cmpxchg(v, from, to)	shim_flag_cmpxchg(v, from, to)
#define atomic_try_cmpxchg(v, from, to)	shim_flag_try_cmpxchg(v, from, to)
#define atomic_set(v, to)		shim_flag_set(v, to)
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
	__auto_type shim_env = (env);					\
	__auto_type shim_group = (group);				\
	struct rq *shim_queue = (name)(shim_env, shim_group, ##more);	\
									\
	found_queue(shim_env, shim_group, shim_queue);			\
	shim_queue;							\
})
#define find_busiest_queue(args...)	SHIM_HOOK_2ND(FIND_QUEUE, find_busiest_queue, args)
#define sched_balance_find_src_rq(args...) \
	SHIM_HOOK_2ND(FIND_QUEUE, sched_balance_find_src_rq, args)

#define BALANCE(name, dst, rq, sd, idle, ours, more...)			\
({									\
	int shim_dst = (dst);						\
	struct sched_domain *shim_sd = (sd);				\
	__auto_type shim_idle = (idle);					\
	int *shim_ours = (ours);					\
	unsigned int shim_failed = shim_sd->nr_balance_failed;		\
	enum hw_time shim_before = hw_spend_on(HW_TIME_BALANCE);	\
	simtime shim_from = hw.clk;					\
									\
	if (shim_before == HW_TIME_NEWIDLE)				\
		hw_spend_on(HW_TIME_NEWIDLE);				\
	passes[hw.cpu] = (struct shim_pass) { };			\
	__auto_type shim_moved = (name)(shim_dst, rq, shim_sd, shim_idle, shim_ours, ##more); \
	hw_function_ran(HW_LOAD_BALANCE, shim_from);			\
	hw_spend_on(shim_before);					\
	if (*shim_ours)							\
		shim_balance_passed(shim_dst, shim_sd, shim_idle);	\
	trace_load_balance(shim_dst, shim_sd, shim_idle, *shim_ours, shim_failed, &passes[hw.cpu], shim_moved); \
	shim_moved;							\
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
	struct rq *shim_of = (rq);					\
	enum hw_time shim_before = hw_spend_on(HW_TIME_NEWIDLE);	\
	simtime shim_from = hw.clk;					\
									\
	count_newidle(shim_of);						\
	trace_newidle_entry(shim_of);					\
	__auto_type shim_pulled = (name)(shim_of, rf, ##more);		\
	kern_newidle.found += shim_pulled > 0;				\
	hw_function_ran(HW_NEWIDLE_BALANCE, shim_from);			\
	hw_spend_on(shim_before);					\
	trace_newidle_exit(shim_of, shim_pulled);			\
	shim_pulled;							\
})
#define newidle_balance(args...)	SHIM_HOOK(NEWIDLE, newidle_balance, args)
#define sched_balance_newidle(args...)	SHIM_HOOK(NEWIDLE, sched_balance_newidle, args)

#define TIMED(function, name, args...)					\
({									\
	simtime shim_from = hw.clk;					\
	__auto_type shim_given = SHIM_KEEP((name)(args));		\
									\
	hw_function_ran(function, shim_from);				\
	SHIM_GIVE(shim_given, (name)(args));				\
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
	struct sched_domain *shim_sd = (sd);				\
	__auto_type shim_given = SHIM_KEEP((name)(shim_sd, next, ##more)); \
									\
	trace_newidle_domain(raw_cpu_rq(hw.cpu), shim_sd);		\
	SHIM_GIVE(shim_given, (name)(shim_sd, next, ##more));		\
})
#define update_next_balance(args...)	SHIM_HOOK(REACH_DOMAIN, update_next_balance, args)

/* By which newidle balancing passes over a domain where it seldom finds a task (NI_RANDOM). */
#define DRAW(name, args...)						\
({									\
	__auto_type shim_drawn = (name)(args);				\
									\
	trace_newidle_draw(raw_cpu_rq(hw.cpu), shim_drawn);		\
	shim_drawn;							\
})
#define sched_rng(args...)		SHIM_CALL(DRAW, sched_rng, ##args)

#define PREFER(name, p, nid, more...)					\
({									\
	struct task_struct *shim_of = (p);				\
	int shim_before = shim_of->numa_preferred_nid;			\
	__auto_type shim_given = SHIM_KEEP((name)(shim_of, nid, ##more)); \
									\
	trace_numa_prefer(shim_of, shim_before);			\
	SHIM_GIVE(shim_given, (name)(shim_of, nid, ##more));		\
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
	const char *line = (const char *)(&nohz.idle_cpus_mask + 1);
	int word;

	for (word = 0; word < BITS_TO_LONGS(hw_nr_cpus); word++)
		hw_hot_register(&nohz, cpumask_bits(nohz.idle_cpus_mask) + word);
	/* All that stands behind the mask, by whatever name: the flags, the count where there is one. */
	for (; line < (const char *)(&nohz + 1); line += SMP_CACHE_BYTES)
		hw_hot_register(&nohz, line);
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
