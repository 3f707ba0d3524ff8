"""The running kernel: its scheduler's settings that colour every result."""

import re
from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.doctor.finding import Finding
from schedlab.settings.switchable import numa_balancing_without

_CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
_SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")
_CPU = "/sys/devices/system/cpu"
_MAINLINE = ("sched_debug", "sched_proxy_exec", "sched_thermal_decay_shift", "sched_verbose")
"""Parameters at boot of Linux up to 6.18."""
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"


def check(system: System) -> Iterator[Finding]:
    """Look at release, sysctls, statistics, clock and CPUs set apart."""
    yield Finding("release", "ok", f"Linux {system.kernel_release()}")
    yield from _scheduler(system)
    yield from _autogroup(system)
    yield _schedstat(system)
    yield from _schedstats(system)
    yield _numa_balancing(system)
    yield from _huge_pages(system)
    yield _clock(system)
    yield from _set_apart(system)


def foreign_parameters(system: System) -> list[str]:
    """Return scheduler parameters of the boot that mainline Linux does not know."""
    words = system.read_or("/proc/cmdline", "").split()
    own = words[: words.index("--")] if "--" in words else words
    return [
        word
        for word in own
        if word.startswith("sched_") and word.partition("=")[0] not in _MAINLINE
    ]


def _scheduler(system: System) -> Iterator[Finding]:
    foreign = foreign_parameters(system)
    if foreign:
        yield Finding(
            "scheduler",
            "warning",
            f"booted with {' '.join(foreign)}, which mainline Linux does not know",
            "the scheduler is modified: it may put tasks where no published kernel would",
            "boot a mainline or a distribution's kernel",
        )


def _autogroup(system: System) -> Iterator[Finding]:
    why = "each terminal session is a task group; shares depend on where the lab was started"
    return _switch(system, "autogroup", "kernel.sched_autogroup_enabled", "1", "0", why)


def _switch(
    system: System, check: str, sysctl: str, noted: str, better: str, why: str
) -> Iterator[Finding]:
    """Yield a note if a sysctl has the noted value, an ok otherwise; nothing if it is missing."""
    value = system.read_or(f"/proc/sys/{sysctl.replace('.', '/')}", "")
    if value == noted:
        yield Finding(check, "note", f"{sysctl} = {value}", why, f"sysctl -w {sysctl}={better}")
    elif value:
        yield Finding(check, "ok", f"{sysctl} = {value}")


def _schedstat(system: System) -> Finding:
    text = system.read_or("/proc/schedstat", "")
    version = re.match(r"version (\d+)", text)
    if version:
        return Finding("schedstat", "ok", f"/proc/schedstat version {version[1]}")
    return Finding(
        "schedstat",
        "note",
        "no /proc/schedstat",
        "balancing statistics per domain are left out of reports",
        "boot a kernel with CONFIG_SCHEDSTATS",
    )


def _schedstats(system: System) -> Iterator[Finding]:
    why = "wait times in /proc/schedstat stay zero; counting them costs a little"
    return _switch(system, "schedstats", "kernel.sched_schedstats", "0", "1", why)


def _numa_balancing(system: System) -> Finding:
    value = system.read_or("/proc/sys/kernel/numa_balancing", "")
    nodes = len(system.glob("/sys/devices/system/node/node[0-9]*"))
    if not value:
        return Finding("numa_balancing", "ok", "this kernel has no NUMA balancing")
    found = f"kernel.numa_balancing = {value}"
    if reason := numa_balancing_without(system):
        return Finding("numa_balancing", "ok", f"{found}, {reason}")
    if value == "0":
        return Finding("numa_balancing", "ok", f"{found} on {nodes} nodes")
    return Finding(
        "numa_balancing",
        "note",
        f"{found} on {nodes} nodes",
        "it moves tasks and pages during a run; make it a variant, or switch it off in all",
        "sysctl -w kernel.numa_balancing=0",
    )


def _huge_pages(system: System) -> Iterator[Finding]:
    match = re.search(r"\[(\w+)\]", system.read_or(_THP, ""))
    if match and match[1] == "always":
        yield Finding(
            "thp",
            "note",
            "transparent huge pages: always",
            "memory results depend on how fragmented memory is",
            f"echo madvise > {_THP}",
        )
    elif match:
        yield Finding("thp", "ok", f"transparent huge pages: {match[1]}")


def _clock(system: System) -> Finding:
    name = system.read_or(_CLOCK, "")
    if name in _SLOW_CLOCKS:
        return Finding(
            "clocksource",
            "warning",
            f"clock source {name}",
            "reading the time takes a microsecond; benchmarks that read it often measure the clock",
            "see in dmesg why the kernel stopped using the TSC; boot with tsc=reliable if the TSC"
            " is correct",
        )
    return Finding("clocksource", "ok", f"clock source {name or 'not shown'}")


def _set_apart(system: System) -> Iterator[Finding]:
    for name, effect in (
        ("isolated", "the load balancer leaves these CPUs alone; threads = CPUs is too many"),
        ("nohz_full", "their tick stops; they account time otherwise than the rest"),
    ):
        cpus = system.read_or(f"{_CPU}/{name}", "")
        if cpus and "null" not in cpus:
            yield Finding(
                name,
                "warning",
                f"CPUs {cpus} are {name}",
                effect,
                f"boot without {_boot_word(name)}",
            )


def _boot_word(name: str) -> str:
    return "isolcpus=" if name == "isolated" else "nohz_full="
