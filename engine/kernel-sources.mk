# SPDX-License-Identifier: GPL-2.0-only
# Kernel sources that are compiled as they are.  The linker drops what nobody uses.

KERNEL_SOURCES := \
	kernel/sched/core.c kernel/sched/fair.c \
	kernel/sched/build_policy.c kernel/sched/build_utility.c \
	kernel/softirq.c kernel/smp.c kernel/stop_machine.c kernel/task_work.c \
	kernel/irq_work.c \
	kernel/time/hrtimer.c kernel/time/timer.c kernel/time/time.c \
	kernel/time/clockevents.c kernel/time/tick-common.c \
	kernel/time/tick-oneshot.c kernel/time/tick-sched.c \
	kernel/locking/mutex.c kernel/locking/rwsem.c kernel/locking/osq_lock.c \
	kernel/locking/semaphore.c kernel/locking/percpu-rwsem.c kernel/rcu/sync.c kernel/sysctl.c kernel/locking/spinlock.c \
	fs/seq_file.c \
	drivers/cpuidle/cpuidle.c drivers/cpuidle/driver.c drivers/cpuidle/governor.c drivers/cpuidle/sysfs.c \
	drivers/cpuidle/governors/menu.c drivers/cpuidle/governors/teo.c \
	drivers/cpuidle/governors/ladder.c drivers/cpuidle/governors/haltpoll.c \
	drivers/thermal/gov_step_wise.c drivers/thermal/thermal_helpers.c \
	lib/rbtree.c lib/find_bit.c lib/cpumask.c lib/sort.c lib/llist.c lib/plist.c \
	lib/timerqueue.c lib/bitmap.c lib/hweight.c lib/math/int_sqrt.c lib/math/div64.c \
	lib/list_sort.c lib/random32.c lib/percpu_counter.c lib/vsprintf.c lib/kstrtox.c \
	lib/string_helpers.c lib/ctype.c lib/hexdump.c lib/seq_buf.c lib/cmdline.c

# With CONFIG_CPUSETS=y.
CPUSET_SOURCES := kernel/cgroup/cpuset.c lib/union_find.c

# With CONFIG_NO_HZ_FULL=y.
NO_HZ_FULL_SOURCES := kernel/context_tracking.c

# With CONFIG_SCHED_CLASS_EXT=y.
EXT_SOURCES := lib/rhashtable.c lib/genalloc.c lib/bsearch.c

# Where the tree has them.
OPTIONAL_SOURCES := kernel/time/sleep_timeout.c kernel/time/timer_migration.c lib/bitmap-str.c
