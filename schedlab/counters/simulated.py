"""What the simulator's own counters say; the kernel's tracepoints say the same as on a host."""

from schedlab.counters.engine_names import engine_names, engine_words
from schedlab.counters.meaning import BALANCES, Meaning, Topic
from schedlab.counters.times import GONE, MEASURED, time_counter

CPU_TIME = "cpu-time"
"""Counters `cpu-time:WHAT:ns`: the time of all CPUs, by what it was spent on."""

ENTRIES = engine_names("ENTRIES")
"""What the kernel was entered for."""

FUNCTIONS = engine_names("FUNCTIONS")
"""Functions of the scheduler, with what they call."""

_FAR = {
    "core": "to a sibling of its core",
    "cluster": "within its cluster",
    "llc": "within its last-level cache",
    "node": "within its node",
    "package": "within its package",
    "remote": "to another package",
}
_PAID = {
    "runqueue_lookups": (Topic.CONTENTION, "look at another CPU's runqueue"),
    "runqueue_misses": (Topic.CONTENTION, "look at a runqueue was a cache miss"),
    "lock_waits": (Topic.CONTENTION, "wait for a lock"),
    "lock_refusals": (Topic.CONTENTION, "trylock was refused"),
    "lock_wait_ns": (Topic.CONTENTION, "time spent waiting for locks"),
    "hot_line_retries": (Topic.CONTENTION, "update of a shared line was tried again"),
    "hot_line_waits": (Topic.CONTENTION, "wait for a shared line"),
    "hot_line_wait_ns": (Topic.CONTENTION, "time spent waiting for shared lines"),
    "refill_ns": (
        Topic.CONTENTION,
        "time spent refilling caches, after migrations and behind other tasks",
    ),
    "fabric_wait_ns": (Topic.CONTENTION, "time spent waiting for the fabric"),
    "bpf_ns": (Topic.CPU_TIME, "time spent in a sched_ext scheduler's code"),
}
_OF_PLACES = ("runqueue_lookups", "runqueue_misses", "refill_ns", "fabric_wait_ns")
"""What follows from searches and moves; waits for locks and lines may come of the code itself."""

