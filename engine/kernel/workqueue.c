// SPDX-License-Identifier: GPL-2.0-only
/* Work the scheduler defers (rebuilding domains): a short-lived kernel thread runs it. */
#include <linux/workqueue.h>
#include "sim.h"

struct workqueue_struct *system_wq, *system_percpu_wq;

static void run_work(void *arg)
{
	struct work_struct *work = arg;

	clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
	work->func(work);
}

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	if (!sim.live)
		run_work(work);
	else
		wake_up_new_task(sim_kthread_create(run_work, work, -1, "kworker"));
	return true;
}
