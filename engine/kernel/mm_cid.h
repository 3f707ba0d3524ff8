/* SPDX-License-Identifier: GPL-2.0-only */
/* Concurrency ids: mm_cid.c. */
#ifndef SIM_MM_CID_H
#define SIM_MM_CID_H

#ifdef TREE_HAS_MM_CID_USERS
#define SIM_CID_ACTIVE(p)	((p)->mm_cid.active)
#else
#define SIM_CID_ACTIVE(p)	((p)->mm_cid_active)
#endif

#ifdef CONFIG_SCHED_MM_CID
void shim_cid_new_mm(struct mm_struct *mm, struct task_struct *p);
void shim_cid_free_mm(struct mm_struct *mm);
void shim_cid_new_task(struct task_struct *p);
void shim_cid_fork(struct task_struct *p);
void shim_cid_join(struct mm_struct *mm);
void shim_cid_exit(struct task_struct *p);
void shim_cid_switched(struct task_struct *next);
/* hooked/kernel/sched/core.c */
void shim_cid_allow(struct mm_struct *mm, const struct cpumask *cpus);
#else
static inline void shim_cid_new_mm(struct mm_struct *mm, struct task_struct *p) { }
static inline void shim_cid_free_mm(struct mm_struct *mm) { }
static inline void shim_cid_new_task(struct task_struct *p) { }
static inline void shim_cid_fork(struct task_struct *p) { }
static inline void shim_cid_join(struct mm_struct *mm) { }
static inline void shim_cid_exit(struct task_struct *p) { }
static inline void shim_cid_switched(struct task_struct *next) { }
/* Trees without concurrency ids have none of these. */
#define sched_mm_cid_before_execve(p)	do { } while (0)
#define sched_mm_cid_after_execve(p)	do { } while (0)
#endif

#endif
