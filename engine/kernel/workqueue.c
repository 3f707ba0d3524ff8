// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workqueues as kernel/workqueue.c runs them: each CPU has a pool of bound kworkers, of which one
 * runs at a time and another takes over while it sleeps; unbound works have a pool whose kworkers
 * run anywhere.  While a CPU is off-line its pool's kworkers are unbound.  A kworker is made when
 * it is first needed and stays.  The host runs one CPU at a time, so a pool needs no lock as long as
 * nothing between two looks at it gives way to other CPUs, as making a thread does.
 */
#include <linux/completion.h>
#include <linux/cpuhotplug.h>
#include <linux/sched/isolation.h>
#include <linux/workqueue.h>
#include "shim.h"

struct pool {
	int cpu;			/* -1: the unbound works' */
	bool bound;			/* its kworkers are, now */
	struct list_head works, idle, workers;
	int nr_workers, running;	/* bound, at work and not asleep in it */
};

struct kworker {
	/* Idle ones of the pool, the last to rest first; or busy ones of all. */
	struct list_head list;
	struct list_head sibling;	/* of the pool */
	struct pool *pool;
	struct task_struct *task;
	struct work_struct *work;	/* it is at */
	work_func_t last;		/* what it did before it rested */
	struct list_head again;		/* queued meanwhile: a work never runs twice at a time */
	bool counted;			/* in pool->running */
};

struct workqueue_struct {
	bool unbound;
};

static struct workqueue_struct bound_queue, unbound_queue = { .unbound = true };
struct workqueue_struct *system_wq = &bound_queue, *system_percpu_wq = &bound_queue;
struct workqueue_struct *system_unbound_wq = &unbound_queue, *system_dfl_wq = &unbound_queue;

static DEFINE_PER_CPU(struct pool, cpu_pool);
static struct pool unbound_pool;
static cpumask_t unbound_cpus;			/* its kworkers', once cpusets say so */
static LIST_HEAD(busy);

static bool needs_worker(const struct pool *pool)
{
	return !list_empty(&pool->works) && !pool->running;
}

static void count(struct kworker *worker, bool runs)
{
	runs = runs && worker->pool->bound;
	worker->pool->running += runs - worker->counted;
	worker->counted = runs;
}

static void worker_thread(void *arg);

static void add_worker(struct pool *pool)
{
	struct kworker *worker = hw_zalloc(sizeof(*worker), 64);
	char comm[TASK_COMM_LEN];

	if (pool->cpu < 0)
		snprintf(comm, sizeof(comm), "kworker/u%d:%d", 2 * hw_nr_cpus, pool->nr_workers++);
	else
		snprintf(comm, sizeof(comm), "kworker/%d:%d", pool->cpu, pool->nr_workers++);
	worker->pool = pool;
	INIT_LIST_HEAD(&worker->again);
	worker->task = shim_kthread_create(worker_thread, worker, pool->bound ? pool->cpu : -1, comm);
	worker->task->flags |= PF_WQ_WORKER | PF_NO_SETAFFINITY;
	if (pool == &unbound_pool && !cpumask_empty(&unbound_cpus)) {
		cpumask_copy(&worker->task->cpus_mask, &unbound_cpus);
		worker->task->nr_cpus_allowed = cpumask_weight(&unbound_cpus);
	}
	list_add(&worker->list, &pool->idle);
	list_add_tail(&worker->sibling, &pool->workers);
	wake_up_new_task(worker->task);
}

static void start_worker(struct pool *pool)
{
	struct kworker *worker = list_first_entry_or_null(&pool->idle, struct kworker, list);

	if (worker)
		wake_up_process(worker->task);
	else if (!shim_ext_keeps_from_forking())	/* else the one at work does it next */
		add_worker(pool);
}

static void run_work(struct work_struct *work)
{
	clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
	work->func(work);
}

static void run_works(struct kworker *worker, struct list_head *works)
{
	work_func_t does;

	worker->work = list_first_entry(works, struct work_struct, entry);
	list_del_init(&worker->work->entry);
	/* unbound ones run side by side */
	if (needs_worker(worker->pool))
		start_worker(worker->pool);
	does = worker->work->func;	/* what is done may be gone */
	run_work(worker->work);
	worker->last = does;
	worker->work = NULL;
}

