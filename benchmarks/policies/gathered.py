"""How far a process's threads are gathered: of the CPU time, what the busiest LLCs have.

    python benchmarks/policies/gathered.py RESULT...

Means over the blocks of simulated results, for each case and variant: the busiest LLC's part of all
CPUs' user and kernel time, that of the two busiest, and migrations a second.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from schedlab.base.cpulist import parse_cpulist


def figures(run: Path) -> tuple[float, float, float]:
    """Return the three figures of a run's folder."""
    result = json.loads((run / "result.json").read_text())
    llcs = json.loads((run / "machine.json").read_text())["topology"]["llc"]
    busy = [cpu["user_ns"] + cpu["kernel_ns"] for cpu in result["per_cpu"]]
    parts = sorted((sum(busy[cpu] for cpu in parse_cpulist(llc)) for llc in llcs), reverse=True)
    moved = result["counters"].get("sched:sched_migrate_task", 0)
    return parts[0] / sum(parts), sum(parts[:2]) / sum(parts), moved / result["window_s"]


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for run in sorted(folder.glob("raw/*@*")):
            found[run.name.partition("-")[2]].append(figures(run))
        for name, runs in sorted(found.items()):
            one, two, moved = (mean(column) for column in zip(*runs, strict=True))
            print(f"{folder.name} {name}: {one:.0%}, {two:.0%}, {moved:.0f}/s")


if __name__ == "__main__":
    main()
