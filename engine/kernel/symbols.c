// SPDX-License-Identifier: GPL-2.0-only
/* Data and small answers that unlinked parts of the kernel would give. */
#include <linux/kernel.h>
#include <linux/mmzone.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>
#include <linux/random.h>
#include <linux/blkdev.h>
#include <linux/refcount.h>
#include <linux/once.h>
#include <linux/sysctl.h>
#include <linux/capability.h>
#include <linux/rcuwait.h>
#include <linux/tracepoint-defs.h>
#include "shim.h"

const DECLARE_BITMAP(cpu_all_bits, NR_CPUS) = CPU_BITS_ALL;

#define MASK1(x)	[x + 1][0] = 1UL << (x)
#define MASK8(x)	MASK1(x), MASK1(x + 1), MASK1(x + 2), MASK1(x + 3), \
			MASK1(x + 4), MASK1(x + 5), MASK1(x + 6), MASK1(x + 7)
const unsigned long cpu_bit_bitmap[BITS_PER_LONG + 1][BITS_TO_LONGS(NR_CPUS)] = {
	MASK8(0), MASK8(8), MASK8(16), MASK8(24), MASK8(32), MASK8(40), MASK8(48), MASK8(56)
};

__cacheline_aligned DEFINE_RWLOCK(tasklist_lock);
int oops_in_progress;
bool static_key_initialized = true;
struct uts_namespace init_uts_ns;
struct user_namespace init_user_ns;

/* Sections of the kernel image that nothing here lies in. */
char __sched_text_start[1], __sched_text_end[1];
char __cpuidle_text_start[1], __cpuidle_text_end[1];

/* Whoever writes a knob is root. */
bool capable(int cap)
{
	return true;
}

void refcount_warn_saturate(refcount_t *r, enum refcount_saturation_type t)
{
	hw_bug("refcount saturated or used after free", t, __func__);
}

/* No block devices, signals or posix timers: nothing to do at these points. */
void __blk_flush_plug(struct blk_plug *plug, bool from_schedule)
{
}

void calculate_sigpending(void)
{
}

void run_posix_cpu_timers(void)
{
}

void rt_mutex_adjust_pi(struct task_struct *p)
{
}

/* All randomness of a run comes from its seed. */
u32 __get_random_u32_below(u32 ceil)
{
	return ((hw_random() >> 32) * ceil) >> 32;
}

void get_random_bytes(void *buf, size_t len)
{
	u8 *p = buf;

	while (len--)
		*p++ = hw_random() >> 56;
}

bool __do_once_start(bool *done, unsigned long *flags)
{
	return !*done;
}

void __do_once_done(bool *done, struct static_key_true *once_key, unsigned long *flags,
		    struct module *mod)
{
	*done = true;
}

/* Nothing here has statistics of memory zones to fold. */
void quiet_vmstat(void)
{
}

int cap_task_setscheduler(struct task_struct *p)
{
	return 0;
}

bool ns_capable(struct user_namespace *ns, int cap)
{
	return true;
}

/* Tables behind printk formats that nothing here uses. */
const struct trace_print_flags gfpflag_names[1], pageflag_names[1], vmaflag_names[1], pagetype_names[1];
const u8 guid_index[16], uuid_index[16];

/* Memory tiering walks the nodes' memory: there is none to tier. */
struct pglist_data *node_data[MAX_NUMNODES];

struct pglist_data *first_online_pgdat(void)
{
	return NULL;
}

struct pglist_data *next_online_pgdat(struct pglist_data *pgdat)
{
	return NULL;
}

/* kernel/exit.c's, for percpu_rwsem */
int rcuwait_wake_up(struct rcuwait *w)
{
	struct task_struct *task = rcu_dereference_raw(w->task);

	return task ? wake_up_process(task) : 0;
}

void finish_rcuwait(struct rcuwait *w)
{
	rcu_assign_pointer(w->task, NULL);
	__set_current_state(TASK_RUNNING);
}

/* multi_cpu_stop() waits for its peers: simulated time passes meanwhile. */
void stop_machine_yield(const struct cpumask *cpumask)
{
	hw_spin();
}

/* Simulated memory has no zones; NUMA balancing's tiering asks for none. */
int numa_nearest_node(int node, unsigned int state)
{
	return node;
}

bool node_is_toptier(int node)
{
	return true;
}
