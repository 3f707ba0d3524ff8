"""CPU time of the engine a simulated second, beside an earlier commit's.

    python benchmarks/engine/against.py [COMMIT] [--series 6.1] [--rounds 5] [--no-instructions]

Builds both engines from git, this commit's from HEAD, and runs three loads on 256 CPUs with each by
turns. Shown is the user CPU time without boot: what a longer run takes more than a short one, over
the simulated seconds it is longer. The ratio is the median of the rounds' ratios, with the quartiles,
since a shared host's speed changes meanwhile. Instructions are counted by perf, or where the host
has no such counter by valgrind, of the short runs with their boot.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.base.errors import SchedlabError
from schedlab.kernels.shelf import Shelf

ROOT = Path(__file__).resolve().parents[2]

Json = dict[str, Any]
MACHINE = "epyc-7713-2p-nps1"
BASELINE = "2341d85"
"""The commit of 25 November 2026 that docs/internals/engine-speed.md compares with."""


def scenario(**workload: object) -> Json:
    return {
        "duration": "1000s",
        "settle": "100ms",
        "workloads": [workload],
        "end": {"when": "workloads_done", "max_simulated": "1000s"},
    }


def hackbench(loops: int) -> Json:
    return scenario(kind="hackbench", groups=16, loops=loops, pipe=True, threads=True)


def netperf(length: str) -> Json:
    return scenario(kind="netperf", clients=128, length=length)


def schbench(runtime: str) -> Json:
    options = {"message-threads": 2, "threads": 256, "runtime": runtime, "warmuptime": "1s"}
    return scenario(kind="schbench-old", **options)


LOADS = {
    "hackbench, 16 groups": (hackbench(20), hackbench(100)),
    "netperf, 128 clients": (netperf("5ms"), netperf("25ms")),
    "schbench, 256 workers": (schbench("2s"), schbench("10s")),
}
"""A short and a long run of each load."""


@dataclass(frozen=True)
class Run:
    """One run's cost and what came out."""

    user_s: float
    result: Json

    @property
    def simulated_s(self) -> float:
        return float(self.result["simulated_s"])

    @property
    def events(self) -> int:
        return int(self.result["engine"]["events"])

    @property
    def switches(self) -> int:
        return int(self.result["counters"]["sched:sched_switch"])


class Engine:
    """The engine of a commit, built from that commit's own tree."""

    def __init__(self, commit: str, kernel: Path, series: str, folder: Path) -> None:
        self.commit = commit
        self.folder = folder
        tree, out = folder / "tree", folder / "build"
        tree.mkdir(parents=True)
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
        make = ["make", "-s", "-j2", "-C", str(tree / "engine"), f"O={out}"]
        subprocess.run(
            [*make, f"KERNEL={kernel}", f"SERIES={series}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.binary = out / "schedsim"
        self.machine = folder / "machine.json"
        show = [sys.executable, "-m", "schedlab", "machine", "show", MACHINE, "--json"]
        self.machine.write_text(
            subprocess.run(
                show,
                cwd=tree,
                env={**os.environ, "PYTHONPATH": str(tree)},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )

    def command(self, load: Json) -> list[str]:
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(load))
        names = ("--machine", self.machine), ("--scenario", path), ("--out", self.result)
        return [str(self.binary), *(str(part) for pair in names for part in pair)]

    @property
    def result(self) -> Path:
        return self.folder / "result.json"

    def run(self, load: Json) -> Run:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(self.command(load), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        return Run(after - before, json.loads(self.result.read_text()))

    def instructions(self, load: Json) -> float | None:
        """Count the user instructions of a run; None where the host has no way."""
        command = self.command(load)
        perf = ["perf", "stat", "-x", ",", "-e", "instructions:u"]
        found = _first_number([*perf, *command], r"^(\d+),")
        if found is None:
            grind = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
            grind.append(f"--cachegrind-out-file={self.folder / 'cachegrind'}")
            found = _first_number([*grind, *command], r"I +refs: +([\d,]+)")
        return found


def _first_number(command: list[str], pattern: str) -> float | None:
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(pattern, done.stderr, re.MULTILINE)
    return float(match[1].replace(",", "")) if match and not done.returncode else None


def more(short: Run, long: Run) -> float:
    """Return the user CPU seconds of a simulated second, without boot."""
    return (long.user_s - short.user_s) / (long.simulated_s - short.simulated_s)


def compare(name: str, engines: list[Engine], rounds: int, count: bool) -> None:
    short, long = LOADS[name]
    cost: list[list[float]] = [[] for _ in engines]
    runs: dict[str, tuple[Run, Run]] = {}
    for number in range(rounds):
        order = list(enumerate(engines))
        for i, engine in order if number % 2 else reversed(order):
            pair = engine.run(short), engine.run(long)
            runs[engine.commit] = pair
            cost[i].append(more(*pair))
    ratios = [before / after for before, after in zip(*cost, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    pairs = [runs[engine.commit] for engine in engines]
    events = [(b.events - a.events) / (b.switches - a.switches) for a, b in pairs]
    hashes = {run.result["trace_hash"] for _, run in pairs}
    counted = [engine.instructions(short) if count else None for engine in engines]
    instructions = (
        f"{counted[0] / 1e6:.0f} M -> {counted[1] / 1e6:.0f} M ({counted[0] / counted[1]:.2f})"
        if counted[0] and counted[1]
        else "-"
    )
    print(
        f"| {name} | {statistics.median(cost[0]):.3g} | {statistics.median(cost[1]):.3g} "
        f"| {middle:.2f} ({low:.2f}-{high:.2f}) | {min(cost[0]) / min(cost[1]):.2f} "
        f"| {events[0]:.2f} -> {events[1]:.2f} | {instructions} "
        f"| {'the same' if len(hashes) == 1 else 'differ'} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("commit", nargs="?", default=BASELINE)
    parser.add_argument("--series", default="6.1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-instructions", action="store_true")
    options = parser.parse_args()
    try:
        kernel = Shelf().base(options.series).tree
    except SchedlabError as error:
        raise SystemExit(str(error)) from None
    if options.rounds < 2:
        raise SystemExit("--rounds: use at least 2; one round has no spread")
    with tempfile.TemporaryDirectory() as scratch:
        engines = [
            Engine(commit, kernel, options.series, Path(scratch) / side)
            for side, commit in (("before", options.commit), ("after", "HEAD"))
        ]
        print(f"Linux {options.series}, {MACHINE}, {options.commit} and HEAD")
        print(
            "| load | CPU s a simulated s | now | ratio (quartiles) | of the least "
            "| events a switch | instructions | trace hashes |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|---|")
        for name in LOADS:
            compare(name, engines, options.rounds, not options.no_instructions)


if __name__ == "__main__":
    main()
