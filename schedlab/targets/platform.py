"""The platform table of a report: what was measured on, down to the tools' versions."""

import re
import subprocess
from collections.abc import Iterable

from schedlab.benchmarks import Command
from schedlab.kernels.native import OWN
from schedlab.machine.model import Machine
from schedlab.result.boots import BOOT
from schedlab.system import System

MEMORY = "Memory (GB)"
"""The row of the table that can change while a guest runs."""

_ALWAYS = {"perf": ("--version",), "sysbench": ("--version",), "hackbench": ("-h",)}
"""Tools whose versions are told whether the plan runs them or not, as published reports do."""


def platform_table(system: System, machine: Machine, commands: Iterable[Command]) -> dict[str, str]:
    """Return the rows, in the order and with the names of the published reports, then our own."""
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
    asked = {command.tool: command.version for command in commands} | _ALWAYS
    for tool, arguments in (_ALWAYS | asked).items():
        if tool not in OWN:  # those are as old as schedlab
            rows[f"{tool} version"] = _tool_version(system, tool, arguments)
    return rows


def _os_name(system: System) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', system.read_or("/etc/os-release", ""), re.M)
    return match[1] if match else "unknown"


def _virtualised(system: System) -> str:
    flags = re.search(r"^flags\s*:(.*)$", system.read_or("/proc/cpuinfo", ""), re.M)
    if flags is None:
        return "unknown"
    return "yes" if "hypervisor" in flags[1].split() else "no"


def _tool_version(system: System, tool: str, arguments: tuple[str, ...]) -> str:
    """Return the version a program prints, or else what identifies its file."""
    path = system.which(tool)
    if path is None:
        return "not installed"
    if not arguments:
        return f"not told; {_digest(system, path)}"
    try:
        done = system.capture((tool, *arguments))
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    text = done.stdout + done.stderr
    match = re.search(r"\d+(\.\d+)+", text) or re.search(r"V\s*(\d[\d.]*)", text)
    return match[0] if match else "unknown"


def _digest(system: System, program: str) -> str:
    try:
        told = system.capture(("sha256sum", program)).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        told = []
    return f"sha256 {told[0][:12]}" if told else "unknown"
