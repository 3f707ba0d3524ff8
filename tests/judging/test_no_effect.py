"""Simulated variants whose runs are the same: no effect in this run, and what was missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.judging.analysis import Outcome, RunTable, analyse, judge_metrics, settled_cases
from schedlab.judging.readers import what_was_missing
from schedlab.plan.plan import BenchmarkEntry, Plan
from schedlab.report import Report, all_shapes
from schedlab.report.findings import headline
from schedlab.result import read_in
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import PATCHES, CaseInfo, Store
from schedlab.settings.variant import Variant
from tests.helpers.report_store import MACHINE, TIME

CASE = CaseInfo("Pipe", "Pipe", "", "pipe", {}, (TIME,))
PLAN = Plan(
    target="sim:smp4",
    benchmark=(BenchmarkEntry(name="Pipe"),),
    variant=(Variant(name="base"), Variant(name="no-wa", sched_features=("NO_WA_IDLE",))),
)


def runs(
    blocks: int, differing: frozenset[int] = frozenset(), traces: bool = True
) -> list[RunRecord]:
    """Invent runs that are the same in both variants but for some blocks."""
    found: list[RunRecord] = []
    for block in range(blocks):
        for variant in PLAN.variant:
            other = variant.name == "no-wa" and block in differing
            found.append(
                RunRecord(
                    key=RunKey("Pipe", variant.name, block),
                    position=len(found),
                    seed=block,
                    command="",
                    metrics={"time": 1 + 0.01 * block + 0.001 * other},
                    counters={"switches": 10.0 + other},
                    trace=f"{block:08x}{other:08x}" if traces else "",
                )
            )
    return found


def judged(plan: Plan, records: list[RunRecord]) -> Outcome:
    [outcome] = judge_metrics(plan, plan.design(), [CASE], RunTable(plan, records, {}))
    return outcome


@pytest.mark.parametrize("traces", [True, False])
def test_equal_runs_are_no_effect_and_settled(traces: bool) -> None:
    outcome = judged(PLAN, runs(6, traces=traces))
    assert outcome.verdict.word == "no effect"
    assert outcome.verdict.note == (
        "the scheduler took the same decisions in all 6 blocks: WA_IDLE is read in wake_affine();"
        " that did not run, or decided the same either way"
    )
    assert settled_cases(PLAN.design(), [outcome]) == {"Pipe"}


def test_equal_runs_that_had_not_settled_say_both() -> None:
    short = [replace(r, caveats=["too short: averages remember 1 s"]) for r in runs(6)]
    verdict = judged(PLAN, short).verdict
    assert verdict.name == "not judged"
    assert verdict.note.startswith(
        "not judged: 12 of 12 runs too short for the scheduler's state to settle: averages"
        " remember 1 s; the scheduler took the same decisions in all 6 blocks: WA_IDLE is read"
    )


def test_equal_runs_of_one_variant_twice_are_no_effect() -> None:
    twice = PLAN.model_copy(update={"aa": True})
    verdict = judged(twice, runs(6)).verdict
    assert verdict.word == "no effect"
    assert verdict.note == "the scheduler took the same decisions in all 6 blocks"


def test_a_block_that_differs_is_judged_as_ever() -> None:
    verdict = judged(PLAN, runs(6, frozenset({2}))).verdict
    assert verdict.word != "no effect"
    assert verdict.note.endswith("the scheduler took the same decisions in 5 of 6 blocks")


def test_equal_figures_of_unlike_runs_are_not_no_effect() -> None:
    records = runs(6)
    unlike = [replace(r, trace=f"{r.trace}{r.key.variant}") for r in records]
    assert judged(PLAN, unlike).verdict.word != "no effect"


def test_hosts_are_judged_as_ever() -> None:
    plan = PLAN.model_copy(update={"target": "host"})
    assert judged(plan, runs(6)).verdict.word != "no effect"


def test_a_report_says_it(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "result", PLAN, MACHINE, {}, [CASE], "schedlab run")
    store.add(*runs(6))
    assert [r.trace for r in store.records()] == [r.trace for r in runs(6)]
    report = Report(store, analyse(store))
    assert report.tally("no-wa").endswith("0 can't tell, 1 no effect")
    assert headline(report).startswith("Pipe: no-wa has no effect in this run: the scheduler took")


def test_of_simulated_runs_no_disturbance_is_said(tmp_path: Path) -> None:
    patches = {f"{PATCHES} fast": "sched: Be fast"}
    store = Store.create(tmp_path / "result", PLAN, MACHINE, patches, [CASE], "schedlab run")
    store.add(*runs(6))
    report = Report(store, analyse(store))
    for shape in ("terminal", "markdown", "html", "lkml"):
        text = all_shapes()[shape].render(report)
        assert "not recorded" not in text, shape
        assert "Disturbance" not in text, shape
        if shape in ("terminal", "html"):
            assert "Patches of fast: sched: Be fast" in text, shape


def test_of_a_knob_no_more_is_said_than_is_known() -> None:
    other = Variant(name="x", sysctl={"kernel.numa_balancing": "0"})
    assert what_was_missing(PLAN.variant[0], other, {}) == (
        "which part of the kernel reads kernel.numa_balancing is not known to us"
    )


def test_what_the_kernels_sources_say_is_named() -> None:
    other = Variant(name="x", sysctl={"kernel.numa_balancing": "0"}, sched_features=("SHINY",))
    found = {"SHINY": ["f"], "kernel.numa_balancing": ["a", "b", "c", "d", "e", "g"]}
    assert what_was_missing(PLAN.variant[0], other, read_in.row(found)) == (
        "kernel.numa_balancing is read in a(), b(), c(), d() and 2 more, SHINY is read in f();"
        " these did not run, or decided the same either way"
    )


def test_of_another_kernel_it_is_said_what_equal_runs_do_not_show() -> None:
    """A patch that only computes has equal runs, as kernel code is not charged by instruction."""
    other = Variant(name="x", kernel="burning", sched_features=("NO_WA_IDLE", "SHINY"))
    words = what_was_missing(PLAN.variant[0], other, {})
    assert words == (
        "computation inside the other kernel's code takes no simulated time"
        " (docs/internals/engine.md), so only other decisions, locks or cache lines would show;"
        " WA_IDLE is read in wake_affine();"
        " that did not run, or decided the same either way; which part of the kernel reads"
        " sched_feature SHINY is not known to us"
    )
