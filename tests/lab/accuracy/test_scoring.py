"""Scores of predictions: grades by hand-made rows, aims, the study and its kept explanations."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.judging import marks
from schedlab.judging.analysis import analyse
from schedlab.judging.matched import counted
from schedlab.judging.reference import Reference, Table, all_references, find_reference
from schedlab.lab.accuracy.published import Predicted, cpu_seconds_left, works
from schedlab.lab.accuracy.scoring import (
    Prediction,
    Score,
    by_mechanism,
    extents,
    predictions,
    score,
    with_what_is_missing,
)
from schedlab.lab.accuracy.study import UNEXPLAINED, study
from schedlab.lab.kept import kept_folder
from schedlab.machine.model import find_machine
from schedlab.plan.plan import find_plan
from tests.helpers.report_store import HACKBENCH, SCHED_PIPE, make_store, plan_of

ROW = Prediction(
    reference="a-change",
    mechanism="newidle",
    plan="a-plan",
    label="hackbench-1",
    metric="time",
    mark="validation",
    published=0.2,
    noise=None,
    simulated=0.1,
    low=0.05,
    high=0.15,
    verdict="better",
)


def row(published: float, simulated: float | None, verdict: str, **more: object) -> Prediction:
    return replace(ROW, published=published, simulated=simulated, verdict=verdict, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("published", "simulated", "verdict", "noise", "grade"),
    [
        (0.2, 0.1, "better", None, "right"),
        (-0.2, -0.03, "worse", None, "right"),
        (0.2, -0.1, "worse", None, "wrong"),
        (-0.04, 0.1, "better", None, "wrong"),
        (0.01, 0.1, "better", None, "invented"),
        (-0.06, 0.1, "better", 0.04, "invented"),  # published within twice its noise
        (0.2, 0.0, "equivalent", None, "missed"),
        (0.03, 0.0, "equivalent", None, "can't tell"),
        (0.01, 0.0, "equivalent", None, "nothing, rightly"),
        (0.2, 0.3, "can't tell", None, "can't tell"),
        (0.03, 0.0, "no effect", None, "missed"),  # the same runs leave no margin
        (0.06, 0.0, "no effect", 0.04, "nothing, rightly"),
        (0.01, 0.0, "no effect", None, "nothing, rightly"),
    ],
)
def test_grades(
    published: float, simulated: float, verdict: str, noise: float | None, grade: str
) -> None:
    assert row(published, simulated, verdict, noise=noise).grade == grade


ROWS = [
    row(0.5, 0.4, "better", label="a"),
    row(-0.12, -0.2, "worse", label="b"),
    row(0.3, -0.1, "worse", label="c", mechanism="idle"),
    row(0.06, 0.005, "can't tell", label="d", mechanism="idle"),
    row(0.2, 0.3, "can't tell", label="e"),
    row(0.9, 0.9, "better", label="f", mark="calibration"),
    row(0.9, None, "can't tell", label="g"),
]


def test_only_measured_validation_rows_count() -> None:
    whole = score(ROWS)
    assert [r.label for r in whole.rows] == ["a", "b", "c", "d", "e"]
    assert whole.count("right") == 2
    assert whole.count("wrong") == 1
    assert whole.count("can't tell") == 2


def test_aims_are_counted_as_they_say() -> None:
    wrong, large, signs = score(ROWS).aims()
    assert (wrong.reached, wrong.met) == ("1 of 3 claims", False)
    assert (large.reached, large.met) == ("2 of 4", False)  # a, b of a, b, c, e
    assert (signs.reached, signs.met) == ("3 of 4", True)  # d's effect is too small to have a sign
    assert [aim.met for aim in score([]).aims()] == [None, None, None]
    assert score(ROWS[:2]).aims()[0].met is True


def test_an_aim_is_not_met_as_such_while_rows_are_missing() -> None:
    missing = [row(0.4, None, "not simulated", label=f"m{i}") for i in range(3)]
    small = row(0.07, None, "not simulated", label="s")
    wrong, large, signs = score([*ROWS[:2], *missing, small]).aims()
    assert wrong.outcome == "met on the rows simulated so far: 2 of 6"
    assert large.outcome == "met on the rows simulated so far: 2 of 5"
    assert signs.outcome == "met on the rows simulated so far: 2 of 6"
    assert [aim.outcome for aim in score(ROWS[:2]).aims()] == ["met"] * 3
    assert score(missing).aims()[0].outcome == "no row decides"


def test_extents_say_how_far_the_published_rows_were_simulated() -> None:
    short = row(0.2, 0.3, "can't tell", label="h", judged=False)
    cold = row(0.2, 0.3, "better", label="i", cold=True)
    counts = [(e.published, e.simulated, e.cold, e.judged) for e in extents([*ROWS, short, cold])]
    assert counts == [(8, 7, 1, 5), (8, 7, 1, 5), (7, 6, 1, 4)]
    held = [each.held for each in extents([*ROWS[:2], row(0.06, 0.1, "better", label="h")])]
    assert held == [(1, 3), (1, 3), (0, 2)]


def test_metrics_of_one_case_are_one_claim() -> None:
    stream = [row(0.6, 1.4, "better", label="stream", metric=m) for m in ("copy", "add", "triad")]
    assert score([*stream, *ROWS[:3]]).right_cases == (3, 4)
    spoilt = row(0.6, -1.4, "worse", label="stream", metric="scale")
    assert score([*stream, spoilt]).right_cases == (0, 1)


def test_runs_too_short_have_no_sign_and_no_rank() -> None:
    short = [row(x, -x, "can't tell", label=f"s{x}", judged=False) for x in (0.1, 0.2, 0.3)]
    whole = score(short)
    assert whole.count("not judged") == 3
    assert whole.signs == []
    assert whole.rank is None
    assert whole.held == (0, 0)
    rising = [row(x, x * 2, "better") for x in (0.1, 0.2, 0.3)]
    assert score([*rising, *short]).rank == pytest.approx(1.0)


def test_cold_runs_are_counted_apart() -> None:
    rows = [*ROWS, row(0.5, -0.4, "worse", label="c1", cold=True)]
    assert score(rows).count("wrong") == 1
    assert score(rows, cold=True).count("wrong") == 1
    assert [r.label for r in score(rows, cold=True).rows] == ["c1"]
    assert score([*ROWS[:2], rows[-1]]).aims()[0].outcome.endswith("simulated so far: 2 of 3")


def test_coverage_is_the_share_of_intervals_that_hold_the_published_change() -> None:
    held = row(0.1, 0.1, "better", label="x")
    assert score([held, *ROWS[:2], ROWS[5], replace(held, low=None)]).held == (1, 3)


def test_rank_correlation_wants_three_different_changes() -> None:
    rising = [row(x, x * 2, "better") for x in (0.1, 0.2, 0.3)]
    assert score(rising).rank == pytest.approx(1.0)
    assert score([row(x, -x, "worse") for x in (0.1, 0.2, 0.3)]).rank == pytest.approx(-1.0)
    assert score(rising[:2]).rank is None
    assert score([]).rank is None


def test_mechanisms_are_scored_apart() -> None:
    scores = dict(by_mechanism(ROWS))
    assert list(scores) == ["newidle", "idle"]
    assert [len(each.rows) for each in scores.values()] == [3, 2]


PUBLISHED = """
title = "A change"
source = "a list"
mechanism = "newidle"
[[table]]
target = "host"
variant = "NB-OFF"
metric = "time"
noise = { HackbenchPipeThreads = 0.05 }
rows = [["HackbenchPipeThreads", [2.5, 2.7], 2.0], ["PerfBenchSchedPipe", 27.0, 30.0]]
"""


def published(tmp_path: Path, text: str) -> Reference:
    (tmp_path / "change.toml").write_text(text)
    return find_reference(str(tmp_path / "change.toml"))


def test_rows_are_set_beside_the_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_by = {"change/PerfBenchSchedPipe": (("kunpeng", "cost.syscall"),)}
    monkeypatch.setattr(marks, "rows_of_machines", lambda: set_by)
    reference = published(tmp_path, PUBLISHED)
    store = make_store(tmp_path / "result", (HACKBENCH, SCHED_PIPE), plan_of())
    rows = list(predictions("change", reference, "p", "host", analyse(store).outcomes))
    assert [(r.label, r.mark, r.noise) for r in rows] == [
        ("HackbenchPipeThreads", "validation", 0.05),
        ("PerfBenchSchedPipe", "calibration", None),
    ]
    assert rows[0].published == pytest.approx(0.2302, abs=1e-4)  # less time is better
    assert rows[0].low is not None
    assert rows[0].simulated is not None
    assert list(predictions("change", reference, "p", "sim:smp4", analyse(store).outcomes)) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"newidle"', '"luck"', "mechanism: 'wakeup placement', 'newidle'"),
        ("= 0.05", "= 5.0", "noise.HackbenchPipeThreads: less than 1"),
        ("{ Hackbench", "{ Hickbench", "noise: no row is labelled 'HickbenchPipeThreads'"),
        ('"PerfBenchSchedPipe", 27', '"HackbenchPipeThreads", 27', "two rows are labelled"),
        ('title = "A change"', "", "title: is missing"),
    ],
)
def test_a_bad_file_is_refused_with_its_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in PUBLISHED
    with pytest.raises(UsageError, match=message.replace("[", r"\[")):
        published(tmp_path, PUBLISHED.replace(old, new))


@pytest.mark.parametrize("name", all_references())
def test_every_row_is_of_a_benchmark_and_metric_of_its_plans(name: str) -> None:
    reference = find_reference(name)
    assert reference.mechanism
    assert reference.machine
    assert reference.kernel
    plans = [find_plan(plan)[0] for plan in reference.plans]
    assert plans
    assert all(plan.published == name for plan in plans)
    if name in ("group-util-kunpeng", "ilb-util-epyc", "misfit", "numa-balancing-kunpeng"):
        return  # documents: some of their rows are of longer plans
    [plan] = plans
    cases = {c.label: c for c in plan.cases(find_machine(plan.target.removeprefix("sim:")))}
    variants = {variant.name for variant in plan.variant[1:]}
    labelled = set()
    for table in reference.table:
        assert (table.target, {table.variant}) == (plan.target, variants)
        for label, _, _ in table.rows:
            assert table.metric in {metric.name for metric in cases[label].metrics}
            assert cases[label].model() is not None
            labelled.add(label)
    assert labelled == set(cases)


def test_there_are_ten_changes_of_several_mechanisms() -> None:
    references = [find_reference(name) for name in all_references()]
    assert len(references) >= 14
    assert len({reference.mechanism for reference in references}) >= 6


def test_works_are_the_quick_plans() -> None:
    assert [work.plan_name for work in works("misfit")] == ["misfit-juno-r0", "misfit-hikey960"]
    assert len(works("")) >= 14
    with pytest.raises(UsageError, match="Did you mean misfit"):
        works("misfitt")


def test_a_result_belongs_to_one_engine(tmp_path: Path) -> None:
    plan = works("misfit")[0].plan
    one = kept_folder(tmp_path, "misfit", plan, {"Engine version": "1", "Boot": "x"})
    assert one.name.startswith("misfit-")
    assert one == kept_folder(tmp_path, "misfit", plan, {"Engine version": "1", "Boot": "y"})
    assert one != kept_folder(tmp_path, "misfit", plan, {"Engine version": "2", "Boot": "x"})
    assert one != kept_folder(tmp_path, "misfit", plan, {"Engine version": "1"}, "a machine")


def test_time_left_is_told_when_every_plan_is_known() -> None:
    found = works("misfit")
    assert cpu_seconds_left(found, lambda _: 10, {}) is None
    known = {work.plan_name: 2.0 for work in found}
    assert cpu_seconds_left(found, lambda _: 10, known) == 40.0


def references() -> dict[str, Reference]:
    table = Table(target="t", variant="v", metric="m", rows=(("r", 1.0, 2.0),))
    common = {"mechanism": "newidle", "open": ("the cgroup",), "machine": "m", "kernel": "6.1"}
    return {"a-change": Reference(title="A change", source="list", table=(table,), **common)}  # type: ignore[arg-type]


ENGINE = {"Engine version": "e1", "Kernels": "6.1"}
SIMULATED = {"a-plan": [Predicted(ROWS, [], ENGINE, (), 1, ("a",))]}


def test_the_study_has_a_section_for_each_wrong_claim() -> None:
    part = Predicted([], [], {"Engine version": "e1"}, (), 4, ("a", "b", "c"))
    other = Predicted([], [], {"Engine version": "e2"}, (), 4, ("d",))
    page = study(ROWS, references(), {**SIMULATED, "b-plan": [], "d-plan": [part, other]}, {})
    assert "| a-plan | e1 |  | 6.1 |" in page
    assert "| b-plan | not simulated |  |  |" in page
    assert "| d-plan (3 of 4 cases) | e1 |  |  |  |\n| d-plan (1 of 4 cases) | e2 |" in page
    assert "| **all** | 5 | 2 | 1 | 0 | 0 | 2 | 0 | 0 | 2 of 3 | 1 of 5 |" in page
    assert "| all | 6 | 5 | 0 | 5 | 1 of 5 |" in page
    assert "two thirds of the signs right" in page
    assert "3 of 4, **met on the rows simulated so far: 5 of 6**" in page
    assert "- claims right by case: 2 of 3\n" in page
    assert "Simulated intervals that hold the published effect: 1 of 5." in page
    assert "Published and not simulated: 1 of 7 rows." in page
    assert "- the cgroup" in page
    assert "| f | time |  |  |  | +90.0 | +90.0 | +5.0 to +15.0 | better | calibration |" in page
    assert page.count("\n### ") == 1
    assert f"simulated -10.0 %: claimed with the other sign.*\n\n{UNEXPLAINED}" in page


def test_a_wrong_claim_is_explained_also_while_it_is_not_simulated() -> None:
    words = "The scan is too cheap.\n\nSee `schedlab diverge`."
    explained = {"a-plan: c, time": f"{words}\n", "gone: x, time": "Nobody asks any more."}
    page = study(ROWS, references(), SIMULATED, explained)
    assert page.endswith(f"*\n\n{words}\n")
    assert UNEXPLAINED not in page
    owed = [replace(r, simulated=None, verdict="not simulated") for r in ROWS]
    page = study(owed, references(), {"a-plan": []}, explained)
    assert page.endswith(f"### a-plan: c, time\n\n*Not simulated now.*\n\n{words}\n")
    right = [r for r in ROWS if r.label != "c"]
    assert "There are none." in study(right, references(), SIMULATED, explained)


def test_a_false_claim_on_a_row_that_set_a_figure_is_shown_and_not_counted() -> None:
    false = row(0.01, -9.0, "worse", label="x", mark="calibration")
    page = study([*ROWS, false], references(), SIMULATED, {})
    assert "### a-plan: x, time" in page
    assert "it set a figure, and is not counted" in page.replace("\n", " ")
    assert "1 would be right, 0 wrong and 1 invented" in page.replace("\n", " ")
    assert "| **all** | 5 |" in page


def test_the_score_is_split_by_engine() -> None:
    parts = [
        Predicted(ROWS[:1], [], {"Engine version": "older"}, (), 3, ("a",)),
        Predicted(ROWS[1:3], [], {"Engine version": "newer"}, (), 3, ("b", "c")),
    ]
    page = study(ROWS[:3], references(), {"a-plan": parts}, {})
    newer, older = (re.search(rf"^\| {name} \| .*$", page, re.M) for name in ("newer", "older"))
    assert newer and newer[0].startswith("| newer | 2 | 1 | 1 | 0 |")
    assert older and older[0].startswith("| older | 1 | 1 | 0 | 0 |")
    assert newer.start() < older.start()


def test_rows_too_short_and_cold_ones_are_marked_in_the_study() -> None:
    short = row(0.2, 0.3, "can't tell", label="s", judged=False, note="not judged: 2 of 12 runs")
    cold = row(0.2, 0.3, "better", label="w", cold=True, pairs=6, measured_s=0.789)
    page = study([*ROWS, short, cold], references(), SIMULATED, {})
    assert "| s | time |  |  |  | +20.0 | +30.0 | +5.0 to +15.0 | can't tell | not judged |" in page
    assert "- s, time: not judged: 2 of 12 runs" in page
    assert (
        "| w | time | 6 | 0.79 |  | +20.0 | +30.0 | +5.0 to +15.0 | better | right (cold) |" in page
    )
    assert "| *cold runs* | 1 | 1 |" in page


def test_a_baseline_of_another_state_is_named() -> None:
    far, near = (
        row(0.2, 0.0, "equivalent", label="far", ratio=11.8),
        row(0.2, 0.1, "better", ratio=1.9),
    )
    page = study([far, near], references(), SIMULATED, {})
    assert "| far | time |  |  | 12 | +20.0 |" in page
    assert "- far, time: the baseline is 12 times the published: another state" in page
    assert page.count("another state") == 1


def test_published_counts_are_set_beside_ours(tmp_path: Path) -> None:
    text = (
        PUBLISHED
        + """
