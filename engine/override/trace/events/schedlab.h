/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of ours: decisions that the kernel's own tracepoints do not show. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedlab

#if !defined(_TRACE_SCHEDLAB_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SCHEDLAB_H

#include <linux/tracepoint.h>

struct task_struct;
struct rq;
struct sched_domain;
struct sched_group;
struct lb_env;
struct sd_lb_stats;
struct sg_lb_stats;
struct shim_pass;
struct shim_idle_inputs;

/*
 * What a class's select_task_rq() answers at wakeup, fork and exec; running are the tasks of two
 * runqueues, idle_cpus those of the LLC of prev_cpu.
 */
TRACE_EVENT(select_task_rq,

	TP_PROTO(struct task_struct *p, int prev_cpu, int cpu, int flags),

	TP_ARGS(p, prev_cpu, cpu, flags),

	TP_STRUCT__entry(
		__array(	char,	comm,	TASK_COMM_LEN	)
		__field(	pid_t,	pid			)
		__field(	int,	this_cpu		)
		__field(	int,	prev_cpu		)
		__field(	int,	cpu			)
		__field(	int,	flags			)
		__field(	unsigned long,	util		)
		__field(	unsigned int,	this_running	)
		__field(	unsigned int,	prev_running	)
		__field(	unsigned int,	idle_cpus	)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->this_cpu	= raw_smp_processor_id();
		__entry->prev_cpu	= prev_cpu;
		__entry->cpu		= cpu;
		__entry->flags		= flags;
		__entry->util		= p->se.avg.util_avg;
		__entry->this_running	= raw_cpu_rq(__entry->this_cpu)->nr_running;
		__entry->prev_running	= raw_cpu_rq(prev_cpu)->nr_running;
		__entry->idle_cpus	= shim_idle_near(prev_cpu);
	),

	TP_printk("comm=%s pid=%d this_cpu=%d prev_cpu=%d cpu=%d flags=%#x util=%lu "
		  "this_running=%u prev_running=%u idle_cpus=%u",
		  __entry->comm, __entry->pid, __entry->this_cpu, __entry->prev_cpu,
		  __entry->cpu, __entry->flags, __entry->util, __entry->this_running,
		  __entry->prev_running, __entry->idle_cpus)
);

/* What __schedule() goes on with, and from what. */
TRACE_EVENT(pick_next,

	TP_PROTO(struct rq *rq, struct task_struct *next),

	TP_ARGS(rq, next),

	TP_STRUCT__entry(
		__array(	char,	comm,	TASK_COMM_LEN		)
		__field(	pid_t,	pid				)
		__array(	char,	prev_comm,	TASK_COMM_LEN	)
		__field(	pid_t,	prev_pid			)
		__field(	const char *,	class			)
		__field(	unsigned int,	nr_running		)
	),

	TP_fast_assign(
		memcpy(__entry->comm, next->comm, TASK_COMM_LEN);
		__entry->pid		= next->pid;
		memcpy(__entry->prev_comm, rq->curr->comm, TASK_COMM_LEN);
		__entry->prev_pid	= rq->curr->pid;
		__entry->class		= next->sched_class == &stop_sched_class ? "stop" :
					  next->sched_class == &dl_sched_class ? "deadline" :
					  next->sched_class == &rt_sched_class ? "rt" :
					  next->sched_class == &fair_sched_class ? "fair" :
					  next->sched_class == &idle_sched_class ? "idle" : "other";
		__entry->nr_running	= rq->nr_running;
	),

	TP_printk("comm=%s pid=%d prev_comm=%s prev_pid=%d class=%s nr_running=%u",
		  __entry->comm, __entry->pid, __entry->prev_comm, __entry->prev_pid,
		  __entry->class, __entry->nr_running)
);

