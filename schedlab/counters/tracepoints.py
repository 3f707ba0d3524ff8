"""The kernel's tracepoints by what they say, wherever they are counted: by perf or the simulator.

Of the subsystems the scheduler does not speak of itself the topic alone is known.
"""

from schedlab.counters.meaning import Meaning, Topic

TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where tracefs is mounted: by itself, or with debugfs."""

_SCHED = {
    "sched_waking": (Topic.WAKEUP, "wakeup of a task began"),
    "sched_wakeup": (Topic.WAKEUP, "wakeup of a task ended"),
    "sched_wake_idle_without_ipi": (Topic.WAKEUP, "polling CPU was woken without an interrupt"),
    "sched_migrate_task": (Topic.WAKEUP, "task moved to another CPU"),
    "sched_wakeup_new": (Topic.FORK, "new task was placed"),
    "sched_process_fork": (Topic.FORK, "task was forked"),
    "sched_process_exec": (Topic.FORK, "task executed a program"),
    "sched_prepare_exec": (Topic.FORK, "task began to execute a program"),
    "sched_process_exit": (Topic.FORK, "task ended"),
    "sched_process_free": (Topic.FORK, "task was freed"),
    "sched_process_wait": (Topic.FORK, "task waited for a child"),
    "sched_process_hang": (Topic.OTHER, "task hung"),
    "sched_wait_task": (Topic.OTHER, "one task waited for another to stop running"),
    "sched_switch": (Topic.PREEMPTION, "CPU switched tasks"),
    "sched_set_need_resched": (Topic.PREEMPTION, "task was asked to leave its CPU"),
    "sched_pi_setprio": (Topic.PREEMPTION, "priority was inherited"),
    "sched_stat_wait": (Topic.WAITING, "task ended waiting for a CPU"),
    "sched_stat_sleep": (Topic.WAITING, "task ended a sleep"),
    "sched_stat_iowait": (Topic.WAITING, "task ended waiting for a device"),
    "sched_stat_blocked": (Topic.WAITING, "task ended an uninterruptible sleep"),
    "sched_stick_numa": (Topic.NUMA, "task stayed, as its move to another node failed"),
    "sched_move_numa": (Topic.NUMA, "task moved to another node"),
    "sched_swap_numa": (Topic.NUMA, "two tasks swapped nodes"),
    "sched_skip_vma_numa": (Topic.NUMA, "scan left out a memory area"),
    "sched_skip_cpuset_numa": (Topic.NUMA, "scan was left out by a cpuset"),
    "sched_compute_energy*": (Topic.WAKEUP, "energy of a placement was estimated (EAS)"),
    "sched_overutilized*": (Topic.FREQUENCY, "machine became overutilized or ceased to be"),
    "sched_cpu_capacity*": (Topic.BOOKKEEPING, "capacity of a CPU was updated"),
    "sched_dl_*": (Topic.PREEMPTION, "deadline scheduling: {}"),
}
"""By the event's name."""
_OF_THE_LOAD = (
    *("sched_waking", "sched_wakeup", "sched_wake_idle_without_ipi"),
    *("sched_switch", "sched_set_need_resched"),
)
"""Events whose number says how often tasks wake and wait, not what was decided."""

_SUBSYSTEMS = {
    "irq": Topic.INTERRUPTS,
    "irq_vectors": Topic.INTERRUPTS,
    "ipi": Topic.INTERRUPTS,
    "csd": Topic.INTERRUPTS,
    "timer": Topic.INTERRUPTS,
    "hrtimer": Topic.INTERRUPTS,
    "power": Topic.FREQUENCY,
    "thermal": Topic.FREQUENCY,
    "cpufreq_schedutil": Topic.FREQUENCY,
    "migrate": Topic.NUMA,
    "lock": Topic.CONTENTION,
}

TRACEPOINTS = (
    *(
        Meaning(f"sched:{name}", topic, words, decides=False if name in _OF_THE_LOAD else None)
        for name, (topic, words) in _SCHED.items()
    ),
    Meaning("sched:*", Topic.BOOKKEEPING, "sched:{}"),
    Meaning("migrate:mm_migrate_pages", Topic.NUMA, "pages were migrated"),
    Meaning("power:cpu_idle", Topic.IDLE, "CPU entered or left an idle state"),
    Meaning("power:cpu_idle_miss", Topic.IDLE, "idle state was too deep or too shallow"),
    Meaning("power:cpu_frequency", Topic.FREQUENCY, "frequency of a CPU changed"),
    Meaning("power:cpu_frequency_limits", Topic.FREQUENCY, "limits of a frequency changed"),
    Meaning("timer:tick_stop", Topic.IDLE, "tick was stopped on a CPU, or not, as it went idle"),
    Meaning("timer:hrtimer_expire_entry", Topic.INTERRUPTS, "high-resolution timer expired"),
    Meaning("timer:hrtimer_start", Topic.INTERRUPTS, "high-resolution timer was started"),
    Meaning("timer:hrtimer_cancel", Topic.INTERRUPTS, "high-resolution timer was cancelled"),
    Meaning("timer:hrtimer_init", Topic.INTERRUPTS, "high-resolution timer was made"),
    Meaning("timer:timer_expire_entry", Topic.INTERRUPTS, "timer expired"),
    Meaning("irq:softirq_raise", Topic.INTERRUPTS, "softirq was raised"),
    Meaning("irq:softirq_entry", Topic.INTERRUPTS, "softirq ran"),
    Meaning("irq:irq_handler_entry", Topic.INTERRUPTS, "device interrupt ran"),
    *(
        Meaning(f"{subsystem}:*", topic, f"{subsystem}:{{}}")
        for subsystem, topic in _SUBSYSTEMS.items()
    ),
)

_EXITS = (("_exit", "_entry"), ("_end", "_start"), ("_end", "_begin"))


def entry_of(counter: str) -> list[str]:
    """Return what the entry may be called of which a counter is the exit, such as `x_exit`."""
    return [counter.removesuffix(end) + begin for end, begin in _EXITS if counter.endswith(end)]


def tracepoint_file(folder: str, event: str) -> str:
    """Return the file that a mounted tracefs has of a tracepoint, as `sched:sched_switch`."""
    return f"{folder}/events/{event.replace(':', '/')}/id"