[[counts]]
target = "host"
variant = "NB-OFF"
counter = "context-switches"
per = { loops = 40000 }
rows = [["HackbenchPipeThreads", [1000, 3000], [500]], ["PerfBenchSchedPipe", [7], [7]]]
"""
    )
    reference = published(tmp_path, text)
    bench = replace(HACKBENCH, counters={"context-switches": 5000.0})
    store = make_store(tmp_path / "result", (bench,), plan_of())
    counts = list(counted(reference, "host", "Default", store.cases, store.records()))
    assert [(c.variant, c.is_baseline, c.published) for c in counts] == [
        ("Default", True, 1000.0),  # of the 20,000 loops of the runs
        ("NB-OFF", False, 250.0),
    ]
    assert counts[0].here == pytest.approx(5000, rel=0.1)
    rows = list(predictions("change", reference, "p", "host", analyse(store).outcomes))
    part = Predicted(rows, counts, {}, (), 1, ("a",))
    page = study(rows, {"change": reference}, {"p": [part]}, {})
    assert "| HackbenchPipeThreads | context-switches | Default | 1,000 | " in page
    assert re.search(r"- HackbenchPipeThreads: the baseline's switches are [45]\S* times the", page)
    calm = [replace(counts[0], here=1900.0)]
    part = replace(part, counts=calm)
    assert "another state" not in study(rows, {"change": reference}, {"p": [part]}, {})


def test_what_is_missing_stands_behind_what_was_simulated() -> None:
    table = Table(target="sim:x", variant="v", metric="m", rows=(("r", 1.0, 2.0), ("q", 4.0, 1.0)))
    other = table.model_copy(update={"target": "sim:y"})
    common = {"mechanism": "newidle", "machine": "m", "kernel": "6.1"}
    document = Reference(title="A", source="list", table=(table, other), **common)  # type: ignore[arg-type]
    one = row(1.0, 0.5, "better", reference="doc", plan="x-plan", label="r", metric="m")
    rows = with_what_is_missing([one], {"doc": document}, {("doc", "sim:x"): ("x-plan", True)})
    assert rows[0] is one
    assert [(r.plan, r.label, r.cold, r.simulated, r.published) for r in rows[1:]] == [
        ("x-plan", "q", True, None, -0.75),
        ("sim:y", "r", False, None, 1.0),
        ("sim:y", "q", False, None, -0.75),
    ]


def test_a_study_without_results_says_so() -> None:
    page = study([], references(), {}, {})
    assert "Not simulated yet." in page
    assert "no row decides" in page
    assert Score(()).claims == []
