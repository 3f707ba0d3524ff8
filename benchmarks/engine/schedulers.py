"""Every sched_ext scheduler of the kernel trees, run twice on each of two machines.

    python benchmarks/engine/schedulers.py [SERIES[+SCHEDULER] ...]

Without arguments: the schedulers of 6.12, 7.2 and 7.3, and those of the added clone of the scx
project (`schedlab scx add`) on 7.3. Twelve tasks run for 3 ms and sleep for 1 ms, for 100 ms. Shown
is the beginning of the trace's hash, which is the same for both runs, or why there is none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from schedlab.base.errors import SchedlabError
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.progress import Watch
from schedlab.kernels.schedulers import OPTION, find_scheduler, tree_schedulers
from schedlab.kernels.scx_tree import scx_sources, scx_tree
from schedlab.kernels.shelf import Shelf
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

SERIES = ("6.12", "7.2", "7.3")
MACHINES = ("smt8", "epyc-7713-2p-nps1")
LOAD = {
    "duration": "100ms",
    "tasks": [{"name": "busy", "count": 12, "program": [{"run": "3ms"}, {"sleep": "1ms"}]}],
}
SHOWN = 8
"""Digits of a hash."""


def schedulers(shelf: Shelf, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each of these series with each of its schedulers; the others need not be there."""
    for series in (series for series in SERIES if series in wanted):
        for name in sorted(tree_schedulers(shelf.base(shelf.recipe(series).base))):
            yield series, name
    if SERIES[-1] in wanted and (tree := scx_tree(shelf)):
        for name in scx_sources(tree):
            yield SERIES[-1], name


def simulator(shelf: Shelf, series: str, name: str) -> tuple[Path, str]:
    """Return the program of a kernel with a scheduler, and what the program calls it."""
    plain = shelf.recipe(series)
    recipe = plain.model_copy(update={"options": (*plain.options, OPTION)})
    scheduler = find_scheduler(name, False, shelf.base(recipe.base), scx_tree(shelf))
    return Builder(shelf, find_engine(), Watch()).build(recipe, scheduler).program, scheduler.name


def trace_hash(program: Path, scheduler: str, machine: str, folder: Path) -> str:
    """Return the hash of one run, or the simulator's words."""
    files = {"machine": description(find_machine(machine))}
    files["scenario"] = {**LOAD, "sched_ext": {"scheduler": scheduler}}
    for kind, content in files.items():
        (folder / f"{kind}.json").write_text(json.dumps(content))
    command = [str(program)]
    for option, kind in (("machine", "machine"), ("scenario", "scenario"), ("out", "result")):
        command += [f"--{option}", str(folder / f"{kind}.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return _first(done.stderr)
    return str(json.loads((folder / "result.json").read_text())["trace_hash"])[:SHOWN]


def _first(words: str) -> str:
    return words.strip().splitlines()[0] if words.strip() else "nothing was said"


def row(shelf: Shelf, series: str, name: str) -> list[str]:
    """Return the cells of one scheduler of one series."""
    try:
        program, called = simulator(shelf, series, name)
    except SchedlabError as error:
        return [_first(str(error))]
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for machine in MACHINES:
            hashes = {trace_hash(program, called, machine, Path(folder)) for _ in range(2)}
            cells.append(" and ".join(sorted(hashes)))
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("wanted", nargs="*", metavar="SERIES[+SCHEDULER]")
    wanted = parser.parse_args().wanted
    shelf = Shelf()
    print(f"| tree | scheduler | {' | '.join(MACHINES)} |")
    print(f"|---|---|{'---|' * len(MACHINES)}")
    found = 0
    of_series = {name.partition("+")[0] for name in wanted} or set(SERIES)
    for series, name in schedulers(shelf, of_series):
        if not wanted or series in wanted or f"{series}+{name}" in wanted:
            found += 1
            print(f"| {series} | {name} | {' | '.join(row(shelf, series, name))} |", flush=True)
    if wanted and not found:
        sys.exit(f"no scheduler is called {', '.join(wanted)}")


if __name__ == "__main__":
    main()
