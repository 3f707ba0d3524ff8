"""/proc/stat: context switches and busy time of the whole machine."""

from schedlab.base.system import System
from schedlab.base.system.numbers import amount, field
from schedlab.counters.group import Counts, SnapshotGroup, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic

_FILE = "/proc/stat"
_TICKS_PER_SECOND = 100  # USER_HZ, fixed in the kernel's interface
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_NOT_BUSY = ("idle", "iowait", "steal")


@counter_group(30)
class ProcStatGroup(SnapshotGroup):
    """Context switches, and CPU seconds by kind."""

    name = "procstat"
    summary = "context switches and busy CPU seconds (user, system, irq), from /proc/stat"
    subsystem = "cpu"
    simulated = ("context-switches", "cpu-time:")
    meanings = (
        Meaning(
            "context-switches",
            Topic.PREEMPTION,
            "CPU switched tasks",
            "sched:sched_switch",
            decides=False,
        ),
        Meaning("cpu:busy-seconds", Topic.CPU_TIME, "CPU time busy"),
        Meaning("cpu:user-seconds", Topic.CPU_TIME, "CPU time in user mode"),
        Meaning("cpu:system-seconds", Topic.CPU_TIME, "CPU time in the kernel"),
        Meaning("cpu:irq-seconds", Topic.CPU_TIME, "CPU time in interrupts"),
    )

    def read(self, system: System) -> Counts:
        """Return context switches and CPU seconds since boot."""
        lines = _lines(system)
        times = cpu_seconds(lines["cpu"])
        return {
            "context-switches": amount(field(lines["ctxt"], 0, _FILE), _FILE),
            "cpu:busy-seconds": busy_seconds(times),
            "cpu:user-seconds": times["user"] + times["nice"],
            "cpu:system-seconds": times["system"],
            "cpu:irq-seconds": times["irq"] + times["softirq"],
        }


def machine_busy_seconds(system: System) -> float:
    """Return the CPU seconds the whole machine has been busy since boot."""
    return busy_seconds(cpu_seconds(_lines(system)["cpu"]))


def cpu_seconds(fields: list[str]) -> dict[str, float]:
    """Read the fields of a `cpu` line of /proc/stat, in seconds."""
    ticks = dict(zip(_FIELDS, fields, strict=False))
    return {name: amount(ticks.get(name, "0"), _FILE) / _TICKS_PER_SECOND for name in _FIELDS}


def busy_seconds(times: dict[str, float]) -> float:
    """Sum what was spent working; stolen time was spent by others."""
    return sum(value for name, value in times.items() if name not in _NOT_BUSY)


def _lines(system: System) -> dict[str, list[str]]:
    try:
        rows = [line.split() for line in system.read(_FILE).splitlines() if line.strip()]
        lines = {row[0]: row[1:] for row in rows}
        return {"cpu": lines["cpu"], "ctxt": lines["ctxt"]}
    except (OSError, KeyError) as error:
        raise Unavailable(f"{_FILE} cannot be read: {error}") from error
