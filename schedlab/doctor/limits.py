"""How many processes, threads, files and bytes a benchmark may have."""

import re
from collections.abc import Iterator

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.system import System
from schedlab.doctor.cgroups import tightest
from schedlab.doctor.finding import Finding
from schedlab.doctor.permissions import status_field
from schedlab.machine.cpus import CPU, number

HACKBENCH_GROUPS = 10
TASKS_PER_GROUP = 40
FUTEX_THREADS_PER_CPU = 80
"""As published: PerfBenchFutexWake wakes CPUs * 80 threads."""
_CAP_SYS_RESOURCE = 24
_SPARE_FILES = 16
_LEAST_FREE_MIB = 1024


def check(system: System) -> Iterator[Finding]:
    """Look at what stops hackbench and futex benchmarks half-way."""
    yield _tasks(system)
    yield _files(system)
    yield _memory(system)


def tasks_needed(system: System) -> int:
    """Count the tasks of the largest benchmark of suite `common` here."""
    cpus = len(parse_cpulist(system.read_or(f"{CPU}/online", "0")))
    return max(HACKBENCH_GROUPS * TASKS_PER_GROUP, FUTEX_THREADS_PER_CPU * cpus)


def _tasks(system: System) -> Finding:
    needed = tasks_needed(system)
    ceilings = dict(_task_ceilings(system))
    if not ceilings:
        return Finding("tasks", "ok", "no limit on processes and threads")
    name, most = min(ceilings.items(), key=lambda item: item[1])
    if most >= needed:
        return Finding("tasks", "ok", f"room for {most} more tasks ({name}); {needed} are needed")
    return Finding(
        "tasks",
        "warning",
        f"{name} leaves room for {most} tasks; suite common needs {needed}",
        "hackbench and futex benchmarks fail when they fork, and may leave blocked processes",
        _raise(name, needed),
    )


def _task_ceilings(system: System) -> Iterator[tuple[str, int]]:
    for name in ("threads-max", "pid_max"):
        value = number(system, f"/proc/sys/kernel/{name}")
        if value is not None:
            yield f"kernel.{name}", value
    pids = tightest(system, "pids", "pids.max", "pids.max")
    if pids is not None and pids.value.isdecimal():
        used = number(system, f"{pids.folder}/pids.current") or 0
        yield f"{pids.folder}/pids.max", max(int(pids.value) - used, 0)
    soft = _rlimit(system, "Max processes")
    if soft is not None and not _may_exceed(system):
        yield "ulimit -u", soft


def _raise(name: str, needed: int) -> str:
    if name == "ulimit -u":
        return f"ulimit -u {2 * needed}"
    if name.startswith("kernel."):
        return f"sysctl -w {name}={2 * needed}"
    return f"echo max > {name}, or start the container with a higher pids limit"


def _may_exceed(system: System) -> bool:
    """Return whether RLIMIT_NPROC does not bind us, as for root."""
    mask = int(status_field(system, "CapEff") or "0", 16)
    return bool(mask >> _CAP_SYS_RESOURCE & 1) or system.is_root()


def _files(system: System) -> Finding:
    soft = _rlimit(system, "Max open files")
    if soft is None:
        return Finding("files", "ok", "no limit on open files")
    groups = max(soft - _SPARE_FILES, 0) // TASKS_PER_GROUP
    found = f"ulimit -n is {soft}: hackbench may have {groups} groups"
    if groups >= HACKBENCH_GROUPS:
        return Finding("files", "ok", found)
    return Finding(
        "files",
        "warning",
        f"{found}; suite common has {HACKBENCH_GROUPS}",
        "hackbench opens two files for each pair of a group and fails when they run out",
        f"ulimit -n {2 * HACKBENCH_GROUPS * TASKS_PER_GROUP}",
    )


def _rlimit(system: System, name: str) -> int | None:
    """Return the soft limit from /proc/self/limits, None where there is none."""
    match = re.search(rf"^{name}\s+(\S+)", system.read_or("/proc/self/limits", ""), re.MULTILINE)
    return int(match[1]) if match and match[1].isdecimal() else None


def _memory(system: System) -> Finding:
    text = system.read_or("/proc/meminfo", "")
    free = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    if free is None:
        return Finding("memory", "note", "/proc/meminfo does not show the memory available")
    mib = int(free[1]) // 1024
    if mib >= _LEAST_FREE_MIB:
        return Finding("memory", "ok", f"{mib / 1024:.1f} GiB of memory available")
    return Finding(
        "memory",
        "warning",
        f"{mib} MiB of memory available",
        "reclaim and swapping become part of the result",
        "end what holds memory, `ps -eo rss,comm --sort=-rss | head`",
    )
