/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a task, across tasks.c, exit.c, switch.c, mm.c and trace.c. */
#ifndef SIM_TASKS_H
#define SIM_TASKS_H

void sim_first_switch(void);
void sim_do_exit(void) __noreturn;
void sim_family_add(struct task_struct *parent, struct task_struct *child);
int sim_sched_new_task(struct task_struct *p, struct css_set *cset, unsigned long clone_flags);
void sim_fork_mm(struct task_struct *p, bool thread);
void sim_exec_mm(void);
void sim_exit_mm(void);
void sim_put_mm(struct mm_struct *mm);

/* its process's signals, the session's list of tasks: kernel/session.c */
void sim_fork_signal(struct task_struct *p, bool thread);
void sim_join_session(struct task_struct *p);
void sim_exit_signal(struct task_struct *p);
void sim_put_signal(struct task_struct *p);
void sim_trace_fork(struct task_struct *parent, struct task_struct *child);
void sim_trace_exit(struct task_struct *p);

#endif
