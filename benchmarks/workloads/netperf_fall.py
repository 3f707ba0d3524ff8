"""What netperf's rate falls by with clients: the table of docs/studies/ilb-util.md.

    python benchmarks/workloads/netperf_fall.py [CLIENTS...]

Linux 6.1 with ILB_UTIL on the EPYC with NPS1, 150 ms, means of four seeds: thousand round trips a
client, and of the busy CPU time the percent spent waiting for contended lines and in newidle
balance. Ten minutes of CPU. The kernel is that of plans/ilb-util-epyc.toml, which is there once
a plan with it has run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean
from typing import Any

from schedlab.lab.simulate import simulate, simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

KERNEL = "ilb-util"
EPYC = description(find_machine("epyc-7713-2p-nps1"))
CLIENTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SEEDS = (1, 2, 3, 4)
AUTOGROUP = "/proc/sys/kernel/sched_autogroup_enabled"
OVERLOAD = {
    "tasks": [
        {"name": "hog", "count": 2, "affinity": "255", "loops": 0, "program": [{"run": "1ms"}]}
    ]
}
GROUP = {"knobs": {AUTOGROUP: "1"}}
NO_NEWIDLE = {
    "knobs": {
        AUTOGROUP: "1",
        **{
            f"/sys/kernel/debug/sched/domains/cpu{cpu}/domain0/max_newidle_lb_cost": "1000000000"
            for cpu in range(256)
        },
    }
}
"""No CPU is ever idle for as long as a scan of its siblings is said to take."""
NO_LINES = {"ablate": ["hot_lines"]}
ILB = {"features": {"NI_RANDOM": False, "ILB_UTIL": True, "ILB_ROUND_UP": True}}
ROWS: dict[str, dict[str, Any]] = {
    "contended lines free": GROUP | NO_LINES,
    "and ILB_UTIL": GROUP | NO_LINES | ILB,
    "root task group": {},
    "session's group": GROUP,
    "session's, ILB_UTIL": GROUP | ILB,
    "no newidle balance": NO_NEWIDLE,
    "rd->overload held set": GROUP | OVERLOAD,
    "so, ILB_UTIL": GROUP | OVERLOAD | ILB,
}


def netperf(
    program: Path, seed: int, clients: int, changes: dict[str, Any]
) -> tuple[float, float, float]:
    """Return the figures of one run."""
    scenario: dict[str, Any] = {
        "duration": "100s",
        "settle": "600ms",
        "background": 4,
        "features": {"NI_RANDOM": False},
        "knobs": {AUTOGROUP: "0"},
        "workloads": [{"kind": "netperf", "clients": clients, "length": "150ms"}],
        "end": {"when": "workloads_done", "max_simulated": "100s"},
    }
    result = simulate(program, EPYC, scenario | changes, seed)
    busy = sum(cpu["user_ns"] + cpu["kernel_ns"] for cpu in result["per_cpu"])
    rate = result["metrics"]["netperf.transactions per client"] / 1000
    lines = 100 * result["counters"]["cost:hot_line_wait_ns"] / busy
    newidle = 100 * result["functions"]["newidle_balance"]["ns"] / busy
    return rate, lines, newidle


def cell(program: Path, clients: int, row: dict[str, Any]) -> str:
    """Return the means over the seeds."""
    runs = [netperf(program, seed, clients, row) for seed in SEEDS]
    rate, lines, newidle = (mean(column) for column in zip(*runs, strict=True))
    return f"{rate:6.1f} {lines:5.1f} % {newidle:5.1f} %"


def main() -> None:
    """Print the table, a row as soon as it is there."""
    clients = [int(word) for word in sys.argv[1:]] or CLIENTS
    program = simulator_of(KERNEL).program
    for name, row in ROWS.items():
        print(f"{name:26}", *(cell(program, n, row) for n in clients), sep="  ", flush=True)


main()
