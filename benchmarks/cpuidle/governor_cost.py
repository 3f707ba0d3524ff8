"""What the simulator pays for an entry into idleness: each cpuidle governor, and none.

    python benchmarks/cpuidle/governor_cost.py [SCHEDSIM]

64 tasks sleep for 20 us at a time on EPYC 7713 with its idle states, and without any, where a CPU
just halts. CPU seconds of the host in the whole run, the least of seven, over the times a CPU left
the idle loop for a task; the runs without states are the floor.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedlab.lab.simulate import simulate, simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

Json = dict[str, Any]
RUNS = 7
SCENARIO: Json = {
    "duration": "100s",
    "workloads": [{"kind": "nanosleep", "processes": 64, "sleep": "20us", "time": "200ms"}],
    "end": {"when": "workloads_done", "max_simulated": "100s"},
}


def machines() -> Iterator[tuple[str, Json]]:
    """The same machine without idle states, and under each governor."""
    without = _epyc()
    del without["idle"]
    yield "no idle states", without
    for governor in ("menu", "teo", "ladder", "haltpoll"):
        described = _epyc()
        described["idle"]["governor"] = governor
        yield governor, described


def _epyc() -> Json:
    return description(find_machine("epyc-7713-2p-nps1"))


def main() -> None:
    binary = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else simulator_of("6.12").program
    print("| governor | ns of the host's CPU an idle entry | over none | simulated time |")
    print("|---|---|---|---|")
    floor = None
    for governor, described in machines():
        runs = [simulate(binary, described, SCENARIO) for _ in range(RUNS)]
        # two switches a sleep: to the idle task, and back
        entries = runs[0]["counters"]["sched:sched_switch"] / 2
        cost = min(each["engine"]["cpu_s"] for each in runs) * 1e9 / entries
        floor = cost if floor is None else floor
        loops = runs[0]["metrics"]["nanosleep.loops per second"]
        print(f"| {governor} | {cost:.0f} | {cost - floor:+.0f} | {loops:.0f} sleeps/s |")


if __name__ == "__main__":
    main()
