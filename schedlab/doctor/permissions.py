"""What this user may do: switch knobs, count events of the whole machine, raise priorities."""

from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.doctor.finding import Finding

CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_SYS_NICE": 23, "CAP_PERFMON": 38}
"""Bit numbers, as in include/uapi/linux/capability.h."""


def check(system: System) -> Iterator[Finding]:
    """Look at the user, its capabilities and the limits of perf."""
    lacking = lacking_capabilities(system)
    yield _user(system, lacking)
    yield _perf(system, may_count="CAP_PERFMON" not in lacking or "CAP_SYS_ADMIN" not in lacking)


def lacking_capabilities(system: System) -> list[str]:
    """Return the capabilities the lab uses that this process does not have."""
    mask = int(status_field(system, "CapEff") or "0", 16)
    return [name for name, bit in CAPABILITIES.items() if not mask >> bit & 1]


def status_field(system: System, key: str) -> str:
    """Return a line of /proc/self/status, or nothing."""
    for line in system.read_or("/proc/self/status", "").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return value.strip()
    return ""


def _user(system: System, lacking: list[str]) -> Finding:
    who = "root" if system.is_root() else "an ordinary user"
    if system.is_root() and not lacking:
        return Finding("user", "ok", "root, with every capability the lab uses")
    without = f" without {', '.join(lacking)}" if lacking else ""
    return Finding(
        "user",
        "warning",
        f"{who}{without}",
        "no variant can change a kernel setting; variants with env or prefix, and A/A runs, work",
        "start the container privileged" if system.is_root() else "sudo schedlab doctor",
    )


def _perf(system: System, may_count: bool) -> Finding:
    path = "/proc/sys/kernel/perf_event_paranoid"
    text = system.read_or(path, "")
    if not text:
        return Finding(
            "perf_event_paranoid",
            "warning",
            f"no {path}",
            "no event is counted beside results",
            "boot a kernel with CONFIG_PERF_EVENTS",
        )
    found = f"kernel.perf_event_paranoid = {text}"
    if may_count or text == "-1":
        return Finding("perf_event_paranoid", "ok", f"{found}, and schedlab may count on all CPUs")
    return Finding(
        "perf_event_paranoid",
        "warning",
        f"{found}: scheduler tracepoints are not for this user",
        "no migrations and no NUMA events beside results",
        "sysctl -w kernel.perf_event_paranoid=-1",
    )
