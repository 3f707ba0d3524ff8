// SPDX-License-Identifier: GPL-2.0-only
/* Our probes on the kernel's tracepoints, and printing them for traces. */
#include <linux/binfmts.h>
#include "shim.h"
#include <trace/events/sched.h>
#include <trace/events/schedlab.h>
#include "tasks.h"
#ifdef CONFIG_SCHED_CLASS_EXT
#include "scx/scx.h"
#endif
#include "trace_print.h"
#include "wakeup.h"

#define probe(name, fn)	(shim_tp_##name.probe = (fn))

static void on_switch(bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	hw_hash((u64)(u32)prev->pid << 32 | (u32)next->pid, prev_state | (u64)preempt << 32);
	shim_spent_switch(prev, preempt || !prev_state, next);
#ifdef CONFIG_SCHED_CLASS_EXT
	if (shim_scx_on_switch)
		shim_scx_on_switch(preempt, prev, next, prev_state);
#endif
	hw_note_switch(is_idle_task(prev) ? NULL : &prev->thread.task->hw,
		       preempt || !prev_state,
		       is_idle_task(next) ? NULL : &next->thread.task->hw);
}

static void on_waking(struct task_struct *p)
{
	hw_note_woken(&p->thread.task->hw);
	hw_task_is_woken(&p->thread.task->hw);
	shim_wakeup_begins(p);
}

static void on_wakeup(struct task_struct *p)
{
	shim_wakeup_queues(p);	/* if it was still queued, or ran */
	hw_hash((u32)p->pid, task_cpu(p));
	shim_spent_queued(p, task_cpu(p));
}

static void on_migrate(struct task_struct *p, int dest)
{
	hw_hash((u64)(u32)p->pid << 32 | 0x80000000u, (u64)task_cpu(p) << 32 | dest);
	hw_note_migration(&p->thread.task->hw, task_cpu(p), dest, READ_ONCE(p->__state) == TASK_WAKING);
	shim_spent_moved(p, dest);
}

static void on_wakeup_new(struct task_struct *p)
{
	hw_note_woken(&p->thread.task->hw);
	trace_cpus_allowed(p);
	on_wakeup(p);
}

/* An idle CPU that polls its flags needs no interrupt: it sees the line change. */
static void on_wake_idle(int cpu)
{
	hw_send_vector(cpu, HW_POLL, hw_mechanisms.ipi ?
		       hw_costs.line[hw_cpu_distance[hw.cpu][cpu]] : 0);
	shim_spent_look(raw_cpu_rq(cpu));
}

static void on_nr_running(struct rq *rq, int change)
{
	shim_spent_look(rq);
}

void shim_setup_probes(void)
{
	probe(sched_switch, on_switch);
	probe(sched_waking, on_waking);
	probe(sched_wakeup, on_wakeup);
	probe(sched_wakeup_new, on_wakeup_new);
	probe(sched_migrate_task, on_migrate);
	probe(sched_wake_idle_without_ipi, on_wake_idle);
	probe(sched_update_nr_running_tp, on_nr_running);
}

void shim_trace_fork(struct task_struct *parent, struct task_struct *child)
{
	trace_sched_process_fork(parent, child);
}

/* In the order of begin_new_exec() and exec_binprm(); a program is called as its task is. */
void shim_trace_exec(struct task_struct *p)
{
	struct linux_binprm bprm = { .filename = p->comm, .interp = p->comm };

#ifdef TREE_HAS_PREPARE_EXEC
	trace_sched_prepare_exec(p, &bprm);
#endif
	trace_sched_process_exec(p, p->pid, &bprm);
}

/* which: 0 for any child */
void shim_trace_wait(int which)
{
	char room[sizeof(struct pid) + sizeof(struct upid)] __aligned(8) = { };
	struct pid *pid = (struct pid *)room;

	pid->numbers[0].nr = which;
	trace_sched_process_wait(pid);
}

void shim_trace_free(struct task_struct *p)
{
	trace_sched_process_free(p);
}

void shim_trace_exit(struct task_struct *p)
{
#ifdef TREE_HAS_EXIT_GROUP_DEAD
	trace_sched_process_exit(p, (p->flags & PF_KTHREAD) || !atomic_read(&p->active_mm->mm_users));
#else
	trace_sched_process_exit(p);
#endif
}

const char *shim_print_flags(unsigned long flags, const char *delim,
			     const struct trace_print_flags *table)
{
	static char buf[128];
	int len = 0;

	buf[0] = 0;
	for (; table->name; table++)
		if (flags & table->mask)
			len += scnprintf(buf + len, sizeof(buf) - len, "%s%s",
					 len ? delim : "", table->name);
	return buf;
}

const char *shim_print_symbolic(unsigned long value, const struct trace_print_flags *table)
{
	static char buf[24];

	for (; table->name; table++)
		if (value == table->mask)
			return table->name;
	snprintf(buf, sizeof(buf), "0x%lx", value);
	return buf;
}

/* As in ftrace: irqs off, need-resched, hard or soft interrupt, preemption depth. */
static void context_flags(char flags[5])
{
	unsigned int depth = preempt_count() & 0xf;

	flags[0] = irqs_disabled() ? 'd' : '.';
	flags[1] = need_resched() ? 'N' : '.';
	flags[2] = !in_hardirq() ? in_serving_softirq() ? 's' : '.' :
		   in_serving_softirq() ? 'H' : 'h';
	flags[3] = depth ? "0123456789abcdef"[depth] : '.';
	flags[4] = 0;
}

void shim_trace_printf(const struct kern_tracepoint *tp, const char *fmt, ...)
{
	static char buf[4096];		/* of a list of CPUs, too */
	char flags[5];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	context_flags(flags);
	shim_handlers->traced(tp, flags, buf, len);
}
