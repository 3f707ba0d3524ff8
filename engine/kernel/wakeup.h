/* SPDX-License-Identifier: GPL-2.0-only */
/* What a wakeup costs, and when others see that it was: wakeup.c. */
#ifndef SHIM_WAKEUP_H
#define SHIM_WAKEUP_H

struct rq;
struct task_struct;

void shim_wakeup_begins(struct task_struct *p);
void shim_wakeup_sends(struct task_struct *p, int to);
void shim_wakeup_queues(struct task_struct *p);
int shim_looks_idle(struct rq *rq);
void shim_wakeup_looks_at(int cpu);

#endif
