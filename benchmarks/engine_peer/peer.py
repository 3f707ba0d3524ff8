"""The engine's speed against a peer in the same run: the same kernel series in QEMU without KVM.

    python benchmarks/engine_peer/peer.py [--series 6.12|6.1] [--rounds N]
    python benchmarks/engine_peer/peer.py --boot-only CPUS

Both sides have 2 sockets x 2 cores x 2 threads and 2 nodes, and do the same work: the same tasks,
loops and messages, pinned to nothing. `--boot-only` only boots a guest of so many CPUs.

A guest's clock follows the host's, however slow emulation is, so its own seconds say nothing about
the emulated machine. A *simulated second* is therefore, on both sides, the work that the engine
says the described machine (small-2n-smt2) does in one second. The engine's wall time is its whole
process, the guest's is from letting the tasks go to the last one's end, without its boot. A switch
is one of sched_switch: the engine's counter, the guest's "ctxt", which counts the same. The
engine's include those of starting the tasks.

A "run" is a count of turns of a register loop that take that long on this host. The guest executes
them; the engine only advances time by them. Results depend on the host being otherwise idle: CPU
seconds (user and system, all threads) do so less than wall seconds.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import guest
from schedlab.base.errors import SchedlabError
from schedlab.cli.steps import ConsoleSteps
from schedlab.kernels import KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.built import Build
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.debian import debian_tree
from schedlab.kernels.engine import find_engine
from schedlab.kernels.shelf import Shelf
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description
from schedlab.targets.sim_program import Call, Ended, read_result

MACHINE = "small-2n-smt2"
SHAPE = guest.socket_nodes(sockets=2, cores=2, threads=2)
LONGEST_SECONDS = 220.0
"""Guests that are not through so long after the first was started are given up."""

UP_SECONDS = 30.0
"""A guest that is not up by then hangs; those that come up need 4 to 14."""


@dataclass(frozen=True)
class Hackbench:
    """Groups of 20 senders and 20 receivers, threads over pipes, messages of 100 bytes."""

    groups: int
    loops: int
    fds: int = 20
    datasize: int = 100

    @property
    def name(self) -> str:
        groups = "1 group" if self.groups == 1 else f"{self.groups} groups"
        return f"hackbench, {groups}, {self.loops} loops"

    def scenario(self) -> dict[str, Any]:
        shape = {"groups": self.groups, "fds": self.fds, "loops": self.loops}
        return {
            "duration": "600s",
            "workloads": [
                {"kind": "hackbench", **shape, "datasize": self.datasize}
                | {"pipe": True, "threads": True}
            ],
            "end": {"when": "workloads_done", "max_simulated": "600s", "max_host": 60},
        }

    def words(self, turns_per_us: float) -> list[object]:
        return ["hackbench", self.groups, self.fds, self.loops, self.datasize]


@dataclass(frozen=True)
class RunSleep:
    """Tasks that run and sleep in turns; those that do not sleep are hogs."""

    tasks: int
    loops: int
    run_us: int
    sleep_us: int = 0

    @property
    def name(self) -> str:
        if not self.sleep_us:
            return f"{self.tasks} hogs, {self.run_us // 1000} ms each"
        shape = f"run {self.run_us / 1000:g} ms, sleep {self.sleep_us / 1000:g} ms"
        return f"{self.tasks} tasks, {self.loops} x {shape}"

    def scenario(self) -> dict[str, Any]:
        program = [{"run": f"{self.run_us}us"}]
        if self.sleep_us:
            program.append({"sleep": f"{self.sleep_us}us"})
        task = {"name": "runner", "count": self.tasks, "loops": self.loops, "program": program}
        return {"duration": "60s", "tasks": [task], "end": {"max_host": 60}}

    def words(self, turns_per_us: float) -> list[object]:
        turns = round(self.run_us * turns_per_us)
        return ["runsleep", self.tasks, self.loops, turns, self.sleep_us]


Load = Hackbench | RunSleep

LOADS: tuple[Load, ...] = (
    Hackbench(groups=1, loops=400),
    Hackbench(groups=4, loops=200),
    RunSleep(tasks=64, loops=50, run_us=1000, sleep_us=1000),
    RunSleep(tasks=32, loops=1, run_us=100_000),
)


@dataclass(frozen=True)
class Simulated:
    """A load, once through, in the engine."""

    simulated_s: float
    wall_s: float
    cpu_s: float
    switches: int


# ------------------------------------------------------------------ the engine


def engine_build(series: str) -> Build:
    """Return the engine's build of Debian's sources of a series, fetched and built if need be."""
    engine, shelf, watch = find_engine(), Shelf(), ConsoleSteps()
    try:
        recipe = shelf.recipe(series)
    except KernelError:
        shelf.put_base(debian_tree(series, series, engine, shelf, watch))
        recipe = shelf.recipe(series)
    build = Builder(shelf, engine, watch).build(recipe)
    if build.series != series:
        raise KernelError(f"the kernel called {series} in the cache is a {build.series}.")
    return build


def simulate(build: Build, load: Load, seed: int, folder: Path) -> Simulated:
    """Simulate a load up to the end of its last task, as the load in the guest is measured."""
    scenario = load.scenario() | {"settle": "100ms"}
    if "workloads" not in scenario:
        # Tasks have no end of the scenario: find it once, then measure up to it.
        found, _ = _run(build, scenario, seed, folder)
        ends = [task.get("died_ns") for task in found["tasks"] if task["name"].startswith("runner")]
        if None in ends:
            raise KernelError(f"{load.name}: not through in 60 simulated seconds")
        scenario |= {"duration": f"{max(ends)}ns"}
        result, (wall, cpu) = _run(build, scenario, seed, folder)
        simulated = max(ends) / 1e9
    else:
        result, (wall, cpu) = _run(build, scenario, seed, folder)
        simulated = result["metrics"]["hackbench.time"]
    return Simulated(simulated, wall, cpu, result["counters"]["sched:sched_switch"])


def _run(
    build: Build, scenario: dict[str, Any], seed: int, folder: Path
) -> tuple[dict[str, Any], tuple[float, float]]:
    """Return the engine's result, and the wall and CPU seconds of its process."""
    (folder / "machine.json").write_text(json.dumps(description(find_machine(MACHINE))))
    (folder / "scenario.json").write_text(json.dumps(scenario))
    result = folder / "result.json"
    call = Call(build.program, folder / "machine.json", folder / "scenario.json", result, seed)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    # Without a timeout: with one, Python looks now and then whether the process has ended.
    done = subprocess.run(call.argv, capture_output=True, text=True, check=False)
    ended = Ended(done.returncode, time.monotonic() - began, done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return read_result(ended, result), (ended.seconds, cpu)


# ------------------------------------------------------------------ both


def calibrate(load: Path) -> float:
    """Return the turns of the load's work that take this host a microsecond."""
    said = subprocess.run([load, "calibrate"], capture_output=True, text=True, check=True).stdout
    return float(said.split()[-1])


def number(value: float) -> str:
    """Write three digits, as many as the measurement is worth."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value < 0.01 else f"{value:.3g}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table as Markdown reads it."""
    cells = [list(head), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def measure(series: str, rounds: int) -> None:
    """Measure every load on both sides and print the tables."""
    guest.check_tools()
    files = guest.prepare(series, cache_folder() / "engine-peer")
    build = engine_build(series)
    turns = calibrate(files.load)
    deadline = time.monotonic() + LONGEST_SECONDS
    began_load = os.getloadavg()[0]
    work: list[list[str]] = []
    speed: list[list[str]] = []
    boots: list[guest.Boot] = []
    for load in LOADS:
        with TemporaryDirectory() as folder:
            ours = [simulate(build, load, seed + 1, Path(folder)) for seed in range(rounds)]
        limit = deadline - time.monotonic()
        try:
            boot = guest.boot(files, SHAPE, load.words(turns), rounds, limit, UP_SECONDS)
        except guest.Skipped as why:
            print(f"skipped: {load.name}: {why}")
            continue
        boots.append(boot)
        work.append(_work_row(load, ours, boot))
        speed.append(_speed_row(load, ours, boot))
        print(f"{load.name}: done", file=sys.stderr)
    if not boots:
        return
    print(f"engine: schedlab {build.engine}, Linux {build.release} ({build.origin}), one thread")
    print(f"peer: QEMU {guest.qemu_version()}, TCG, Linux {boots[0].version} ({files.package})")
    print(
        f"guest: CPUs {boots[0].shown.split()[0]}, CPU 0's core {boots[0].shown.split()[1]},",
        end="",
    )
    print(f" package {boots[0].shown.split()[2]}, nodes {boots[0].shown.split()[3]};", end="")
    print(f" boots in {min(b.boot_s for b in boots):.1f}-{max(b.boot_s for b in boots):.1f} s,")
    print(f"  and {sum(b.failed for b in boots)} boots panicked or hung and were repeated")
    print(
        f"host: {platform.machine()}, {os.cpu_count()} CPUs, load average {began_load:.1f}"
        f" at the start; medians of {rounds} rounds\n"
    )
    head = ["work", "simulated s", "wall s", "wall s, QEMU", "QEMU's range", "CPU s"]
    print(table([*head, "CPU s, QEMU", "switches", "switches, QEMU"], work))
    print()
    head = ["work", "wall s per simulated s", "same, QEMU", "ratio, wall", "ratio, CPU"]
    print(table([*head, "wall us per switch", "same, QEMU", "ratio"], speed))


def _median(ours: Sequence[Simulated], what: str) -> float:
    return statistics.median(float(getattr(one, what)) for one in ours)


def _work_row(load: Load, ours: Sequence[Simulated], boot: guest.Boot) -> list[str]:
    walls = [one.wall_s for one in boot.rounds]
    return [
        load.name,
        number(_median(ours, "simulated_s")),
        number(_median(ours, "wall_s")),
        number(boot.median("wall_s")),
        f"{number(min(walls))}-{number(max(walls))}",
        number(_median(ours, "cpu_s")),
        number(boot.median("cpu_s")),
        f"{_median(ours, 'switches'):,.0f}",
        f"{boot.median('switches'):,.0f}",
    ]


def _speed_row(load: Load, ours: Sequence[Simulated], boot: guest.Boot) -> list[str]:
    simulated, wall = _median(ours, "simulated_s"), _median(ours, "wall_s")
    theirs = boot.median("wall_s")
    each = wall / _median(ours, "switches") * 1e6
    each_there = theirs / boot.median("switches") * 1e6
    return [
        load.name,
        number(wall / simulated),
        number(theirs / simulated),
        number(theirs / wall),
        number(boot.median("cpu_s") / _median(ours, "cpu_s")),
        number(each),
        number(each_there),
        number(each_there / each),
    ]


def boot_only(series: str, cpus: int) -> None:
    """Boot a guest of so many CPUs and say how long that takes."""
    guest.check_tools()
    files = guest.prepare(series, cache_folder() / "engine-peer")
    shape = guest.socket_nodes(sockets=2, cores=max(cpus // 4, 1), threads=2)
    boot = guest.boot(files, shape, ["calibrate"], 0, LONGEST_SECONDS, LONGEST_SECONDS)
    print(f"{shape.cpus} CPUs: Linux {boot.version} up in {boot.boot_s:.1f} s ({boot.shown})")


def main() -> int:
    """Measure, or say why not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--series", choices=("6.1", "6.12"), default="6.12")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--boot-only", type=int, metavar="CPUS")
    asked = parser.parse_args()
    try:
        if asked.boot_only:
            boot_only(asked.series, asked.boot_only)
        else:
            measure(asked.series, max(asked.rounds, 1))
    except (guest.Skipped, SchedlabError) as why:
        print(f"skipped: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