SIMULATED = (
    *(
        meaning
        for kind, (topic, words) in BALANCES.items()
        for meaning in (
            Meaning(f"{kind}:pulls:*", topic, f"{words} pulled a task in {{}}"),
            Meaning(f"{kind}:calls:*", topic, f"{words} looked at {{}}"),
        )
    ),
    Meaning(
        "newidle:entries", Topic.NEWIDLE, "newidle balance was asked for a task", decides=False
    ),
    Meaning(
        "newidle:left:pending",
        Topic.NEWIDLE,
        "newidle balance ended: a wakeup was pending",
        decides=False,
    ),
    Meaning(
        "newidle:left:calm",
        Topic.NEWIDLE,
        "newidle balance ended: no CPU was overloaded",
        decides=False,
    ),
    Meaning(
        "newidle:left:avg_idle",
        Topic.NEWIDLE,
        "newidle balance ended: avg_idle was below its cost",
        decides=False,
    ),
    Meaning("newidle:found", Topic.NEWIDLE, "newidle balance found a task"),
    Meaning(
        "newidle:avg_idle:ns",
        Topic.NEWIDLE,
        "avg_idle, summed over newidle balances",
        decides=False,
    ),
    Meaning(
        "schedlab:newidle_entry",
        Topic.NEWIDLE,
        "newidle balance was asked for a task",
        "newidle:entries",
        decides=False,
    ),
    Meaning(
        "schedlab:newidle_exit",
        Topic.NEWIDLE,
        "newidle balance ended",
        "newidle:entries",
        decides=False,
    ),
    Meaning(
        "schedlab:newidle_domain",
        Topic.NEWIDLE,
        "newidle balance weighed a domain's cost",
        decides=False,
    ),
    Meaning("schedlab:load_balance", Topic.BALANCE, "balance pass over a domain", decides=False),
    Meaning(
        "schedlab:group_stats", Topic.BALANCE, "balance summed up a group of CPUs", decides=False
    ),
    Meaning(
        "schedlab:select_task_rq",
        Topic.WAKEUP,
        "CPU was chosen for a woken or new task",
        decides=False,  # how often says what the load did
    ),
    Meaning("schedlab:pick_next", Topic.PREEMPTION, "next task of a CPU was chosen", decides=False),
    Meaning("schedlab:numa_prefer", Topic.NUMA, "preferred node of a task was set"),
    Meaning(
        "schedlab:numa_fault",
        Topic.NUMA,
        "hinting fault was judged",
        "vmstat:numa_hint_faults",
        is_effort=True,
    ),
    Meaning("schedlab:*", Topic.BOOKKEEPING, "schedlab:{}"),
    Meaning(
        "workload:sched_migrate_task", Topic.WAKEUP, "task of the benchmark moved another task"
    ),
    *(
        Meaning(f"migrations:{how}:{distance}", topic, f"{words} {_FAR[distance]}")
        for how, topic, words in (
            ("wakeup", Topic.WAKEUP, "woken task moved"),
            ("balance", Topic.BALANCE, "balance moved a task"),
        )
        for distance in _FAR
    ),
    Meaning("switches:voluntary", Topic.PREEMPTION, "task left its CPU to wait", decides=False),
    Meaning("switches:involuntary", Topic.PREEMPTION, "task was preempted"),
    *(
        Meaning(f"cost:{name}", topic, words, decides=False if name in _OF_PLACES else None)
        for name, (topic, words) in _PAID.items()
    ),
    Meaning(
        "ran:*:capacity-*:seconds",
        Topic.CPU_TIME,
        "time {} ran on CPUs of capacity {}",
        decides=True,
    ),
    Meaning("core:forced_idle_ns", Topic.CORE, "time siblings were forced to idle"),
    Meaning("core:mixed_ns", Topic.CORE, "time siblings ran tasks that do not trust each other"),
    Meaning("core:mixed_longest_ns", Topic.CORE, "longest time siblings ran such tasks"),
    Meaning("vmstat:numa_pte_updates", Topic.NUMA, "page was marked to fault", is_effort=True),
    Meaning("vmstat:numa_hint_faults", Topic.NUMA, "marked page was touched", is_effort=True),
    Meaning(
        "vmstat:numa_hint_faults_local",
        Topic.NUMA,
        "marked page of its own node was touched",
        is_effort=True,
    ),
    Meaning("vmstat:numa_pages_migrated", Topic.NUMA, "page moved to another node"),
    Meaning("mm_cid:highest", Topic.BOOKKEEPING, "highest concurrency id of a process"),
    Meaning("cpu-time:user:ns", Topic.CPU_TIME, "CPU time in user mode"),
    Meaning("cpu-time:idle:ns", Topic.CPU_TIME, "CPU time idle"),
    Meaning("cpu-time:*:ns", Topic.CPU_TIME, "CPU time in {}"),
    Meaning(MEASURED, Topic.BOOKKEEPING, "measured time"),
    *(
        Meaning(time_counter(state, role), Topic.CPU_TIME, f"{of}{words}")
        for state, words in {
            **engine_words("TIMES"),
            GONE: "not started yet, or ended before the others",
        }.items()
        for role, of in (("", ""), ("*", "{}: "))
    ),
    Meaning("wakeup-latency:count", Topic.WAITING, "woken task waited for its CPU"),
    Meaning("wakeup-latency:ns", Topic.WAITING, "time from wakeups to running"),
    Meaning("queue-latency:count", Topic.WAITING, "preempted task waited for its CPU"),
    Meaning("queue-latency:ns", Topic.WAITING, "time preempted tasks waited"),
    Meaning("engine:*", Topic.BOOKKEEPING, "engine:{}"),
)
