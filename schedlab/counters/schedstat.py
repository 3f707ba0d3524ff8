"""/proc/schedstat: run queue waiting, wakeups and balancing, where the kernel keeps them.

The columns are those of Documentation/scheduler/sched-stats.rst, versions 15 to 17.
"""

from schedlab.base.system import System
from schedlab.base.system.numbers import amount, field, whole
from schedlab.counters.group import Counts, SnapshotGroup, Unavailable, counter_group
from schedlab.counters.meaning import BALANCES, Meaning, Topic

_FILE = "/proc/schedstat"
_NAME = "schedstat"
_CPU_FIELDS = {  # after the cpuN word, from 0
    "schedule": 2,
    "schedule-idle": 3,
    "wakeups": 4,
    "wakeups-local": 5,
    "run-ns": 6,
    "wait-ns": 7,
    "timeslices": 8,
}
_IDLE_TYPES = {  # the order of the balance columns
    15: ("idle", "busy", "newidle"),
    16: ("busy", "idle", "newidle"),
    17: ("busy", "idle", "newidle"),
}
_COLUMNS_PER_TYPE = {15: 8, 16: 8, 17: 11}  # 17 splits the imbalance into four kinds
_GAINED = {15: 4, 16: 4, 17: 7}


@counter_group(50)
class SchedstatGroup(SnapshotGroup):
    """The scheduler's own statistics, summed over CPUs and domains."""

    name = subsystem = _NAME
    summary = "run queue wait, wakeups and load balancing, from /proc/schedstat"
    simulated = ("wakeup-latency:", "queue-latency:", "busy:", "idle:", "newidle:")
    meanings = (
        Meaning(f"{_NAME}:schedule", Topic.PREEMPTION, "scheduler was called", decides=False),
        Meaning(f"{_NAME}:schedule-idle", Topic.IDLE, "CPU went idle"),
        Meaning(f"{_NAME}:wakeups", Topic.WAKEUP, "task was woken", decides=False),
        Meaning(f"{_NAME}:wakeups-local", Topic.WAKEUP, "task was woken on the waker's CPU"),
        Meaning(f"{_NAME}:run-ns", Topic.CPU_TIME, "CPU time of tasks"),
        Meaning(f"{_NAME}:wait-ns", Topic.WAITING, "time tasks waited for a CPU"),
        Meaning(f"{_NAME}:timeslices", Topic.PREEMPTION, "task got a CPU", decides=False),
        *(
            meaning
            for kind, (topic, words) in BALANCES.items()
            for meaning in (
                Meaning(f"{_NAME}:balance-{kind}-pulled", topic, f"{words} pulled a task"),
                Meaning(f"{_NAME}:balance-{kind}", topic, f"{words} looked at a domain"),
            )
        ),
    )

    def read(self, system: System) -> Counts:
        """Sum the counters over CPUs and, for balancing, over domains."""
        try:
            lines = system.read(_FILE).splitlines()
        except OSError:
            raise Unavailable(
                f"this kernel has no {_FILE} (it is built without CONFIG_SCHEDSTATS)"
            ) from None
        version = _version(lines)
        counts: Counts = {}
        for line in lines:
            word, *fields = line.split() or [""]
            if word.startswith("cpu"):
                _add(counts, {name: field(fields, at, _FILE) for name, at in _CPU_FIELDS.items()})
            elif word.startswith("domain"):
                _add(counts, _balance(fields, version))
        return counts


def _version(lines: list[str]) -> int:
    word = lines[0].split()[-1] if lines else ""
    version = whole(word, _FILE) if word.isdecimal() else 0
    if version not in _IDLE_TYPES:
        known = ", ".join(str(known) for known in _IDLE_TYPES)
        raise Unavailable(f"{_FILE} is of version {word or 'unknown'}; known are {known}")
    return version


def _balance(fields: list[str], version: int) -> dict[str, str]:
    first = 1 if version < 17 else 2  # the CPU mask; 17 has the domain's name before it
    columns = _COLUMNS_PER_TYPE[version]
    values = {}
    for i, kind in enumerate(_IDLE_TYPES[version]):
        start = first + i * columns
        values[f"balance-{kind}"] = field(fields, start, _FILE)
        values[f"balance-{kind}-pulled"] = field(fields, start + _GAINED[version], _FILE)
    return values


def _add(counts: Counts, values: dict[str, str]) -> None:
    for name, value in values.items():
        key = f"schedstat:{name}"
        counts[key] = counts.get(key, 0.0) + amount(value, _FILE)
