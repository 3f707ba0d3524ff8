"""Instructions from switch to switch: read from perf's text, shown, and made into speeds."""

import re
from pathlib import Path

import numpy as np
import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording.anonymous import anonymous
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.counted import count_pieces, slowdowns
from schedlab.lab.recording.events import Events, Kind
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.pace import Speeds
from schedlab.lab.recording.page import trace_page
from schedlab.lab.recording.pieces import find_pieces
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.showing import describe
from schedlab.lab.recording.stats import describe_stats, trace_stats
from schedlab.lab.recording.text import read_text
from schedlab.lab.recording.workload import read_workload
from tests.helpers.traces import Line, perf_script, switch, waking

IDLE, OTHER, A, B = ("swapper/0", 0), ("swapper/1", 0), ("worker", 10), ("noise", 11)
MS = 1_000_000
CORE = Speeds(cores=[(0, 1)], beside=(1.0, 0.6))


def counted(line: Line, **figures: int) -> str:
    """A switch with the figures that perf prints behind it."""
    head = perf_script(line).partition(" sched:")[0]
    named = "".join(
        f"{head} {figure:>12} {name.replace('_', '-') + ':':>20} \n"
        for name, figure in figures.items()
    )
    return f"{perf_script(line)}\n{named}"


def read(lines: list[str]) -> Events:
    return read_text(["".join(lines).encode()], "trace.txt")


def beside_a_sibling(part: float, turns: int = 40, slow_phase: float = 1.0) -> list[str]:
    """A worker runs 1 ms alone and 1 ms beside another one, in turns: 3 instructions a ns alone.

    In the second half of its turns it has fewer instructions, of itself.
    """
    lines = [counted(switch(0, 0, IDLE, "R", A), instructions=7)]
    for turn in range(turns):
        at = 3 * MS * turn
        beside = turn % 2
        if turn:
            lines.append(perf_script(waking(at - 2, 1, OTHER, A)) + "\n")
            lines.append(counted(switch(at, 0, IDLE, "R", A), instructions=7))
        if beside:
            lines.append(counted(switch(at, 1, OTHER, "R", B), instructions=7))
        own = 3 * MS * (part if beside else 1.0) * (slow_phase if turn >= turns / 2 else 1.0)
        lines.append(
            counted(switch(at + MS, 0, A, "S", IDLE), instructions=int(own), cycles=2 * MS)
        )
        if beside:
            lines.append(counted(switch(at + MS + 1, 1, B, "S", OTHER), instructions=MS))
    return lines


def test_figures_are_of_the_task_that_the_cpu_left() -> None:
    events = read(beside_a_sibling(0.8, turns=4))
    pieces = find_pieces(events)
    figures = count_pieces(events, pieces)
    worker = pieces.pid == 10
    assert figures["instructions"][worker].tolist() == [3 * MS, 2_400_000, 3 * MS, 2_400_000]
    assert figures["cycles"][worker].tolist() == [2 * MS] * 4
    assert figures["cycles"][~worker].tolist() == [-1] * 2


@pytest.mark.parametrize(
    ("text", "counter"),
    [
        ("12 instructions: ", 0),
        ("12 instructions:u: ", 0),
        ("12 cpu_core/instructions/: ", 0),
        ("12 cpu-cycles:  ffffffff810b2 [unknown] ([kernel.kallsyms])", 1),
        ("12 task-clock:ppp: ", 2),
        ("12 cache-misses: ", None),
        ("12 instructions-of-another: ", None),
    ],
)
def test_names_of_counters_as_perf_prints_them(text: str, counter: int | None) -> None:
    line = switch(5, 0, A, "S", IDLE)
    head = perf_script(line).partition(" sched:")[0].rstrip()
    found = read([f"{perf_script(line)}\n{head} {text}\n"])
    assert found.one[found.of(Kind.COUNT)].tolist() == ([] if counter is None else [counter])


def test_tracepoints_with_their_period_are_read_too() -> None:
    line = perf_script(switch(5, 0, A, "S", IDLE)).replace(" sched:", " 1 sched:")
    assert read([f"{line}\n"]).kind.tolist() == [Kind.SWITCH]


def test_large_figures_and_those_of_no_switch() -> None:
    most = 10**17 + 12_345
    first = counted(switch(0, 0, IDLE, "R", A))
    here = counted(switch(10, 0, A, "S", IDLE), instructions=most)
    sample = perf_script(switch(12, 0, IDLE, "R", A)).partition(" sched:")[0]
    events = read([first, here, f"{sample} 100000 instructions: \n"])
    assert count_pieces(events, find_pieces(events))["instructions"].tolist() == [most]


