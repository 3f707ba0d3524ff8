"""The platform table of a report: what was measured on, down to the tools' versions."""

import re
import subprocess

from schedlab.machine import Machine
from schedlab.system import LocalSystem

_VERSION_ARGS = {"perf": "--version", "sysbench": "--version", "hackbench": "-h"}


def platform_table(system: LocalSystem, machine: Machine) -> dict[str, str]:
    """Give the rows, in the order and with the names of the published reports, then our own."""
    rows = {
        "Architecture": machine.arch,
        "Processor version": machine.processor or "unknown",
        "CPUs": str(machine.nr_cpus),
        "NUMA nodes": str(machine.sizes()["nodes"]),
        "Memory (GB)": str(machine.memory_gib),
        "Kernel release": system.kernel_release(),
        "Node name": system.read_or("/proc/sys/kernel/hostname", "unknown"),
        "Kernel version": system.read_or("/proc/sys/kernel/version", "unknown"),
        "Kernel command line": system.read_or("/proc/cmdline", "unknown"),
        "Operating system": _os_name(system),
        "Virtualised": _virtualised(system),
    }
    governors = {
        system.read_or(path, "unknown")
        for path in system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    }
    rows["Frequency governor"] = ", ".join(sorted(governors)) or "none (no cpufreq)"
    for tool, argument in _VERSION_ARGS.items():
        rows[f"{tool} version"] = _tool_version(system, tool, argument)
    return rows


def _os_name(system: LocalSystem) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', system.read_or("/etc/os-release", ""), re.M)
    return match[1] if match else "unknown"


def _virtualised(system: LocalSystem) -> str:
    flags = re.search(r"^flags\s*:(.*)$", system.read_or("/proc/cpuinfo", ""), re.M)
    if flags is None:
        return "unknown"
    return "yes" if "hypervisor" in flags[1].split() else "no"


def _tool_version(system: LocalSystem, tool: str, argument: str) -> str:
    if system.which(tool) is None:
        return "not installed"
    try:
        text = system.capture((tool, argument)).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    match = re.search(r"\d+(\.\d+)+", text) or re.search(r"V\s*(\d[\d.]*)", text)
    return match[0] if match else "unknown"
