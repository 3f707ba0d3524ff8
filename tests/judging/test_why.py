"""Where the time went: contributions add up, and only what stands out from the noise is named."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from schedlab.benchmarks.metric import Metric
from schedlab.counters.times import GONE, MEASURED, is_time, time_counter, times
from schedlab.judging.analysis import analyse
from schedlab.judging.why import Per, TimeSpent
from schedlab.plan.plan import BenchmarkEntry, Blocks, Judging, Plan
from schedlab.report import Report, all_shapes
from schedlab.report.cause import cause
from schedlab.report.why import sentence, why
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant
from tests.helpers.report_store import MACHINE, TIME

Spent = Callable[[bool, random.Random], dict[str, float]]
"""The ns of each state in a run: in the variant or not, its own noise."""

RATE = Metric("rate", unit="1/s", better="higher", label="Rate (1/s)")
LATENCY = Metric("latency", unit="us", better="lower", label="Latency (us)")
SECOND = 1e9


def report_of(
    folder: Path,
    spent: Spent,
    metric: Metric = TIME,
    value: Callable[[bool, float], float] = lambda patched, seconds: seconds,
    nr_blocks: int = 8,
    seconds: Callable[[bool], float] = lambda patched: 1.5 if patched else 1.0,
    target: str = "host",
) -> Report:
    """Return a report on a benchmark with two roles that share the time alike."""
    rng = random.Random(1)
    case = CaseInfo("Bench", "Bench", "", "", {}, (metric,))
    plan = Plan(
        target=target,
        benchmark=(BenchmarkEntry(name="Bench"),),
        variant=(Variant(name="base"), Variant(name="patch")),
        blocks=Blocks(looks=(nr_blocks,), warmup=0),
        judging=Judging(),
    )
    store = Store.create(folder, plan, MACHINE, {}, [case], "schedlab run")
    for position in range(2 * nr_blocks):
        patched = position % 2 == 1
        name = "patch" if patched else "base"
        run = RunRecord(RunKey("Bench", name, position // 2), position, 0, "", seconds=1.0)
        parts = spent(patched, rng)
        run.metrics = {metric.name: value(patched, seconds(patched)) * rng.gauss(1, 0.001)}
        run.counters = {
            MEASURED: seconds(patched) * SECOND,
            **{time_counter(state): ns for state, ns in parts.items()},
            **{
                time_counter(state, role): ns / 2
                for role in ("a", "b")
                for state, ns in parts.items()
            },
        }
        store.add(run)
    return Report(store, analyse(store))


def only(report: Report) -> TimeSpent:
    [spent] = report.times
    return spent


def waits(patched: bool, rng: random.Random) -> dict[str, float]:
    """Half a second more of waiting in the variant, a little less scanning, noise elsewhere."""
    return {
        "user": SECOND * rng.gauss(0.5, 0.01),
        "wait_idle": SECOND * ((0.6 if patched else 0.1) + rng.gauss(0, 0.005)),
        "newidle": SECOND * (0.1 if patched else 0.15),
        "asleep_read": SECOND * (0.3 if patched else 0.25),
        "asleep_process": SECOND * 7,
    }


def test_names_of_counters() -> None:
    counters = {time_counter("user"): 2.0, time_counter("user", "a:b"): 1.0, MEASURED: 9.0}
    assert times({**counters, "sched:x": 4.0}) == {"": {"user": 2.0}, "a:b": {"user": 1.0}}
    assert all(map(is_time, counters))


def test_contributions_add_up_to_the_change_of_the_whole(tmp_path: Path) -> None:
    spent = only(report_of(tmp_path / "r", waits))
    assert spent.per is Per.RUN
    parts = {part.state: part for part in spent.parts}
    assert "asleep_process" not in parts
    assert parts["wait_idle"].contribution == pytest.approx(0.5, abs=0.01)
    assert parts["newidle"].contribution == pytest.approx(-0.05, abs=0.002)
    total = sum(part.contribution for part in spent.parts)
    assert spent.whole.contribution == pytest.approx(total, rel=1e-9)
    assert spent.whole.verdict.effect == pytest.approx(total, abs=0.002)
    assert spent.whole.base == pytest.approx(SECOND, rel=0.02)


def test_the_sentence_names_what_stands_out(tmp_path: Path) -> None:
    report = report_of(tmp_path / "r", waits)
    said = sentence(only(report))
    assert said.startswith("of +49.6 %")
    assert " % tasks' time per run: +49.9 waiting runnable while a CPU was idle" in said
    assert "-5.0 newidle balance; +5.0 asleep" in said
    assert "user code" not in said
    assert why(report, "patch") == [f"Bench: {said}"]


def test_noise_is_not_named(tmp_path: Path) -> None:
    def alike(patched: bool, rng: random.Random) -> dict[str, float]:
        return {"user": SECOND * rng.gauss(1, 0.02), "wait_busy": SECOND * rng.gauss(1, 0.02)}

    report = report_of(tmp_path / "r", alike, seconds=lambda patched: 1.0)
    nothing = "nothing stands out from the noise in where the tasks' time went"
    assert why(report, "patch") == [f"Bench: {nothing}"]
    few = report_of(tmp_path / "few", waits, nr_blocks=3)
    assert why(few, "patch") == ["Bench: too few blocks to tell where the time went from noise"]


@pytest.mark.parametrize("nr_blocks", [1, 8])
def test_runs_that_are_the_same(tmp_path: Path, nr_blocks: int) -> None:
    def same(patched: bool, rng: random.Random) -> dict[str, float]:
        return {"user": SECOND, "lock": SECOND * 0.5}

    report = report_of(tmp_path / "r", same, seconds=lambda patched: 1.0, nr_blocks=nr_blocks)
    assert why(report, "patch") == ["Bench: the tasks' time went the same way in all runs of both"]


def test_a_rate_is_turned_into_time_per_operation(tmp_path: Path) -> None:
    """As long a run, half as many operations: each takes twice the time."""

    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {"user": SECOND * rng.gauss(0.5, 0.001), "lock": SECOND * 0.5}

    found = only(
        report_of(
            *(tmp_path / "r", spent, RATE),
            value=lambda patched, seconds: 500.0 if patched else 1000.0,
            seconds=lambda patched: 1.0,
        )
    )
    assert found.per is Per.OPERATION
    assert found.whole.base == pytest.approx(1e6, rel=0.01)
    assert found.whole.verdict.effect == pytest.approx(1.0, abs=0.01)
    assert {part.state: round(part.contribution, 2) for part in found.parts} == {
        "lock": 0.5,
        "user": 0.5,
    }


def test_a_latency_has_no_operation(tmp_path: Path) -> None:
    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        waited = 0.02 if patched else 0.01
        return {
            "wait_busy": SECOND * waited * rng.gauss(1, 0.01),
            "asleep_timer": SECOND * (1 - waited),
        }

    found = only(
        report_of(
            *(tmp_path / "r", spent, LATENCY),
            value=lambda patched, seconds: 50.0,
            seconds=lambda patched: 1.0,
        )
    )
    assert found.per is Per.RUN
    said = sentence(found)
    assert "as long as before: +1.0 waiting runnable while no CPU was idle; -1.0 asleep" in said


def test_a_run_that_is_longer_has_more_time_whatever_its_metric_is(tmp_path: Path) -> None:
    """The metric is that of a part of the run: the same work takes half as long again."""
    spent = only(
        report_of(tmp_path / "r", waits, value=lambda patched, seconds: 0.7 if patched else 0.5)
    )
    assert spent.per is Per.RUN
    assert sentence(spent).startswith("of +49.6 % tasks' time per run: +49.9 waiting runnable")


def test_a_simulated_window_with_more_than_a_runs_work_is_scaled_to_it(tmp_path: Path) -> None:
    """The windows hold as much of the time, but that of the variant half as much work."""

    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {"user": SECOND * rng.gauss(0.5, 0.001), "lock": SECOND * 0.5}

    found = only(
        report_of(
            *(tmp_path / "r", spent),
            value=lambda patched, seconds: 0.8 if patched else 0.4,
            seconds=lambda patched: 1.0,
            target="sim:smp4",
        )
    )
    assert found.per is Per.RUN
    assert found.whole.base == pytest.approx(0.4 * SECOND, rel=0.01)
    assert found.whole.contribution == pytest.approx(1.0, abs=0.01)


def test_what_is_noise_of_a_change_is_named_as_such(tmp_path: Path) -> None:
    """One part is sure and small; what makes the change is not told from noise."""

    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {
            "user": SECOND * ((1.2 if patched else 1.0) + rng.gauss(0, 0.4)),
            "newidle": SECOND * (0.06 if patched else 0.05),
        }

    said = sentence(only(report_of(tmp_path / "r", spent)))
    assert " % tasks' time per run: +1." in said
    assert " newidle balance; largest, but within noise: +" in said
    assert said.endswith(" running user code at full speed")


def test_a_slowdown_is_not_explained_by_savings_alone(tmp_path: Path) -> None:
    """Two large parts that are not sure and cancel leave small sure ones: the larger is said."""

    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        moved = rng.gauss(0.14, 0.18) if patched else 0.0
        return {
            "user": SECOND * rng.gauss(0.6, 0.001),
            "wait_idle": SECOND * (0.3 + moved),
            "wait_busy": SECOND * (0.2 - 0.6 * moved),
            "lock": SECOND * (0.03 if patched else 0.05),
            "newidle": SECOND * (0.012 if patched else 0.01),
        }

    said = sentence(only(report_of(tmp_path / "r", spent)))
    assert "; largest, but within noise: +" in said
    assert said.endswith(" waiting runnable while a CPU was idle")
    assert "newidle" not in said, "too small beside what is not even named as sure"


def test_a_whole_that_stays_is_not_called_a_change_of_nothing(tmp_path: Path) -> None:
    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        moved = SECOND * (0.1 if patched else 0.2) * rng.gauss(1, 0.001)
        return {"wait_idle": moved, "wait_busy": SECOND - moved, "user": 1e5 * rng.gauss(9, 4)}

    said = sentence(only(report_of(tmp_path / "r", spent)))
    assert said.startswith("tasks' time per run is as long as before: ")
    assert "-10.0 waiting runnable while a CPU was idle" in said
    assert "noise" not in said


def test_where_sleep_alone_is_sure_it_is_named(tmp_path: Path) -> None:
    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {
            "wait_busy": SECOND * rng.gauss(0.3, 0.1),
            "asleep_read": SECOND * (0.2 if patched else 0.7),
        }

    report = report_of(tmp_path / "r", spent)
    [said] = why(report, "patch")
    assert said.startswith("Bench: of -") and "% tasks' time per run: -" in said
    assert " asleep" in said and "waiting" not in said


def test_tasks_that_end_before_the_others_are_a_part_of_the_run(tmp_path: Path) -> None:
    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {
            "user": SECOND * rng.gauss(2, 0.01),
            "wait_idle": SECOND * (0.5 if patched else 0.1),
            GONE: SECOND * (0.9 if patched else 0.1),
        }

    said = sentence(only(report_of(tmp_path / "r", spent)))
    assert said.startswith("of +54.")
    assert "% tasks' time per run: +18.2 waiting runnable" in said
    assert said.endswith("idle; +36.3 ended early")


def test_tasks_that_come_and_go_have_no_time_beside_their_lives(tmp_path: Path) -> None:
    def spent(patched: bool, rng: random.Random) -> dict[str, float]:
        return {
            "user": SECOND * (2 if patched else 1) * rng.gauss(1, 0.01),
            GONE: SECOND * (700 if patched else 800),
        }

    found = only(report_of(tmp_path / "r", spent))
    assert [part.state for part in found.parts] == ["user"]
    assert found.whole.contribution == pytest.approx(1.0, abs=0.05)


def test_of_a_host_it_says_what_it_cannot_split(tmp_path: Path) -> None:
    def recorded(patched: bool, rng: random.Random) -> dict[str, float]:
        return {
            "running": SECOND * rng.gauss(0.5, 0.01),
            "wait_busy": SECOND * (0.6 if patched else 0.1),
        }

    first, second = why(report_of(tmp_path / "host", recorded), "patch")
    assert "+83." in first
    assert second.startswith("Recorded on a host: running is user code and kernel")
    assert len(why(report_of(tmp_path / "simulated", waits), "patch")) == 1


def test_roles_are_judged_apart(tmp_path: Path) -> None:
    found = only(report_of(tmp_path / "r", waits))
    assert set(found.roles) == {"a", "b"}
    of_a = {part.state: part for part in found.roles["a"]}
    assert of_a["wait_idle"].contribution == pytest.approx(0.25, abs=0.01)


def test_times_are_not_among_the_counters(tmp_path: Path) -> None:
    report = report_of(tmp_path / "r", waits)
    assert report.analysis.counters == []
    assert report.cases[0].lively_counters == []


@pytest.mark.parametrize("shape", ["terminal", "markdown", "html"])
def test_every_shape_says_why(tmp_path: Path, shape: str) -> None:
    text = " ".join(all_shapes()[shape].render(report_of(tmp_path / "r", waits)).split())
    assert "+49.9 waiting runnable while a CPU was idle" in text.replace("\\", "")


def test_json_has_every_part(tmp_path: Path) -> None:

    [found] = json.loads(all_shapes()["json"].render(report_of(tmp_path / "r", waits)))["why"]
    assert found["text"].startswith("of +49.6 %")
    assert found["parts"][0]["state"] == "wait_idle"
    assert found["parts"][0]["interval_adjusted"][0] > 0.45
    assert len(found["roles"]["a"]) == 4


def test_a_summary_names_the_cause_only_where_the_time_goes_the_metrics_way(
    tmp_path: Path,
) -> None:
    """More waiting does not explain a figure that got better."""
    report = report_of(tmp_path / "r", waits)
    [outcome] = report.cases[0].outcomes_in("patch")
    assert cause(report, outcome) == (
        "Mainly, tasks spent more time on waiting for a CPU although another one was idle"
        " (+49.9 % of all their time before)."
    )
    better = report_of(tmp_path / "s", waits, LATENCY, lambda patched, _: 1.0 if patched else 2.0)
    [outcome] = better.cases[0].outcomes_in("patch")
    assert outcome.verdict.word == "better"
    assert cause(better, outcome) == "No single cause stands out."
