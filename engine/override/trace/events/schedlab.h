/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of ours: decisions that the kernel's own tracepoints do not show. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedlab

#if !defined(_TRACE_SCHEDLAB_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SCHEDLAB_H

#include <linux/tracepoint.h>

/* What a class's select_task_rq() answers at wakeup, fork and exec. */
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
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid		= p->pid;
		__entry->this_cpu	= raw_smp_processor_id();
		__entry->prev_cpu	= prev_cpu;
		__entry->cpu		= cpu;
		__entry->flags		= flags;
	),

	TP_printk("comm=%s pid=%d this_cpu=%d prev_cpu=%d cpu=%d flags=%#x",
		  __entry->comm, __entry->pid, __entry->this_cpu, __entry->prev_cpu,
		  __entry->cpu, __entry->flags)
);

#endif

#include <trace/define_trace.h>
