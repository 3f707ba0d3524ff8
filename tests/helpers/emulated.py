"""Emulated hosts for tests: a recorded machine's files, recorded outputs, effects of knobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from schedlab.targets.emulated import EmulatedSystem
from tests.helpers.sysfs_tree import NodeSpec, Spec, split, write
from tests.helpers.tool_output import recorded

SMALL_SERVER = Spec(
    arch="aarch64",
    cpuinfo="processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n",
    online=range(8),
    cores=split(range(8), 1),
    packages=split(range(8), 4),
    memory_kib=16 << 20,
    nodes=[NodeSpec(n, cpus, 8 << 20) for n, cpus in enumerate(split(range(8), 4))],
    distances=[[10, 20], [20, 10]],
)

NUMA_BALANCING = "/proc/sys/kernel/numa_balancing"

FILES = {
    "proc/sys/kernel/numa_balancing": "1",
    "proc/sys/kernel/sched_autogroup_enabled": "1",
    "proc/sys/kernel/random/boot_id": "5f1c8a0e-0000-4000-8000-000000000001",
    "proc/sys/kernel/osrelease": "5.7.0-rc5+",
    "proc/sys/kernel/hostname": "emulated",
    "proc/stat": "cpu  100 0 50 1000 0 0 0 0 0 0\nctxt 1000",
    "sys/kernel/debug/sched/features": "WA_IDLE WA_WEIGHT NO_HRTICK",
    "sys/kernel/debug/sched/base_slice_ns": "3000000",
}
IDLE_STATES = ("WFI", "CPU_SLEEP_0", "CLUSTER_SLEEP_0")
IDLE_CPUS = 4
TRACEPOINTS = [
    "sched:sched_migrate_task",
    "sched:sched_stick_numa",
    "sched:sched_move_numa",
    "sched:sched_swap_numa",
    "migrate:mm_migrate_pages",
    "cpu-migrations",
]
OFF_IS_FASTER = [{"file": NUMA_BALANCING, "holds": "0", "times": 0.9}]


def program(match: str, file: str, figure: str, **more: Any) -> dict[str, Any]:
    """Make a program of a recorded output, the figure in it left open."""
    stdout = recorded(file).stdout
    assert figure in stdout
    return {"match": match, "stdout": stdout.replace(figure, "@VALUE@"), **more}


PROGRAMS = [
    program("sched pipe", "perf-sched-pipe", "0.462", value=45.0, noise=0.008),
    program("sched messaging", "perf-sched-messaging", "0.973", value=14.0, noise=0.2),
    program("mem memset", "perf-mem-memset", "39534592617.728004", value=6.5e9, noise=0.05),
    program("futex wake", "perf-futex-wake", "1.3970", value=120.0, noise=0.06),
    program("sysbench cpu", "sysbench-cpu", "4503.79", value=214_900.0, noise=0.0005),
    program("sysbench memory", "sysbench-memory", "704.09", value=9900.0, noise=0.02),
    program("sysbench threads", "sysbench-threads", "3.1876", value=60.0, noise=0.1),
    program("sysbench mutex", "sysbench-mutex-time0", "0.0608", value=33.5, noise=0.02),
    program(
        "hackbench --pipe",
        "hackbench-pipe-threads",
        "0.504",
        value=5.5,
        noise=0.03,
        effect=OFF_IS_FASTER,
        counts={"sched:sched_migrate_task": 3_000_000.0},
    ),
    program("hackbench", "hackbench", "1.936", value=9.0, noise=0.25),
]


def emulated_host(
    folder: Path,
    *,
    stubborn: Sequence[str] = (),
    refused: Sequence[str] = (),
    programs: Sequence[dict[str, Any]] = PROGRAMS,
    **more: Any,
) -> Path:
    """Write an emulated arm64 server with knobs, idle states and tools; give its folder."""
    root = folder / "root"
    write(root, SMALL_SERVER)
    for name, text in FILES.items():
        _put(root / name, text)
    for cpu in range(IDLE_CPUS):
        sysfs = root / f"sys/devices/system/cpu/cpu{cpu}"
        _put(sysfs / "cpufreq/scaling_governor", "schedutil")
        for i, name in enumerate(IDLE_STATES):
            values = {"name": name, "disable": "0", "usage": "10", "time": "100", "latency": "1"}
            values |= {"residency": "2", "desc": name, "power": "0"}
            for key, value in values.items():
                _put(sysfs / f"cpuidle/state{i}/{key}", value)
    host = {
        "title": "emulated arm64 server of 8 CPUs",
        "tools": {"perf": "perf version 6.1.192", "sysbench": "sysbench 1.0.20", "hackbench": ""},
        "events": TRACEPOINTS,
        "stubborn": list(stubborn),
        "refused": list(refused),
        "program": list(programs),
        **more,
    }
    (folder / "host.toml").write_text(tomli_w.dumps(host))
    return folder


def emulated_system(folder: Path, **changes: Any) -> EmulatedSystem:
    """Return the system of an emulated host."""
    return EmulatedSystem(emulated_host(folder, **changes))


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")