def test_a_siblings_part_comes_from_instructions_and_not_from_the_machine_file() -> None:
    made = infer(read(beside_a_sibling(0.8)), Choice(("worker",), CORE), "x")
    work = [ns for task in made.tasks for letter, ns in task.steps() if not letter]
    assert sorted(set(work)) == pytest.approx([800_000, 1_000_000], rel=0.001)
    found = made.recorded["counted"]["worker"]
    assert found["slower"] == [{"speed": 1.0, "busy_siblings": 1, "part": 0.8}]
    assert found["instructions"] == 20 * (3 * MS + 2_400_000)
    bare = infer(
        read([line.split("\n")[0] + "\n" for line in beside_a_sibling(0.8)]),
        Choice(("worker",), CORE),
        "x",
    )
    assert "counted" not in bare.recorded
    plain = {ns for task in bare.tasks for letter, ns in task.steps() if not letter}
    assert sorted(plain) == pytest.approx([600_000, 1_000_000], rel=0.001)


def test_a_phase_with_fewer_instructions_keeps_its_time() -> None:
    """Alone as well as beside the sibling the second half has nine tenths of the instructions."""
    made = infer(read(beside_a_sibling(0.8, slow_phase=0.9)), Choice(("worker",), CORE), "x")
    work = {ns for task in made.tasks for letter, ns in task.steps() if not letter}
    assert sorted(work) == pytest.approx([800_000, 1_000_000], rel=0.001)


def test_rates_that_are_not_known_leave_the_machine_files_figure() -> None:
    chance = np.random.default_rng(1)
    spent = np.zeros((400, 2))
    spent[np.arange(400), np.arange(400) % 2] = 1000.0
    steady = spent @ np.array([3.0, 2.1]) * chance.normal(1, 0.1, 400)
    (found,) = slowdowns(steady.astype(int), spent, (1.0, 0.6))
    assert found.situation == 1 and found.part == pytest.approx(0.7, abs=0.03)
    wild = spent.sum(axis=1) * chance.lognormal(0, 2, 400)
    assert not slowdowns(wild.astype(int), spent, (1.0, 0.6))
    assert not slowdowns(steady.astype(int)[:30], spent[:30], (1.0, 0.6))
    assert not slowdowns(steady.astype(int)[1::2], spent[1::2], (1.0, 0.6))
    both = np.tile([500.0, 500.0], (400, 1))
    assert not slowdowns(steady.astype(int), both, (1.0, 0.6))


def test_no_sibling_makes_a_task_faster() -> None:
    spent = np.zeros((100, 2))
    spent[np.arange(100), np.arange(100) % 2] = 1000.0
    (found,) = slowdowns((spent @ np.array([2.0, 3.0])).astype(int), spent, (1.0, 0.6))
    assert found.part == 1.0


def test_statistics_and_files_show_rates(tmp_path: Path) -> None:
    events = read(beside_a_sibling(0.8))
    stats = trace_stats(events, Choice())
    table = list(describe_stats(stats))
    row = next(line for line in table if line.startswith("worker"))
    assert row.split()[-3:] == ["2,700", "1.35", "2.00"]
    assert '<td class="n">2,700</td>' in trace_page(stats, "x")
    file = tmp_path / "x.slw"
    infer(events, Choice(("worker",), CORE), "x").write(file)
    shown = next(line for line in describe(read_workload(file)) if line.startswith("worker "))
    assert shown
    said = "\n".join(describe(read_workload(file)))
    assert "2,700     1.35  0.8 on CPUs of speed 1.0 beside 1" in said
    file.write_text(re.sub(r'"instructions": *\d+', '"instructions": "many"', file.read_text()))
    with pytest.raises(UsageError, match=r"recorded\.counted\.worker: seconds, instructions"):
        read_workload(file)


def test_anonymous_recordings_keep_the_figures(tmp_path: Path) -> None:
    text = "".join(beside_a_sibling(0.8))
    hidden = anonymous(b"1")(text.encode())
    (tmp_path / "x.txt").write_bytes(hidden)
    events = read_trace(tmp_path / "x.txt")
    assert len(events) == len(read([text])) and b"worker" not in hidden