static void worker_thread(void *arg)
{
	struct kworker *worker = arg;
	struct pool *pool = worker->pool;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!needs_worker(pool)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		list_move(&worker->list, &busy);
		count(worker, true);
		while (!list_empty(&worker->again) || (!list_empty(&pool->works) && pool->running <= 1))
			run_works(worker, list_empty(&worker->again) ? &pool->works : &worker->again);
		count(worker, false);
		list_move(&worker->list, &pool->idle);
	}
}

/* Called by schedule(), before and after. */
void wq_worker_sleeping(struct task_struct *task)
{
	struct kworker *worker = task->thread.kthread_arg;

	if (!worker->work)
		return;
	count(worker, false);
	if (needs_worker(worker->pool))
		start_worker(worker->pool);
}

void wq_worker_running(struct task_struct *task)
{
	struct kworker *worker = task->thread.kthread_arg;

	if (worker->work)
		count(worker, true);
}

/* Works that keep their CPU for long are not taken out of the count: none does. */
void wq_worker_tick(struct task_struct *task)
{
}

static struct kworker *worker_at(const struct work_struct *work)
{
	struct kworker *worker;

	list_for_each_entry(worker, &busy, list)
		if (worker->work == work)
			return worker;
	return NULL;
}

/* At boot there is one task, and nobody to wait for: it goes to the CPU and does the work there. */
static void run_at_boot(int cpu, struct work_struct *work)
{
	struct task_struct *boot_task = current;
	int boot_cpu = hw.cpu;

	if (cpu != WORK_CPU_UNBOUND && cpu != boot_cpu)
		hw_set_boot_cpu(cpu, raw_cpu_rq(cpu)->curr);
	run_work(work);
	hw_set_boot_cpu(boot_cpu, boot_task);
}

/* At boot no work is left to be waited for. */
bool flush_work(struct work_struct *work)
{
	bool waited = false;

	WARN_ON(!hw.live && work_pending(work));
	while (hw.live && (work_pending(work) || worker_at(work))) {
		schedule_timeout_uninterruptible(1);
		waited = true;
	}
	return waited;
}

/* Queued work that has not begun does not run any more. */
bool cancel_work_sync(struct work_struct *work)
{
	bool pending = work_pending(work);

	if (pending) {
		list_del_init(&work->entry);
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
	}
	flush_work(work);
	return pending;
}

static void queue(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	struct kworker *worker = worker_at(work);
	struct pool *pool = wq->unbound ? &unbound_pool :
			    raw_per_cpu_ptr(&cpu_pool, cpu == WORK_CPU_UNBOUND ? hw.cpu : cpu);

	if (!hw.live) {
		run_at_boot(cpu, work);
	} else if (worker) {
		list_add_tail(&work->entry, &worker->again);
	} else {
		list_add_tail(&work->entry, &pool->works);
		if (needs_worker(pool))
			start_worker(pool);
	}
}

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	queue(cpu, wq, work);
	return true;
}

/* nothing else delays one */
#if defined(CONFIG_PSI) || defined(CONFIG_SCHED_CLASS_EXT) || defined(CONFIG_NO_HZ_FULL)
void delayed_work_timer_fn(struct timer_list *t)
{
	struct delayed_work *dwork = container_of(t, struct delayed_work, timer);

	queue(dwork->cpu, dwork->wq, &dwork->work);
}

bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&dwork->work)))
		return false;
	dwork->wq = wq;
	dwork->cpu = cpu;
	dwork->timer.expires = jiffies + delay;
	if (housekeeping_enabled(HK_TYPE_TIMER)) {
		add_timer_on(&dwork->timer, housekeeping_test_cpu(hw.cpu, HK_TYPE_TIMER) ? hw.cpu :
						housekeeping_any_cpu(HK_TYPE_TIMER));
		return true;
	}
#ifdef TREE_HAS_ADD_TIMER_GLOBAL
	add_timer_global(&dwork->timer);
#else
	add_timer(&dwork->timer);
