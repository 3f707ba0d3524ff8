"""The platform table of a report: what was measured on, down to the tools' versions."""

import re
import subprocess
from collections.abc import Iterable

from schedlab.base.system import System
from schedlab.benchmarks import all_tools
from schedlab.kernels.native import OWN
from schedlab.machine.model import Machine
from schedlab.result.boots import BOOT

MEMORY = "Memory (GB)"
"""The row of the table that can change while a guest runs."""


def platform_table(system: System, machine: Machine, programs: Iterable[str]) -> dict[str, str]:
    """Return the rows, in the order and with the names of the published reports, then our own.

    `programs` are those whose versions belong to it.
    """
    rows = {
        "Architecture": machine.arch,
        "Processor version": machine.processor or "unknown",
        "CPUs": str(machine.nr_cpus),
        "NUMA nodes": str(machine.sizes()["nodes"]),
        MEMORY: str(machine.memory_gib),
        "Kernel release": system.kernel_release(),
        "Node name": system.read_or("/proc/sys/kernel/hostname", "unknown"),
        "Kernel version": system.read_or("/proc/sys/kernel/version", "unknown"),
        "Kernel command line": system.read_or("/proc/cmdline", "unknown"),
        BOOT: system.boot_id(),
        "Operating system": _os_name(system),
        "Virtualised": _virtualised(system),
    }
    governors = {
        system.read_or(path, "unknown")
        for path in system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    }
    rows["Frequency governor"] = ", ".join(sorted(governors)) or "none (no cpufreq)"
    for program in dict.fromkeys([*_always(), *programs]):
        if program not in OWN:  # those are as old as schedlab
            rows[f"{program} version"] = _version(system, program, _asking(program))
    return rows


def _always() -> list[str]:
    """Return the tools whose versions are shown whether the plan runs them or not."""
    listed = [tool for tool in all_tools() if tool.listed]
    return [tool.name for tool in sorted(listed, key=lambda tool: tool.listed)]


def _asking(program: str) -> tuple[str, ...]:
    """Return the arguments with which a program prints its version; none if it does not."""
    known = (tool.version_of(program) for tool in all_tools())
    return next((arguments for arguments in known if arguments is not None), ())


def _os_name(system: System) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', system.read_or("/etc/os-release", ""), re.M)
    return match[1] if match else "unknown"


def _virtualised(system: System) -> str:
    flags = re.search(r"^flags\s*:(.*)$", system.read_or("/proc/cpuinfo", ""), re.M)
    if flags is None:
        return "unknown"
    return "yes" if "hypervisor" in flags[1].split() else "no"


def _version(system: System, program: str, arguments: tuple[str, ...]) -> str:
    """Return the version a program prints, or else what identifies its file."""
    path = system.which(program)
    if path is None:
        return "not installed"
    if not arguments:
        return f"not known; {_digest(system, path)}"
    try:
        done = system.capture((program, *arguments))
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    text = done.stdout + done.stderr
    match = re.search(r"\d+(\.\d+)+", text) or re.search(r"V\s*(\d[\d.]*)", text)
    return match[0] if match else "unknown"


def _digest(system: System, program: str) -> str:
    try:
        words = system.capture(("sha256sum", program)).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        words = []
    return f"sha256 {words[0][:12]}" if words else "unknown"
