"""Simulating two variants while their traces are read."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from schedlab.benchmarks.enclosure import Enclosure
from schedlab.lab.divergence.decisions import EVENTS, Decision, decisions
from schedlab.lab.divergence.search import Divergence, diverge
from schedlab.targets.sim_program import Call, Ended, Processes, read_result


@dataclass(frozen=True)
class Side:
    """One of the two runs: its simulator, the machine's file, its scenario and files with it."""

    name: str
    program: Path
    machine: Path
    scenario: Mapping[str, Any]
    enclosures: tuple[Enclosure, ...] = ()
    from_boot: bool = True
    """Decisions count from power-on; else from the beginning of the workload, as do the times."""


def find_divergence(
    sides: tuple[Side, Side],
    seed: int,
    limit: float,
    folder: Path,
    note: Callable[[int, Decision], None] | None = None,
) -> tuple[Divergence, tuple[float, float]]:
    """Simulate both sides to their end and compare their decisions.

    `note` is shown each of them. Returns also when the workload of each began, as decisions count
    their time.

    Raises:
        IncompleteRun: a run failed.
    """

    def noted(number: int, lines: TextIO) -> Iterator[Decision]:
        for decision in decisions(lines):
            if note:
                note(number, decision)
            yield decision

    with ExitStack() as stack:
        streams, ends = [], []
        for number, side in enumerate(sides):
            trace, ended = stack.enter_context(_traced(side, seed, limit, folder / str(number)))
            streams.append(noted(number, trace))
            ends.append(ended)
        found = diverge(streams[0], streams[1])
        results = [
            read_result(ended.result(), folder / str(number) / "result.json")
            for number, ended in enumerate(ends)
        ]
        one, other = (
            result["boot_s"] if side.from_boot else 0.0
            for side, result in zip(sides, results, strict=True)
        )
        return found, (one, other)


def window(
    side: Side, seed: int, limit: float, folder: Path, begin: float, end: float
) -> list[str]:
    """Return all events of one side between two moments, as lines of its trace.

    Raises:
        IncompleteRun: the run failed.
    """
    call, text = _call(side, seed, folder, "window.txt")
    when = ("--trace-from", f"{max(begin, 0):.6f}", "--trace-to", f"{end:.6f}", *_boot(side))
    argv = (*call.argv, "--trace", str(text), "--trace-events", "sched:*,schedlab:*", *when)
    ended = Processes().run(argv, folder / "words", limit)
    read_result(ended, call.result)
    return [line for line in text.read_text().splitlines() if not line.startswith("#")]


def _call(side: Side, seed: int, folder: Path, trace: str) -> tuple[Call, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    call = Call(side.program, side.machine, folder / "scenario.json", folder / "result.json", seed)
    call.scenario.write_text(json.dumps(side.scenario))
    for enclosure in side.enclosures:
        enclosure.put(folder)
    return call, folder / trace


def _boot(side: Side) -> tuple[str, ...]:
    return ("--trace-boot",) if side.from_boot else ()


@contextmanager
def _traced(
    side: Side, seed: int, limit: float, folder: Path
) -> Iterator[tuple[TextIO, Future[Ended]]]:
    """Run a simulator whose trace is a pipe; return its reading end and the run's end."""
    call, pipe = _call(side, seed, folder, "trace")
    os.mkfifo(pipe)
    # Opened for both, so that neither side waits for the other one's open().
    keeper = os.open(pipe, os.O_RDWR)
    processes = Processes()
    argv = (*call.argv, "--trace", str(pipe), "--trace-events", EVENTS, *_boot(side))
    with ThreadPoolExecutor(1) as pool:
        try:
            with pipe.open(encoding="utf-8", errors="replace") as trace:
                ended = pool.submit(_to_the_end, processes, argv, folder / "words", limit, keeper)
                yield trace, ended
        finally:
            processes.stop()


def _to_the_end(
    processes: Processes, argv: tuple[str, ...], words: Path, limit: float, keeper: int
) -> Ended:
    """Run it; then the pipe has no writer any more, and its reader comes to the end."""
    try:
        return processes.run(argv, words, limit)
    finally:
        os.close(keeper)
