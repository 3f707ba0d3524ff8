"""tracefs, debugfs, scheduler features, lockdown: tried by opening, as permission bits do not tell.

A locked-down kernel refuses /sys/kernel/debug even to root.
"""

import errno
import re
from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.counters.perf_stat import TRACEPOINTS
from schedlab.counters.tracepoints import TRACEFS, tracepoint_file
from schedlab.doctor.finding import Finding
from schedlab.settings.sched_debug import features_path

DEBUGFS = "/sys/kernel/debug"
_SECURITYFS = "/sys/kernel/security"
_AS_ROOT = "run as root"
_UNLOCK = "switch Secure Boot off in the firmware, or boot without lockdown="


def check(system: System) -> Iterator[Finding]:
    """Try each of them."""
    yield _tracepoints(system)
    yield _debugfs(system)
    yield _features(system)
    yield _lockdown(system)


def _tracepoints(system: System) -> Finding:
    why = "without it perf counts no migrations and no NUMA events"
    folder = next((place for place in TRACEFS if _mounted(system, place)), None)
    if folder is None:
        mount = f"mount -t tracefs nodev {TRACEFS[0]}"
        return Finding("tracefs", "warning", "tracefs is not mounted", why, mount)
    refused = _refusal(system, tracepoint_file(folder, "sched:sched_migrate_task"))
    if refused in (errno.EACCES, errno.EPERM):
        found = f"tracefs on {folder} does not let us read"
        return Finding("tracefs", "warning", found, why, _AS_ROOT)
    absent = [event for event in TRACEPOINTS if not system.exists(tracepoint_file(folder, event))]
    if absent:
        return Finding(
            "tracefs",
            "note",
            f"tracefs on {folder}; this kernel has no {', '.join(absent)}",
            "these are left out of reports; the NUMA ones need CONFIG_NUMA_BALANCING",
        )
    return Finding("tracefs", "ok", f"tracefs on {folder}, {len(TRACEPOINTS)} tracepoints found")


def _debugfs(system: System) -> Finding:
    why = "scheduler features and tunables live there; they cannot be variants"
    if _mounted(system, DEBUGFS):
        return Finding("debugfs", "ok", f"debugfs on {DEBUGFS}")
    if _supported(system, "debugfs"):
        mount = f"mount -t debugfs none {DEBUGFS}"
        return Finding("debugfs", "warning", "debugfs is not mounted", why, mount)
    boot = "boot a kernel with CONFIG_DEBUG_FS_ALLOW_ALL"
    return Finding("debugfs", "warning", "this kernel has no debugfs", why, boot)


def _features(system: System) -> Finding:
    why = "no variant can switch a scheduler feature"
    if not _mounted(system, DEBUGFS):
        return Finding("features", "note", "scheduler features: not seen without debugfs", why)
    path = features_path(system)
    refused = _refusal(system, path)
    if refused == errno.ENOENT:
        boot = "boot a kernel with CONFIG_SCHED_DEBUG"
        return Finding("features", "warning", "this kernel shows no scheduler features", why, boot)
    if refused == errno.EPERM:
        found = f"{path}: the kernel refuses it even to root (EPERM), as under lockdown"
        return Finding("features", "warning", found, why, _UNLOCK)
    if refused is not None:
        found = f"{path}: {errno.errorcode.get(refused, refused)} on reading"
        return Finding("features", "warning", found, why, _AS_ROOT)
    count = len(system.read(path).split())
    if not system.writable(path):
        found = f"{path}: {count} features, read-only for us"
        return Finding("features", "warning", found, why, _AS_ROOT)
    return Finding("features", "ok", f"{path}: {count} features, readable and writable")


def _lockdown(system: System) -> Finding:
    """Read the mode in brackets: `none [integrity] confidentiality`."""
    match = re.search(r"\[(\w+)\]", system.read_or(f"{_SECURITYFS}/lockdown", ""))
    if match and match[1] != "none":
        return Finding(
            "lockdown",
            "warning",
            f"the kernel is locked down: {match[1]}",
            "even root cannot read or write scheduler features and tunables in debugfs",
            _UNLOCK,
        )
    if match:
        return Finding("lockdown", "ok", "the kernel is not locked down")
    if _supported(system, "securityfs") and not _mounted(system, _SECURITYFS):
        return Finding(
            "lockdown",
            "note",
            "lockdown: not seen without securityfs",
            "under lockdown even root cannot use scheduler features and tunables in debugfs",
            f"mount -t securityfs none {_SECURITYFS}",
        )
    return Finding("lockdown", "ok", "this kernel shows no lockdown")


def _supported(system: System, filesystem: str) -> bool:
    known = system.read_or("/proc/filesystems", "")
    return re.search(rf"^nodev\s+{filesystem}$", known, re.MULTILINE) is not None


def _mounted(system: System, place: str) -> bool:
    return any(
        line.split()[1:2] == [place]
        for line in system.read_or("/proc/self/mounts", "").splitlines()
    )


def _refusal(system: System, path: str) -> int | None:
    """Return the error number of reading a file, or None where it can be read."""
    try:
        system.read(path)
    except OSError as error:
        return error.errno
    return None