/* One group as update_sg_lb_stats() sums it up for the pass of dst_cpu. */
TRACE_EVENT(group_stats,

	TP_PROTO(struct lb_env *env, struct sd_lb_stats *sds, struct sched_group *group,
		 struct sg_lb_stats *sgs),

	TP_ARGS(env, sds, group, sgs),

	TP_STRUCT__entry(
		__field(	int,		dst_cpu		)
		__field(	int,		level		)
		__field(	const char *,	domain		)
		__field(	int,		group		)
		__field(	bool,		local		)
		__field(	struct sg_lb_stats,	s	)
	),

	TP_fast_assign(
		__entry->dst_cpu	= env->dst_cpu;
		__entry->level		= env->sd->level;
		__entry->domain		= env->sd->name;
		__entry->group		= cpumask_first(sched_group_span(group));
		__entry->local		= group == sds->local;
		__entry->s		= *sgs;
	),

	TP_printk("dst_cpu=%d level=%d domain=%s group=%d local=%d weight=%u type=%s "
		  "load=%lu util=%lu runnable=%lu capacity=%lu nr_running=%u fair_running=%u "
		  "idle_cpus=%u misfit=%lu avg_load=%lu",
		  __entry->dst_cpu, __entry->level, __entry->domain, __entry->group,
		  __entry->local, __entry->s.group_weight,
		  __print_symbolic(__entry->s.group_type,
			{ group_has_spare, "has_spare" }, { group_fully_busy, "fully_busy" },
			{ group_misfit_task, "misfit_task" }, SHIM_GROUP_TYPES_MORE
			{ group_asym_packing, "asym_packing" }, { group_imbalanced, "imbalanced" },
			{ group_overloaded, "overloaded" }),
		  __entry->s.group_load, __entry->s.group_util, __entry->s.group_runnable,
		  __entry->s.group_capacity, __entry->s.sum_nr_running,
		  __entry->s.sum_h_nr_running, __entry->s.idle_cpus,
		  __entry->s.group_misfit_task_load, __entry->s.avg_load)
);

/*
 * A balance pass for a CPU over one of its domains, at its end.  ours=0: should_we_balance()
 * left it to another CPU.  group (its first CPU) and queue are the busiest ones, -1 when there
 * was none; active: the task that runs there is pushed by its CPU's stopper.
 */
TRACE_EVENT(load_balance,

	TP_PROTO(int cpu, struct sched_domain *sd, int idle, int ours, unsigned int failed,
		 struct shim_pass *pass, int moved),

	TP_ARGS(cpu, sd, idle, ours, failed, pass, moved),

	TP_STRUCT__entry(
		__field(	int,		cpu		)
		__field(	int,		idle		)
		__field(	int,		level		)
		__field(	const char *,	domain		)
		__field(	unsigned int,	span		)
		__field(	int,		ours		)
		__field(	unsigned int,	failed		)
		__field(	int,		group		)
		__field(	int,		queue		)
		__field(	long,		imbalance	)
		__field(	int,		migration	)
		__field(	int,		moved		)
		__field(	bool,		active		)
	),

	TP_fast_assign(
		__entry->cpu		= cpu;
		__entry->idle		= idle;
		__entry->level		= sd->level;
		__entry->domain		= sd->name;
		__entry->span		= sd->span_weight;
		__entry->ours		= ours;
		__entry->failed		= failed;
		__entry->group		= pass->group ? cpumask_first(sched_group_span(pass->group)) : -1;
		__entry->queue		= pass->queue ? pass->queue->cpu : -1;
		__entry->imbalance	= pass->imbalance;
		__entry->migration	= pass->group ? pass->migration : -1;
		__entry->moved		= moved;
		__entry->active		= pass->queue && pass->queue->active_balance &&
					  pass->queue->push_cpu == cpu;
	),

	TP_printk("cpu=%d idle=%s level=%d domain=%s span=%u ours=%d failed_before=%u group=%d queue=%d "
		  "imbalance=%ld migration=%s pulled=%d active=%d",
		  __entry->cpu,
		  __print_symbolic(__entry->idle, { SHIM_CPU_BUSY, "busy" }, { CPU_IDLE, "idle" },
				   { CPU_NEWLY_IDLE, "newidle" }),
		  __entry->level, __entry->domain, __entry->span, __entry->ours,
		  __entry->failed, __entry->group, __entry->queue, __entry->imbalance,
		  __print_symbolic(__entry->migration, { migrate_load, "load" },
				   { migrate_util, "util" }, { migrate_task, "task" },
				   { migrate_misfit, "misfit" }, SHIM_MIGRATION_TYPES_MORE
				   { -1, "none" }),
		  __entry->moved, __entry->active)
);

/*
 * A CPU runs out of tasks and asks newidle balancing for one; max_newidle_lb_cost is its lowest
 * domain's, and pending a wakeup under way to it.
 */
