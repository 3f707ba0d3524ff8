// SPDX-License-Identifier: GPL-2.0-only
/* 6.12 runs some works in softirq context; nothing here queues one. */
#include <linux/workqueue.h>
#include "../../sim.h"

void workqueue_softirq_dead(unsigned int cpu)
{
}

void workqueue_softirq_action(bool highpri)
{
}
