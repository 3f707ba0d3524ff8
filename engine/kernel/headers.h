/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's headers that the shim begins with, and that most of the kernel's own files read: a
 * build reads them once for each (docs/internals/engine.md).  None of them has tracepoints, which
 * some files define as they read them.
 */
#ifndef SHIM_HEADERS_H
#define SHIM_HEADERS_H

#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/signal.h>
#include <linux/sched/init.h>
#include <linux/sched/hotplug.h>
#include <linux/sched/clock.h>
#include <linux/init_task.h>
#include <linux/interrupt.h>
#include <linux/hrtimer.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/smpboot.h>
#include <linux/wait.h>
#include <linux/tick.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/sched/cputime.h>
#include <linux/slab.h>
#include <linux/module.h>
#include <linux/syscalls.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/irq_work.h>

#endif
