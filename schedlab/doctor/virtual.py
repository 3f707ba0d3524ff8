"""Whether a hypervisor stands below us, and how much CPU time it takes away."""

import re
import subprocess
from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.base.system.numbers import whole
from schedlab.doctor.finding import Finding

_DMI = "/sys/class/dmi/id"
_DMI_MAKERS = {
    "QEMU": "QEMU",
    "VMware": "VMware",
    "innotek": "VirtualBox",
    "Xen": "Xen",
    "Amazon EC2": "Amazon EC2",
    "Google Compute Engine": "Google Compute Engine",
    "Microsoft Corporation Virtual Machine": "Hyper-V",
    "Parallels": "Parallels",
}
_STEAL_SHARE = 0.01
_STEAL_FIELD = 7


def check(system: System) -> Iterator[Finding]:
    """Look for a hypervisor and for stolen time."""
    name = hypervisor(system)
    if name is None:
        yield Finding("hypervisor", "ok", "no hypervisor found")
    else:
        yield Finding(
            "hypervisor",
            "warning",
            f"a virtual machine ({name})",
            "the host's scheduler moves the CPUs of this guest; caches, distances and idle states"
            " may be invented",
            "confirm on bare metal; more blocks help against noise, not against a wrong topology",
        )
    yield from _steal(system)


def hypervisor(system: System) -> str | None:
    """Name what we run on, or None on bare metal; from CPU flags, DMI and device tree."""
    named = system.read_or("/sys/hypervisor/type", "")
    maker = " ".join(
        system.read_or(f"{_DMI}/{name}", "") for name in ("sys_vendor", "product_name")
    )
    known = next((name for word, name in _DMI_MAKERS.items() if word in maker), "")
    tree = system.read_or("/proc/device-tree/hypervisor/compatible", "").strip("\0")
    if named or known or tree:
        return named or known or tree
    if asked := _systemd_says(system):
        return asked
    cpuinfo = system.read_or("/proc/cpuinfo", "")
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
        return "CPU flag hypervisor"
    if re.search(r"^platform\s*:\s*pSeries", cpuinfo, re.MULTILINE):
        return "a PowerVM or KVM partition"
    return None


def _systemd_says(system: System) -> str | None:
    """Ask systemd-detect-virt, which knows more hypervisors than we do, where it is installed."""
    if system.which("systemd-detect-virt") is None:
        return None
    try:
        answer = system.capture(("systemd-detect-virt", "--vm")).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if answer in ("", "none") else answer


def _steal(system: System) -> Iterator[Finding]:
    line = system.read_or("/proc/stat", "").partition("\n")[0].split()
    if line[:1] != ["cpu"] or len(line) <= _STEAL_FIELD + 1:
        return
    ticks = [whole(word, "/proc/stat") for word in line[1 : _STEAL_FIELD + 2]]
    stolen, total = ticks[_STEAL_FIELD], sum(ticks)
    if not stolen:
        return
    busy = total - ticks[3] - ticks[4]
    share = stolen / busy
    found = f"the hypervisor took {share:.1%} of the CPU time we wanted since boot"
    if share < _STEAL_SHARE:
        yield Finding("steal", "ok", found)
        return
    yield Finding(
        "steal",
        "warning",
        found,
        "tasks wait without this kernel's scheduler knowing; this looks like noise or like latency",
        "move to a host with fewer guests, or to one with CPUs of its own",
    )
