"""What NUMA balancing costs the simulator: CPU time with it and without, memory and time of pages.

    python benchmarks/numa/cost.py [KERNEL]

On the 128-CPU Kunpeng, one core. Medians of runs in turn; memory is the difference of two runs.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

from schedlab.lab.simulate import simulate, simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

ROUNDS = 5
MORE_GIB = 256
MORE_OF_A_REGION_GIB = 4
KUNPENG = description(find_machine("kunpeng-920-6426-2p"))
del KUNPENG["topology"]["node_memory_mib"]  # for address spaces larger than the machine
MODE = "/proc/sys/kernel/numa_balancing"
OFTEN = {f"/sys/kernel/debug/sched/numa_balancing/scan_{what}_ms": "10"
         for what in ("delay", "period_min")}  # fmt: skip

WORKLOADS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "sysbench cpu, 64 threads, 60 s": (
        {"kind": "sysbench-cpu", "threads": 64, "time": "60s"},
        {},
    ),
    "hackbench, pipes and threads, 1000 loops, scanned every 10 ms": (
        {"kind": "hackbench", "pipe": True, "threads": True, "loops": 1000},
        OFTEN,
    ),
    "numa-mem, 4 processes x 16 threads, 1 GiB each, 10 s": (
        {
            "kind": "numa-mem",
            "nr_proc": 4,
            "nr_threads": 16,
            "mb_proc": 1024,
            "nr_secs": "10s",
            "init_cpu0": True,
        },
        {},
    ),
}


class Bench:
    """One build of the simulator."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Return the result."""
        return simulate(self.binary, KUNPENG, {"settle": "50ms", **scenario})

    def overhead(self, workload: dict[str, Any], knobs: dict[str, str]) -> str:
        """CPU time of the host and events per second of it, with and without."""
        end = {"when": "workloads_done", "max_simulated": "1000s"}
        asked = {"duration": "1000s", "workloads": [workload], "end": end}
        seen: dict[str, list[dict[str, Any]]] = {"1": [], "0": []}
        for _ in range(ROUNDS):
            for mode, runs in seen.items():
                result = self.run({**asked, "knobs": {**knobs, MODE: mode}})
                runs.append({**result["engine"], **result["counters"]})

        def median(mode: str, name: str) -> float:
            return statistics.median(run[name] for run in seen[mode])

        rates = [median(mode, "events_per_cpu_s") / 1e6 for mode in seen]
        faults = median("1", "vmstat:numa_hint_faults")
        return (
            f"| {faults:,.0f}"
            f" | {rates[0]:.2f} | {rates[1]:.2f} | {100 * (rates[0] / rates[1] - 1):+.1f} % |"
        )

    def memory_of_a_gib(self, page: str, node: int | None) -> float:
        """KiB the engine needs for a GiB of pages, all on a node or each on the next one."""
        sizes = []
        for gib in (1, 1 + MORE_GIB):
            place = {} if node is None else {"node": node}
            memory = [{"size": f"{gib}GiB", "page": page, **place}]
            result = self.run({"duration": "1ms", "memory": memory, "tasks": []})
            sizes.append(result["engine"]["peak_kb"])
        return (sizes[1] - sizes[0]) / MORE_GIB

    def memory_of_a_region(self, option: str, processes: int) -> float:
        """KiB for a GiB of a workload's memory, which it has gone over once."""
        end = {"when": "workloads_done", "max_simulated": "1000s"}
        sizes = []
        for gib in (1, 1 + MORE_OF_A_REGION_GIB):
            load = {"kind": "numa-mem", "nr_proc": processes, "nr_loops": 1, option: gib * 1024}
            result = self.run({"duration": "1000s", "workloads": [load], "end": end})
            sizes.append(result["engine"]["peak_kb"])
        return (sizes[1] - sizes[0]) / MORE_OF_A_REGION_GIB

    def time_of_a_fault(self, page: str, gib: int) -> tuple[float, int]:
        """Microseconds of CPU for a hinting fault that moves its page, and how many there were."""
        task = {"name": "t", "mm": 0, "affinity": "64"}
        asked = {
            "duration": "60s",
            "memory": [{"size": f"{gib}GiB", "page": page, "node": 0}],
            "tasks": [{**task, "program": [{"touch": "0KiB", "size": f"{gib}GiB"}, {"run": "1s"}]}],
        }
        times: dict[str, list[float]] = {"1": [], "0": []}
        faults = 0
        for _ in range(ROUNDS):
            for mode, seconds in times.items():
                result = self.run({**asked, "knobs": {MODE: mode}})
                seconds.append(result["engine"]["cpu_s"])
                faults = max(faults, result["counters"]["vmstat:numa_hint_faults"])
        more = statistics.median(times["1"]) - statistics.median(times["0"])
        return more / faults * 1e6, faults


def main() -> None:
    """Print the tables."""
    series = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    bench = Bench(simulator_of(series).program)
    print(f"| workload, {series} | hinting faults | M events/s, on | off | |")
    print("|---|---:|---:|---:|---:|")
    for name, (workload, knobs) in WORKLOADS.items():
        print(f"| {name} {bench.overhead(workload, knobs)}", flush=True)
    print("\n| pages of a GiB | KiB of the engine's memory |")
    print("|---|---:|")
    for what, page, node in (
        ("huge", "2MiB", 0),
        ("of 4 KiB, alike", "4KiB", 0),
        ("of 4 KiB, each on another node than the next", "4KiB", None),
    ):
        print(f"| {what} | {bench.memory_of_a_gib(page, node):,.1f} |", flush=True)
    for what, option, processes in (
        ("huge, of a workload's region", "mb_proc", 1),
        ("of 4 KiB, of a region that four processes share", "mb_global", 4),
    ):
        print(f"| {what} | {bench.memory_of_a_region(option, processes):,.1f} |", flush=True)
    print("\n| a hinting fault and migration | faults | us of the host's CPU |")
    print("|---|---:|---:|")
    for page, gib in (("4KiB", 4), ("2MiB", 16)):
        cost, faults = bench.time_of_a_fault(page, gib)
        print(f"| page of {page} | {faults:,} | {cost:.2f} |", flush=True)


if __name__ == "__main__":
    main()
