// SPDX-License-Identifier: GPL-2.0-only
/* kernel/sched/fair.c with tracepoints in its load balancing; some functions have two names. */
#include "sim.h"
#include <trace/events/schedlab.h>
#include "hook.h"

#define GROUP_STATS(name, env, sds, group, sgs, more...)		\
({									\
	(name)(env, sds, group, sgs, ##more);				\
	trace_group_stats(env, sds, group, sgs);			\
})
#define update_sg_lb_stats(args...)	SIM_HOOK(GROUP_STATS, update_sg_lb_stats, args)

/* What a CPU's present pass has found; a CPU makes one at a time. */
struct sim_pass {
	struct sched_group *group;
	struct rq *queue;
	long imbalance;
	int migration;
};
static struct sim_pass passes[SIM_MAX_CPUS];
static void found_queue(struct lb_env *env, struct sched_group *group, struct rq *queue);

#define FIND_QUEUE(name, env, group)					\
({									\
	struct rq *__queue = (name)(env, group);			\
									\
	found_queue(env, group, __queue);				\
	__queue;							\
})
#define find_busiest_queue(args...)	SIM_HOOK_2ND(FIND_QUEUE, find_busiest_queue, args)
#define sched_balance_find_src_rq(args...) \
	SIM_HOOK_2ND(FIND_QUEUE, sched_balance_find_src_rq, args)

#define BALANCE(name, dst, rq, sd, idle, ours, more...)			\
({									\
	unsigned int __failed = (sd)->nr_balance_failed;		\
	int __moved;							\
									\
	simtime __from = sim.clk;					\
									\
	passes[sim.cpu] = (struct sim_pass) { };			\
	__moved = (name)(dst, rq, sd, idle, ours, ##more);		\
	sim_function_ran(SIM_LOAD_BALANCE, __from);			\
	trace_load_balance(dst, sd, idle, *(ours), __failed, &passes[sim.cpu], __moved); \
	__moved;							\
})
#define load_balance(args...)		SIM_HOOK(BALANCE, load_balance, args)
#define sched_balance_rq(args...)	SIM_HOOK(BALANCE, sched_balance_rq, args)

#define NEWIDLE(name, rq, rf)						\
({									\
	simtime __from = sim.clk;					\
	int __pulled;							\
									\
	trace_newidle_entry(rq);					\
	__pulled = (name)(rq, rf);					\
	sim_function_ran(SIM_NEWIDLE_BALANCE, __from);			\
	trace_newidle_exit(rq, __pulled);				\
	__pulled;							\
})
#define newidle_balance(args...)	SIM_HOOK(NEWIDLE, newidle_balance, args)
#define sched_balance_newidle(args...)	SIM_HOOK(NEWIDLE, sched_balance_newidle, args)

#define TIMED(function, name, args...)					\
({									\
	simtime __from = sim.clk;					\
									\
	(name)(args);							\
	sim_function_ran(function, __from);				\
})
#define SD_STATS(name, args...)		TIMED(SIM_UPDATE_SD_LB_STATS, name, args)
#define update_sd_lb_stats(args...)	SIM_HOOK(SD_STATS, update_sd_lb_stats, args)

#define BLOCKED(name, args...)		TIMED(SIM_UPDATE_BLOCKED_AVERAGES, name, args)
#define update_blocked_averages(args...) SIM_HOOK(BLOCKED, update_blocked_averages, args)
#define sched_balance_update_blocked_averages(args...) \
	SIM_HOOK(BLOCKED, sched_balance_update_blocked_averages, args)

/* The first thing newidle balancing does about a domain it reaches. */
#define REACH_DOMAIN(name, sd, next)					\
({									\
	(name)(sd, next);						\
	trace_newidle_domain(raw_cpu_rq(sim.cpu), sd);			\
})
#define update_next_balance(args...)	SIM_HOOK(REACH_DOMAIN, update_next_balance, args)

#include <kernel/sched/fair.c>

static void found_queue(struct lb_env *env, struct sched_group *group, struct rq *queue)
{
	passes[sim.cpu] = (struct sim_pass) {
		.group = group, .queue = queue,
		.imbalance = env->imbalance, .migration = env->migration_type,
	};
}

void sim_register_nohz_lines(void)
{
	int word;

	for (word = 0; word < BITS_TO_LONGS(sim_nr_cpus); word++)
		sim_hot_register(&nohz, cpumask_bits(nohz.idle_cpus_mask) + word);
	sim_hot_register(&nohz, &nohz.nr_cpus);
}

/* Here, where the records' sources are known. */
#define CREATE_TRACE_POINTS
#include <trace/events/schedlab.h>