#endif
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	bool pending = timer_delete_sync(&dwork->timer);

	if (!pending)
		return cancel_work_sync(&dwork->work);
	clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&dwork->work));
	return true;
}
#endif

#ifdef CONFIG_PSI
/* The work that the calling kworker is at. */
struct work_struct *current_work(void)
{
	return current->flags & PF_WQ_WORKER ? ((struct kworker *)current->thread.kthread_arg)->work : NULL;
}

work_func_t wq_worker_last_func(struct task_struct *task)
{
	return ((struct kworker *)task->thread.kthread_arg)->last;
}
#endif

/* Some trees run works in softirq context; nothing here queues one. */
void workqueue_softirq_dead(unsigned int cpu)
{
}

void workqueue_softirq_action(bool highpri)
{
}

/* ------------------------------------------------------------------ calls that are waited for */

struct call {
	struct work_struct work;
	long (*fn)(void *arg);
	void *arg;
	long ret;
	struct completion done;
};

static void run_call(struct work_struct *work)
{
	struct call *call = container_of(work, struct call, work);

	call->ret = call->fn(call->arg);
	complete(&call->done);
}

long work_on_cpu_key(int cpu, long (*fn)(void *), void *arg, struct lock_class_key *key)
{
	struct call call = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&call.work, run_call);
	init_completion(&call.done);
	queue_work_on(cpu, system_wq, &call.work);
	wait_for_completion(&call.done);
	return call.ret;
}

/* At boot: what a CPU's kworker finds when it first runs. */
void shim_queue_first_work(int cpu, struct work_struct *work)
{
	set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
	list_add_tail(&work->entry, &raw_per_cpu_ptr(&cpu_pool, cpu)->works);
}

/* ------------------------------------------------------------------ CPUs going up and down */

/* What a kworker that is bound or set free again may run on, and whether it counts. */
static void set_bound(struct pool *pool, bool bound)
{
	const struct cpumask *mask = bound ? cpumask_of(pool->cpu) : cpu_possible_mask;
	struct kworker *worker;

	pool->bound = bound;
	list_for_each_entry(worker, &pool->workers, sibling) {
		count(worker, worker->work && task_is_running(worker->task));
		set_cpus_allowed_ptr(worker->task, mask);
	}
	if (needs_worker(pool))
		start_worker(pool);
}

/*
 * Unbound works keep away from CPUs of isolated partitions; where that leaves none, they stay as
 * they are.
 */
void shim_unbound_works_on(const struct cpumask *cpus)
{
	struct kworker *worker;

	if (!cpumask_intersects(cpus, cpu_online_mask))
		return;
	cpumask_copy(&unbound_cpus, cpus);
	list_for_each_entry(worker, &unbound_pool.workers, sibling)
		set_cpus_allowed_ptr(worker->task, &unbound_cpus);
}

static int go_online(unsigned int cpu)
{
	set_bound(raw_per_cpu_ptr(&cpu_pool, cpu), true);
	return 0;
}

static int go_offline(unsigned int cpu)
{
	set_bound(raw_per_cpu_ptr(&cpu_pool, cpu), false);
	return 0;
}

static void set_up(struct pool *pool, int cpu)
{
	INIT_LIST_HEAD(&pool->works);
	INIT_LIST_HEAD(&pool->idle);
	INIT_LIST_HEAD(&pool->workers);
	pool->cpu = cpu;
	pool->bound = cpu >= 0;
}

/* Every CPU has a first kworker from boot on. */
void shim_setup_workqueues(void)
{
	struct task_struct *boot_task = current;
	int cpu, boot_cpu = hw.cpu;

	set_up(&unbound_pool, -1);
	for_each_possible_cpu(cpu) {
		hw_set_boot_cpu(cpu, raw_cpu_rq(cpu)->curr);
		set_up(raw_per_cpu_ptr(&cpu_pool, cpu), cpu);
		add_worker(raw_per_cpu_ptr(&cpu_pool, cpu));
	}
	hw_set_boot_cpu(boot_cpu, boot_task);
	cpuhp_setup_state_nocalls(CPUHP_AP_WORKQUEUE_ONLINE, "workqueue:online", go_online, go_offline);
}
