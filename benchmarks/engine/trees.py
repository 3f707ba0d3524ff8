"""Events a CPU second of one kernel tree in the simulator, beside another's, in one run.

    python benchmarks/engine/trees.py [TREE] [OTHER] [--rounds 5]

TREE is 7.3 and OTHER 6.12 unless named; 6.12+simple is 6.12 with a sched_ext scheduler, and
6.12+fair the same build of the kernel without one. Both are built by this checkout's engine, as `schedlab
kernel build` does, and run the loads of against.py by turns, so that other work on the host meets
both. Shown is user CPU time without boot: what a longer run takes more than a short one. The ratio
of events a CPU second is the median of the rounds' ratios, with the quartiles; the trees decide
differently, so events and switches a simulated second stand beside it.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from against import LOADS, MACHINE, Json

from schedlab.base.errors import SchedlabError
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.progress import Watch
from schedlab.kernels.schedulers import OPTION, Scheduler, find_scheduler
from schedlab.kernels.shelf import Shelf
from schedlab.lab.simulate import simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description


@dataclass(frozen=True)
class Cost:
    """What the longer run of a load has more than the short one."""

    user_s: float
    simulated_s: float
    events: int
    switches: int


class Tree:
    """The simulator of a tree."""

    def __init__(self, series: str, folder: Path) -> None:
        self.series = series
        self.scheduler: Scheduler | None = None
        try:
            self.program = self._program(*series.split("+", 1))
        except SchedlabError as error:
            raise SystemExit(str(error)) from None
        self.folder = folder / series
        self.folder.mkdir()
        (self.folder / "machine.json").write_text(json.dumps(description(find_machine(MACHINE))))

    def _program(self, series: str, scheduler: str | None = None) -> Path:
        if scheduler is None:
            return simulator_of(series).program
        shelf = Shelf()
        plain = shelf.recipe(series)
        recipe = plain.model_copy(update={"options": (*plain.options, OPTION)})
        if scheduler != "fair":
            self.scheduler = find_scheduler(scheduler, False, shelf.base(recipe.base))
        return Builder(shelf, find_engine(), Watch()).build(recipe, self.scheduler).program

    def run(self, load: Json) -> Cost:
        if self.scheduler:
            load = {**load, "sched_ext": {"scheduler": self.scheduler.name}}
        (self.folder / "scenario.json").write_text(json.dumps(load))
        names = (("--machine", "machine"), ("--scenario", "scenario"), ("--out", "result"))
        command = [str(self.program)]
        for option, name in names:
            command += [option, str(self.folder / f"{name}.json")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = json.loads((self.folder / "result.json").read_text())
        return Cost(
            after - before,
            result["simulated_s"],
            result["engine"]["events"],
            result["counters"]["sched:sched_switch"],
        )

    def more(self, name: str) -> Cost:
        short, long = (self.run(load) for load in LOADS[name])
        return Cost(
            long.user_s - short.user_s,
            long.simulated_s - short.simulated_s,
            long.events - short.events,
            long.switches - short.switches,
        )


def compare(name: str, trees: list[Tree], rounds: int) -> None:
    costs: list[list[Cost]] = [[] for _ in trees]
    for number in range(rounds):
        order = list(enumerate(trees))
        for i, tree in order if number % 2 else reversed(order):
            costs[i].append(tree.more(name))
    rates = [[cost.events / cost.user_s / 1e6 for cost in of] for of in costs]
    ratios = [this / other for this, other in zip(*rates, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    columns = [name]
    columns += [f"{statistics.median(of):.2f}" for of in rates]
    columns.append(f"{middle:.2f} ({low:.2f}-{high:.2f})")
    columns += [f"{of[0].events / of[0].simulated_s / 1e6:.2f}" for of in costs]
    columns += [f"{of[0].events / of[0].switches:.1f}" for of in costs]
    columns += [f"{statistics.median(c.user_s / c.simulated_s for c in of):.3g}" for of in costs]
    print(f"| {' | '.join(columns)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tree", nargs="?", default="7.3")
    parser.add_argument("other", nargs="?", default="6.12")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.rounds < 2:
        raise SystemExit("--rounds: use at least 2; one round has no spread")
    with tempfile.TemporaryDirectory() as scratch:
        trees = [Tree(series, Path(scratch)) for series in (options.tree, options.other)]
        heads = ["load", *(f"M events a CPU s, {t.series}" for t in trees), "ratio (quartiles)"]
        for what in ("M events a simulated s", "events a switch", "CPU s a simulated s"):
            heads += [f"{what}, {t.series}" for t in trees]
        print(f"{MACHINE}, one engine")
        print(f"| {' | '.join(heads)} |")
        print(f"|---|{'---:|' * (len(heads) - 1)}")
        for name in LOADS:
            compare(name, trees, options.rounds)


if __name__ == "__main__":
    main()
