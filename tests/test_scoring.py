"""Scores of predictions: grades by hand-made rows, aims, the study and its kept explanations."""

from dataclasses import replace
from pathlib import Path

import pytest

from schedlab import marks
from schedlab.accuracy.published import cpu_seconds_left, works
from schedlab.accuracy.scoring import Prediction, Score, by_mechanism, predictions, score
from schedlab.accuracy.study import UNEXPLAINED, explanations, study
from schedlab.analysis import analyse
from schedlab.errors import UsageError
from schedlab.machine import find_machine
from schedlab.plan import find_plan
from schedlab.reference import Reference, Table, all_references, find_reference
from tests.report_store import HACKBENCH, SCHED_PIPE, make_store, plan_of

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
    work = works("misfit")[0]
    one = work.folder(tmp_path, {"Engine version": "1", "Boot": "x"})
    assert one.name.startswith("misfit-juno-r0-")
    assert one != work.folder(tmp_path, {"Engine version": "2", "Boot": "x"})


def test_time_left_is_told_when_every_plan_is_known() -> None:
    found = works("misfit")
    assert cpu_seconds_left(found, lambda _: 10, {}) is None
    known = {work.plan_name: 2.0 for work in found}
    assert cpu_seconds_left(found, lambda _: 10, known) == 40.0


def references() -> dict[str, Reference]:
    table = Table(target="t", variant="v", metric="m", rows=(("r", 1.0, 2.0),))
    told = {"mechanism": "newidle", "open": ("the cgroup",), "machine": "m", "kernel": "6.1"}
    return {"a-change": Reference(title="A change", source="list", table=(table,), **told)}  # type: ignore[arg-type]


def test_the_study_has_a_section_for_each_wrong_claim() -> None:
    page = study(ROWS, references(), ["Engine version: 1"])
    assert "| **all** | 5 | 2 | 1 | 0 | 0 | 2 | 0 |" in page
    assert "two thirds of the signs right" in page
    assert "3 of 4, **met**" in page
    assert "- the cgroup" in page
    assert "| f | time | +90.0 | +90.0 | +5.0 to +15.0 | better | calibration |" in page
    assert page.count("\n### ") == 1
    assert f"simulated -10.0 %: claimed with the other sign.*\n\n{UNEXPLAINED}" in page


def test_explanations_stay_while_the_claim_is_wrong() -> None:
    first = study(ROWS, references(), [])
    words = "The scan is too cheap.\n\nSee `schedlab diverge`."
    told = first.replace(UNEXPLAINED, words)
    assert explanations(told) == {"a-plan: c, time": words}
    again = study(ROWS, references(), [], told)
    assert words in again
    assert UNEXPLAINED not in again
    assert study(ROWS, references(), [], again) == again
    mended = study([r for r in ROWS if r.label != "c"], references(), [], again)
    assert "There are none." in mended
    assert words not in mended


def test_a_study_without_results_says_so() -> None:
    page = study([], references(), [])
    assert "Not simulated yet." in page
    assert "no row tells" in page
    assert Score(()).claims == []
