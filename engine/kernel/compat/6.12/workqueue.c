// SPDX-License-Identifier: GPL-2.0-only
/* 6.12 runs some works in softirq context; nothing here queues one. And it waits for work on a CPU. */
#include <linux/completion.h>
#include <linux/workqueue.h>
#include "../../sim.h"

void workqueue_softirq_dead(unsigned int cpu)
{
}

void workqueue_softirq_action(bool highpri)
{
}

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
