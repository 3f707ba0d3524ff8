"""Whether a cgroup, a cpuset or a mask gives us less than the machine."""

from collections.abc import Iterator

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.system import System
from schedlab.doctor.cgroups import tightest
from schedlab.doctor.finding import Finding
from schedlab.doctor.permissions import status_field
from schedlab.machine.cpus import CPU, number

_MARKS = {
    "/.dockerenv": "Docker",
    "/run/.containerenv": "Podman",
    "/run/systemd/container": "systemd-nspawn or similar",
}
"""Files that container managers leave."""


def check(system: System) -> Iterator[Finding]:
    """Look for a container, and at the CPU time and CPUs we may use."""
    yield _container(system)
    yield from _quota(system)
    yield from _allowed(system)


def _container(system: System) -> Finding:
    names = [name for mark, name in _MARKS.items() if system.exists(mark)]
    if not names:
        return Finding("container", "ok", "no container found")
    return Finding(
        "container",
        "note",
        f"inside a container ({names[0]})",
        "sysctls and sysfs are the host's, or read-only; other containers' load is not listed",
    )


def _quota(system: System) -> Iterator[Finding]:
    limit = tightest(system, "cpu", "cpu.max", "cpu.cfs_quota_us")
    if limit is None:
        yield Finding("cpu quota", "ok", "no cgroup limits schedlab's CPU time")
        return
    words = limit.value.split()
    period = (
        int(words[1]) if len(words) > 1 else number(system, f"{limit.folder}/cpu.cfs_period_us")
    )
    cpus = int(words[0]) / (period or 100_000)
    file = "cpu.max" if len(words) > 1 else "cpu.cfs_quota_us"
    yield Finding(
        "cpu quota",
        "warning",
        f"{limit.folder}/{file}: {cpus:g} CPUs' time",
        "all tasks are stopped together when it is used up; that is measured, not the scheduler",
        f"echo {'max' if len(words) > 1 else '-1'} > {limit.folder}/{file}",
    )


def _allowed(system: System) -> Iterator[Finding]:
    allowed = set(parse_cpulist(status_field(system, "Cpus_allowed_list")))
    online = set(parse_cpulist(system.read_or(f"{CPU}/online", "")))
    if not allowed or online <= allowed:
        yield Finding("cpuset", "ok", "schedlab may run on every CPU")
        return
    yield Finding(
        "cpuset",
        "warning",
        f"schedlab may run on CPUs {format_cpulist(allowed & online)} of {format_cpulist(online)}",
        "benchmarks are sized for CPUs they cannot use",
        "start the lab outside the cpuset or taskset, or the container with all CPUs",
    )
