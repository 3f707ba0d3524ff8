/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a task, across tasks.c, exit.c, switch.c, mm.c and trace.c. */
#ifndef SHIM_TASKS_H
#define SHIM_TASKS_H

void shim_first_switch(void);
void shim_do_exit(void) __noreturn;
void shim_family_add(struct task_struct *parent, struct task_struct *child);
int shim_sched_new_task(struct task_struct *p, struct css_set *cset, unsigned long clone_flags);
void shim_fork_mm(struct task_struct *p, bool thread);
void shim_exec_mm(void);
void shim_exit_mm(void);
void shim_put_mm(struct mm_struct *mm);

/* its process's signals, the session's list of tasks: kernel/session.c */
void shim_fork_signal(struct task_struct *p, bool thread);
void shim_join_session(struct task_struct *p);
void shim_exit_signal(struct task_struct *p);
void shim_put_signal(struct task_struct *p);
void shim_trace_fork(struct task_struct *parent, struct task_struct *child);
void shim_trace_exit(struct task_struct *p);
void shim_trace_exec(struct task_struct *p);
void shim_trace_free(struct task_struct *p);
void shim_trace_wait(int which);

#endif