TRACE_EVENT(newidle_entry,

	TP_PROTO(struct rq *rq),

	TP_ARGS(rq),

	TP_STRUCT__entry(
		__field(	int,	cpu		)
		__field(	u64,	avg_idle	)
		__field(	bool,	overloaded	)
		__field(	bool,	pending		)
		__field(	u64,	max_cost	)
	),

	TP_fast_assign(
		struct sched_domain *sd = rcu_dereference_raw(rq->sd);

		__entry->cpu		= rq->cpu;
		__entry->avg_idle	= rq->avg_idle;
		__entry->overloaded	= SHIM_RD_OVERLOADED(rq->rd);
		__entry->pending	= rq->ttwu_pending;
		__entry->max_cost	= sd ? sd->max_newidle_lb_cost : 0;
	),

	TP_printk("cpu=%d avg_idle=%llu overloaded=%d pending=%d max_newidle_lb_cost=%llu",
		  __entry->cpu, __entry->avg_idle, __entry->overloaded, __entry->pending,
		  __entry->max_cost)
);

/* Newidle balancing reaches a domain and weighs its cost; a pass follows if it is worth it. */
TRACE_EVENT(newidle_domain,

	TP_PROTO(struct rq *rq, struct sched_domain *sd),

	TP_ARGS(rq, sd),

	TP_STRUCT__entry(
		__field(	int,		cpu		)
		__field(	int,		level		)
		__field(	const char *,	domain		)
		__field(	u64,		avg_idle	)
		__field(	u64,		max_cost	)
	),

	TP_fast_assign(
		__entry->cpu		= rq->cpu;
		__entry->level		= sd->level;
		__entry->domain		= sd->name;
		__entry->avg_idle	= rq->avg_idle;
		__entry->max_cost	= sd->max_newidle_lb_cost;
	),

	TP_printk("cpu=%d level=%d domain=%s avg_idle=%llu max_newidle_lb_cost=%llu",
		  __entry->cpu, __entry->level, __entry->domain, __entry->avg_idle,
		  __entry->max_cost)
);

/*
 * The random number that decides whether the domain reached last is passed over, as newidle
 * balancing takes it.
 */
TRACE_EVENT(newidle_draw,

	TP_PROTO(struct rq *rq, u32 drawn),

	TP_ARGS(rq, drawn),

	TP_STRUCT__entry(
		__field(	int,	cpu	)
		__field(	u32,	d1k	)
	),

	TP_fast_assign(
		__entry->cpu	= rq->cpu;
		__entry->d1k	= drawn % 1024;
	),

	TP_printk("cpu=%d d1k=%u", __entry->cpu, __entry->d1k)
);

/* pulled as newidle balancing answers: 1 and more for tasks, -1 for one of a higher class. */
TRACE_EVENT(newidle_exit,

	TP_PROTO(struct rq *rq, int pulled),

	TP_ARGS(rq, pulled),

	TP_STRUCT__entry(
		__field(	int,	cpu	)
		__field(	int,	pulled	)
	),

	TP_fast_assign(
		__entry->cpu	= rq->cpu;
		__entry->pulled	= pulled;
	),

	TP_printk("cpu=%d pulled=%d", __entry->cpu, __entry->pulled)
);

/*
 * The idle state a cpuidle governor answers, and what it asked for: nanoseconds, -1 for what it did
 * not ask.  typical is menu's get_typical_interval(), in the kernel's own microseconds.
 */
TRACE_EVENT(idle_choice,

	TP_PROTO(int cpu, const char *state, bool stop_tick, const struct shim_idle_inputs *inputs),

	TP_ARGS(cpu, state, stop_tick, inputs),

	TP_STRUCT__entry(
		__field(	int,		cpu		)
		__field(	const char *,	state		)
		__field(	bool,		stop_tick	)
		__field(	struct shim_idle_inputs,	in	)
	),

	TP_fast_assign(
		__entry->cpu		= cpu;
		__entry->state		= state;
		__entry->stop_tick	= stop_tick;
		__entry->in		= *inputs;
	),

	TP_printk("cpu=%d state=%s stop_tick=%d latency_limit=%lld next_timer=%lld typical_us=%lld",
		  __entry->cpu, __entry->state, __entry->stop_tick, __entry->in.latency_limit,
		  __entry->in.next_timer, __entry->in.typical)
);

/*
 * The frequency schedutil wants for a policy (its first CPU); the driver rounds it up to an
 * operating point.
 */
TRACE_EVENT(next_freq,

	TP_PROTO(int policy, unsigned long util, unsigned long max, unsigned int current_khz,
		 unsigned int khz),

	TP_ARGS(policy, util, max, current_khz, khz),

	TP_STRUCT__entry(
		__field(	int,		policy		)
		__field(	unsigned long,	util		)
		__field(	unsigned long,	max		)
		__field(	unsigned int,	current_khz	)
		__field(	unsigned int,	khz		)
	),

	TP_fast_assign(
		__entry->policy		= policy;
		__entry->util		= util;
		__entry->max		= max;
		__entry->current_khz	= current_khz;
		__entry->khz		= khz;
	),

	TP_printk("policy=%d util=%lu max=%lu current_khz=%u next_khz=%u", __entry->policy,
		  __entry->util, __entry->max, __entry->current_khz, __entry->khz)
);

