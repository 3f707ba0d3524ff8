"""Two results side by side: claims inside a session stay, claims across are labelled."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.cli.side_by_side import BETWEEN
from schedlab.judging.sessions import compare
from tests.helpers.command_line import Cli
from tests.helpers.report_store import (
    COMMON,
    HACKBENCH,
    PLATFORM,
    SCHED_PIPE,
    SYSBENCH_CPU,
    Bench,
    make_store,
)


def later(bench: Bench, level: float, effect: float) -> Bench:
    """Return a benchmark at another session's level, with another effect of NB-OFF."""
    return replace(bench, typical=bench.typical * level, effects={"NB-OFF": effect})


def test_effects_and_levels(tmp_path: Path) -> None:
    first = make_store(tmp_path / "a", [SCHED_PIPE, SYSBENCH_CPU], nr_blocks=12)
    second = make_store(
        tmp_path / "b",
        [later(SCHED_PIPE, 1.1, 1.0), later(SYSBENCH_CPU, 1.1, 1.0)],
        nr_blocks=12,
        environment=PLATFORM | {"Kernel release": "6.12.0"},
    )
    sessions = compare(first, second)
    pipe, cpu = sessions.effects
    assert (cpu.first.word, cpu.second.word) == ("worse", "equivalent")
    assert pipe.between and pipe.between.word == "equivalent", "the level is no effect"
    assert cpu.between and cpu.between.word == "better"
    assert cpu.between.effect == pytest.approx(1 / 0.93 - 1, abs=0.01)
    words = {(row.label, row.variant): row.between.word for row in sessions.levels}
    assert words["PerfBenchSchedPipe", "Default"] == "worse"
    assert words["SysBenchCpu", "Default"] == "better"
    assert sessions.platform == [("Kernel release", "5.7.0-rc3+", "6.12.0")]


def test_no_claim_across_sessions_without_the_label(cli: Cli, tmp_path: Path) -> None:
    make_store(tmp_path / "a", COMMON, nr_blocks=12)
    make_store(tmp_path / "b", [later(bench, 1.2, 1.0) for bench in COMMON[:3]], nr_blocks=12)
    status, text, err = cli("compare", tmp_path / "a", tmp_path / "b")
    assert status == 0, err
    assert "only in A: HackbenchPipeThreads time NB-OFF" in text
    effects, _, across = text.partition("The same variant in A and B")
    assert re.search(r"better|worse", effects), "inside a session they are claims"
    claims = re.findall(r"\b(?:better|worse|equivalent)\b(?!:)", across)
    assert claims
    assert len(re.findall(rf"(?:better|worse|equivalent)\s+(?:{BETWEEN}|between)", across)) == len(
        claims
    )


def test_cases_of_another_size_and_results_with_nothing_in_common(tmp_path: Path) -> None:
    first = make_store(tmp_path / "a", [HACKBENCH], nr_blocks=6)
    other = replace(HACKBENCH, benchmark="HackbenchForkSockets")
    second = make_store(tmp_path / "b", [other], nr_blocks=6)
    sessions = compare(first, second)
    assert len(sessions.effects) == 1
    assert sessions.levels == []
    assert "is of another size" in sessions.unlike[0]
    third = make_store(tmp_path / "c", [SCHED_PIPE], nr_blocks=6)
    with pytest.raises(UsageError, match="no benchmark, metric and variant in common"):
        compare(first, third)
