/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_CURRENT_H
#define _ASM_SIM_CURRENT_H

#include <hw.h>

struct task_struct;

#define get_current()	((struct task_struct *)hw.current_task)
#define current		get_current()

#endif