/*
 * The preferred node of a task is set; before: the one it had, -1 for none; faults: what it
 * remembers of both.
 */
TRACE_EVENT(numa_prefer,

	TP_PROTO(struct task_struct *p, int before),

	TP_ARGS(p, before),

	TP_STRUCT__entry(
		__array(	char,	comm,	TASK_COMM_LEN	)
		__field(	pid_t,	pid			)
		__field(	int,	before			)
		__field(	int,	node			)
		__field(	unsigned long,	faults_before	)
		__field(	unsigned long,	faults		)
		__field(	unsigned int,	scan_period	)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->before		= before;
		__entry->node		= p->numa_preferred_nid;
		__entry->faults_before	= before < 0 ? 0 : task_faults(p, before);
		__entry->faults		= p->numa_preferred_nid < 0 ? 0 : task_faults(p, p->numa_preferred_nid);
		__entry->scan_period	= p->numa_scan_period;
	),

	TP_printk("comm=%s pid=%d before=%d node=%d faults_before=%lu faults=%lu scan_period=%u",
		  __entry->comm, __entry->pid, __entry->before, __entry->node,
		  __entry->faults_before, __entry->faults, __entry->scan_period)
);

/*
 * A hinting fault on a page of a node, from a CPU of node here: wanted, if
 * should_numa_migrate_memory() says so of a page elsewhere, and whether it moved.  last: the node
 * of the fault before it, -1 for none.
 */
TRACE_EVENT(numa_fault,

	TP_PROTO(int node, int here, int last, bool shared, bool wanted, bool moved),

	TP_ARGS(node, here, last, shared, wanted, moved),

	TP_STRUCT__entry(
		__field(	int,	node	)
		__field(	int,	here	)
		__field(	int,	last	)
		__field(	bool,	shared	)
		__field(	bool,	wanted	)
		__field(	bool,	moved	)
	),

	TP_fast_assign(
		__entry->node	= node;
		__entry->here	= here;
		__entry->last	= last;
		__entry->shared	= shared;
		__entry->wanted	= wanted;
		__entry->moved	= moved;
	),

	TP_printk("node=%d here=%d last=%d shared=%d wanted=%d moved=%d", __entry->node,
		  __entry->here, __entry->last, __entry->shared, __entry->wanted, __entry->moved)
);

/* The CPUs that a task may use: as it begins, and whenever they change. */
TRACE_EVENT(cpus_allowed,

	TP_PROTO(struct task_struct *p),

	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(	char,				comm,	TASK_COMM_LEN	)
		__field(	pid_t,				pid			)
		__field(	const struct cpumask *,		cpus			)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid	= p->pid;
		__entry->cpus	= &p->cpus_mask;
	),

	TP_printk("comm=%s pid=%d cpus=%*pbl", __entry->comm, __entry->pid,
		  cpumask_pr_args(__entry->cpus))
);

#ifndef SHIM_SCX_TEXT
#define SHIM_SCX_NAME	48
#define SHIM_SCX_TEXT	160
#endif

DECLARE_EVENT_CLASS(scx,

	TP_PROTO(const char *name, const char *text),

	TP_ARGS(name, text),

	TP_STRUCT__entry(
		__array(	char,	name,	SHIM_SCX_NAME	)
		__array(	char,	text,	SHIM_SCX_TEXT	)
	),

	TP_fast_assign(
		strscpy(__entry->name, name, SHIM_SCX_NAME);
		strscpy(__entry->text, text, SHIM_SCX_TEXT);
	),

	TP_printk("name=%s%s", __entry->name, __entry->text)
);

/* The kernel calls an operation of a sched_ext scheduler: text has its arguments, tasks by pid. */
DEFINE_EVENT(scx, scx_op,

	TP_PROTO(const char *name, const char *text),

	TP_ARGS(name, text)
);

/* Such an operation ends, with its answer if it has one. */
DEFINE_EVENT(scx, scx_answer,

	TP_PROTO(const char *name, const char *text),

	TP_ARGS(name, text)
);

/* A helper or kfunc that the scheduler called, with its arguments and its answer. */
DEFINE_EVENT(scx, scx_call,

	TP_PROTO(const char *name, const char *text),

	TP_ARGS(name, text)
);

#endif

#include <trace/define_trace.h>
