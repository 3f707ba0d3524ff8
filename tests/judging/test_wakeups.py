"""Wakeup latency: percentiles as metrics of their own family, a line where one changed."""

import json
import random
from dataclasses import asdict
from pathlib import Path

import pytest

from schedlab.counters.wakeups import is_percentile, of_simulated, of_waits, percentile_counter
from schedlab.judging.analysis import analyse
from schedlab.judging.verdict import Verdict
from schedlab.plan.plan import BenchmarkEntry, Blocks, Judging, Plan
from schedlab.report import Report, all_shapes
from schedlab.report.wakeups import wakeups
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant
from tests.helpers.report_store import MACHINE, TIME

P50, P99 = percentile_counter(50), percentile_counter(99)


def report_of(folder: Path, with_percentiles: bool = True, nr_blocks: int = 8) -> Report:
    """Return a report on a benchmark whose p99 doubles and whose p50 and time stay."""
    rng = random.Random(1)
    plan = Plan(
        target="host",
        benchmark=(BenchmarkEntry(name="Bench"),),
        variant=(Variant(name="base"), Variant(name="patch")),
        blocks=Blocks(looks=(nr_blocks,), warmup=0),
        judging=Judging(),
    )
    case = CaseInfo("Bench", "Bench", "", "", {}, (TIME,))
    store = Store.create(folder, plan, MACHINE, {}, [case], "schedlab run")
    for position in range(2 * nr_blocks):
        patched = position % 2 == 1
        name = "patch" if patched else "base"
        run = RunRecord(RunKey("Bench", name, position // 2), position, 0, "", seconds=1.0)
        run.metrics = {TIME.name: rng.gauss(1, 0.02)}
        run.counters = {"time:measured:ns": 1e9, "context-switches": rng.gauss(1e4, 10)}
        noise = rng.gauss(1, 0.001), rng.gauss(1, 0.03)
        if with_percentiles:
            run.counters |= {P50: 1e3 * noise[0], P99: (1e6 if patched else 5e5) * noise[1]}
        store.add(run)
    return Report(store, analyse(store))


def test_percentiles_need_wakeups_beyond_them() -> None:
    waits = {"count": 5_000, "p50_ns": 7, "p90_ns": 8, "p99_ns": 9, "p99.9_ns": 10}
    assert list(of_simulated(waits)) == [P50, percentile_counter(90), P99]
    assert list(of_simulated({**waits, "count": 10_000}).values()) == [7, 8, 9, 10]
    assert of_simulated({**waits, "count": 19}) == {} == of_simulated({})
    assert of_simulated({**waits, "p50_ns": 0, "count": 20}) == {}, "of which there is no ratio"
    assert of_waits(range(20, 0, -1)) == {P50: 10}
    assert of_waits(range(1, 1001))[P99] == 990
    assert all(map(is_percentile, (P50, percentile_counter(99.9))))
    assert not is_percentile("wakeup-latency:ns")


def test_a_percentile_that_changed_has_a_line_in_every_shape(tmp_path: Path) -> None:
    report = report_of(tmp_path / "r")
    [line] = wakeups(report, "patch")
    base, rest = line.split(" -> ")
    assert base.startswith("Bench: p99 ") and rest.endswith("% worse)")
    for name in ("terminal", "markdown", "html"):
        text = " ".join(all_shapes()[name].render(report).replace("&gt;", ">").split())
        assert line in text, name
    page = all_shapes()["html"].render(report)
    assert "Wakeup latency by percentile" in page and "p50 " in page
    [first, second] = json.loads(all_shapes()["json"].render(report))["wakeups"]
    assert (first["metric"], first["word"]) == ("wakeup_latency_p50", "equivalent")
    assert (second["metric"], second["word"]) == ("wakeup_latency_p99", "worse")
    assert second["effect_better"] == pytest.approx(-1, abs=0.1)


def test_they_are_no_counters_and_cost_metrics_nothing(tmp_path: Path) -> None:
    """The family of the metrics, and that of the counters, are as without them."""

    def judged(report: Report) -> list[tuple[str, dict[str, object]]]:
        verdicts: list[tuple[str, Verdict]] = [
            *((o.metric.name, o.verdict) for o in report.analysis.outcomes),
            *((c.counter, c.verdict) for c in report.analysis.counters),
        ]
        return [(name, asdict(verdict)) for name, verdict in verdicts]

    without = report_of(tmp_path / "without", with_percentiles=False)
    assert judged(report_of(tmp_path / "with")) == judged(without)
    assert not without.wakeups and not wakeups(without, "patch")


def test_few_blocks_claim_nothing(tmp_path: Path) -> None:
    report = report_of(tmp_path / "r", nr_blocks=4)
    assert {o.verdict.word for o in report.wakeups} == {"can't tell"}
    assert not wakeups(report, "patch")
