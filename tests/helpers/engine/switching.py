"""Scenarios under which a setting shows its effect, if any: a changed hash or counters."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Case = tuple[str, Json]

DEBUG = "/sys/kernel/debug/sched"

# Each class of the scheduler, each kind of wakeup, more tasks than CPUs.
MIX: Json = {
    "duration": "200ms",
    "background": True,
    "tasks": [
        {"name": "hog", "count": 6, "program": [{"run": ["1ms", "9ms"]}]},
        {"name": "nice", "count": 2, "nice": 10, "program": [{"run": "3ms"}, {"sleep": "1ms"}]},
        {"name": "idle", "count": 2, "policy": "idle", "program": [{"run": ["1ms", "5ms"]}]},
        {
            "name": "short",
            "count": 8,
            "program": [{"run": ["20us", "900us"]}, {"sleep": ["50us", "3ms"]}],
        },
        {
            "name": "ping",
            "count": 2,
            "program": [{"run": "30us"}, {"send": "a", "bytes": 9}, {"receive": "b", "bytes": 9}],
        },
        {
            "name": "pong",
            "count": 2,
            "program": [{"receive": "a", "bytes": 9}, {"run": "40us"}, {"send": "b", "bytes": 9}],
        },
        {
            "name": "fork",
            "count": 2,
            "program": [{"fork": True, "body": [{"run": "300us"}]}, {"sleep": "1ms"}],
        },
        {
            "name": "rt",
            "count": 5,
            "policy": "fifo",
            "priority": 5,
            "program": [{"run": "2ms"}, {"sleep": "3ms"}],
        },
        {
            "name": "dl",
            "count": 2,
            "policy": "deadline",
            "runtime": "2ms",
            "period": "10ms",
            "program": [{"run": "5ms"}],
        },
    ],
}

HACKBENCH: Json = {
    "duration": "30ms",
    "workloads": [{"kind": "hackbench", "groups": 2, "fds": 10, "loops": 100}],
}

# Real-time tasks that take all they may have of two CPUs, beside fair ones; two of them take turns.
REAL_TIME: Json = {
    "duration": "1500ms",
    "tasks": [
        {
            "name": "rr",
            "count": 3,
            "policy": "rr",
            "priority": 9,
            "affinity": "0,1",
            "program": [{"run": "10ms"}],
        },
        {"name": "fair", "count": 4, "program": [{"run": "5ms"}]},
    ],
}

# Real-time tasks of two priorities that are pushed and pulled between CPUs.
PUSHED: Json = {
    "duration": "300ms",
    "tasks": [
        {
            "name": "high",
            "count": 7,
            "policy": "fifo",
            "priority": 9,
            "program": [{"run": ["500us", "3ms"]}, {"sleep": ["1ms", "4ms"]}],
        },
        {
            "name": "low",
            "count": 6,
            "policy": "rr",
            "priority": 3,
            "program": [{"run": ["1ms", "4ms"]}, {"sleep": ["100us", "2ms"]}],
        },
    ],
}

# Tasks that leave the fair class and come back with a load that has aged meanwhile.
CLASSES: Json = {
    "duration": "800ms",
    "tasks": [
        {"name": "a", "count": 5, "program": [{"run": ["2ms", "5ms"]}, {"sleep": ["1ms", "3ms"]}]},
        {"name": "hog", "count": 6, "program": [{"run": ["2ms", "4ms"]}]},
    ],
    "actions": [
        {"at": f"{at + part}ms", "task": "a*", **how}
        for at in range(100, 800, 150)
        for part, how in (
            (0, {"policy": "fifo", "priority": 2}),
            (80, {"policy": "normal"}),
        )
    ],
}

# Groups with each of a group's limits, and tasks that move between them.
GROUPS: Json = {
    "duration": "400ms",
    "groups": [
        {"path": "/a", "cpu.max": "60000 100000", "cpu.max.burst": "10000"},
        {"path": "/b", "cpu.weight": "50"},
        {"path": "/c", "cpu.idle": "1"},
    ],
    "tasks": [
        {"name": "m", "count": 6, "group": "/a", "program": [{"run": "3ms"}, {"sleep": "2ms"}]},
        {"name": "n", "count": 3, "program": [{"run": "4ms"}]},
        {"name": "i", "count": 4, "group": "/c", "program": [{"run": "4ms"}]},
    ],
    "actions": [
        {"at": f"{at}ms", "task": "m*", "group": "/b" if at % 20 else "/a"}
        for at in range(10, 400, 10)
    ],
}

# So many tasks that the task to be pulled is often the one that shall run next.
CROWD: Json = {
    "duration": "1s",
    "features": {"NEXT_BUDDY": True},
    "knobs": {f"{DEBUG}/migration_cost_ns": "0"},
    "tasks": [
        {
            "name": "short",
            "count": 160,
            "program": [{"run": ["50us", "500us"]}, {"sleep": ["100us", "4ms"]}],
        },
        {"name": "hog", "count": 40, "program": [{"run": ["1ms", "6ms"]}]},
    ],
}

# Two groups of so many tasks each that 6.1 makes its period longer; HRTICK keeps to the slices.
SHARES: Json = {
    "duration": "400ms",
    "features": {"HRTICK": True},
    "groups": [{"path": "/a"}, {"path": "/b"}],
    "tasks": [
        {"name": "a", "count": 30, "group": "/a", "program": [{"run": ["1ms", "9ms"]}]},
        {"name": "b", "count": 30, "group": "/b", "program": [{"run": ["1ms", "9ms"]}]},
        {"name": "short", "count": 6, "program": [{"run": "300us"}, {"sleep": "2ms"}]},
    ],
}

# Memory on another node than its tasks.
MEMORY: Json = {
    "duration": "3s",
    "memory": [{"size": "64MiB", "node": 0}],
    "tasks": [
        {
            "name": "t",
            "count": 3,
            "mm": 0,
            "memory_share": 0.5,
            "program": [{"touch": "0MiB", "size": "64MiB"}, {"run": "2ms"}],
        },
        {"name": "hog", "count": 15, "program": [{"run": "5ms"}]},
    ],
}

# Light tasks with clamps of their own under schedutil, on CPUs of two kinds.
CLAMPED: Json = {
    "duration": "1s",
    "cpufreq": {"governor": "schedutil"},
    "tasks": [
        {"name": "t", "count": 3, "program": [{"run": "1ms"}, {"sleep": "9ms"}]},
        {"name": "busy", "program": [{"run": "5ms"}, {"sleep": "5ms"}]},
        {
            "name": "up",
            "count": 2,
            "uclamp_min": 700,
            "program": [{"run": "1ms"}, {"sleep": "7ms"}],
        },
        {
            "name": "rt",
            "policy": "fifo",
            "priority": 3,
            "program": [{"run": "1ms"}, {"sleep": "30ms"}],
        },
    ],
}

# CPUs that go and come back: slices, which HRTICK keeps to, are scaled by the number of CPUs then.
HOTPLUG: Json = {
    "duration": "300ms",
    "features": {"HRTICK": True},
    "tasks": [
        {"name": "hog", "count": 9, "program": [{"run": "5ms"}]},
        {"name": "short", "count": 4, "program": [{"run": "300us"}, {"sleep": "2ms"}]},
    ],
    "actions": [
        {"at": "30ms", "offline": 3},
        {"at": "60ms", "offline": 2},
        {"at": "250ms", "online": 3},
    ],
}

# Timers of sleepers on CPUs that stay idle while others are busy.
SLEEPERS: Json = {
    "duration": "6s",
    "tasks": [
        {"name": "hog", "affinity": "0", "program": [{"run": "10ms"}]},
        {"name": "b", "affinity": "1", "program": [{"sleep": "100ms"}, {"run": "2500ms"}]},
        {"name": "c", "affinity": "2", "program": [{"sleep": "33ms"}, {"run": "300us"}]},
    ],
}
DEADLINES: Json = {
    "duration": "2s",
    "tasks": [
        {"name": "hog", "affinity": "0", "program": [{"run": "10ms"}]},
        {
            "name": "dl",
            "count": 3,
            **{"policy": "deadline", "runtime": "3ms", "period": "10ms"},
            "program": [{"run": "2ms"}, {"sleep": "5ms"}],
        },
        {
            "name": "dl2",
            **{"policy": "deadline", "runtime": "3ms", "deadline": "5ms", "period": "10ms"},
            "program": [{"run": "20ms"}, {"sleep": "11ms"}],
        },
    ],
}

# Balancing by load moves tasks of hardly any.
LIGHT: Json = {
    "duration": "400ms",
    "tasks": [
        {
            "name": "light",
            "count": 14,
            "nice": 19,
            "program": [{"run": ["1ms", "4ms"]}, {"sleep": ["200us", "2ms"]}],
        },
        {
            "name": "hog",
            "count": 7,
            "program": [{"run": ["1ms", "6ms"]}, {"sleep": ["100us", "3ms"]}],
        },
    ],
}

CASES: list[Case] = [
    ("smp4", MIX),
    ("smt8", MIX),
    ("smt8", HACKBENCH),
    ("numa16", HACKBENCH),
    ("smp4", PUSHED),
    ("smp4", REAL_TIME),
    ("smp4", GROUPS),
    ("smp4", CLASSES),
    ("smp4", HOTPLUG),
    ("smp4", SHARES),
    ("smp4", SLEEPERS),
    ("smp4", DEADLINES),
    ("smp4", LIGHT),
    ("smt8", {**MIX, "features": {"SIS_UTIL": False}}),
    ("hikey960", CLAMPED),
    ("hikey960", {**CLAMPED, "knobs": {"/proc/sys/kernel/sched_util_clamp_min": "0"}}),
    ("numa16", CROWD),
    ("numa16", MEMORY),
    ("numa16", {**MEMORY, "knobs": {f"{DEBUG}/numa_balancing/scan_period_min_ms": "20"}}),
]

# Threads of one process whose cache is to be kept, on LLCs that are soon too full for them.
THREADS: Json = {
    "duration": "250ms",
    "knobs": {f"{DEBUG}/llc_balancing/overaggr_pct": "25"},
    "workloads": [
        {"kind": "hackbench", "groups": 1, "fds": 3, "loops": 100_000, "threads": True},
    ],
}

# Threads that wake together, and pauses in which their process loses its cache.
BATCHES: Json = {
    "duration": "250ms",
    "workloads": [
        {
            "kind": "schbench-old",
            "message-threads": 2,
            "threads": 3,
            "cputime": 1000,
            "sleeptime": 500,
            "runtime": "10s",
            "warmuptime": 0,
        },
    ],
}

# The task that shall run next waits so long that others would pull it; 7.x knows it in no group.
BUDDIES: Json = {
    **CROWD,
    "features": {"NEXT_BUDDY": True, "PICK_BUDDY": False},
    "knobs": {**CROWD["knobs"], "/proc/sys/kernel/sched_autogroup_enabled": "0"},
}

# Of trees that have cache-aware scheduling.
CACHE_CASES: list[Case] = [("numa16", THREADS), ("numa16", BATCHES), ("numa16", BUDDIES)]

# Where the name of a setting says which cases are the likely ones.
LIKELY = {
    "epoch_affinity": BATCHES,
    "llc_balancing": THREADS,
    "cgroup_mode": THREADS,
    "numa": MEMORY,
    "clamp": CLAMPED,
    "energy": CLAMPED,
    "bandwidth": GROUPS,
    "rr_": REAL_TIME,
    "timer_migration": SLEEPERS,
}


def likely_first(name: str, cases: list[Case]) -> list[int]:
    """The numbers of all cases, in the order to try them in for a setting."""
    likely = [load(case) for word, case in LIKELY.items() if word in name]
    return sorted(range(len(cases)), key=lambda i: load(cases[i][1]) not in likely)


def load(case: Json) -> list[Json]:
    """What runs in a case, whatever is set in it."""
    runs: list[Json] = [*case.get("tasks", []), *case.get("workloads", [])]
    return runs
