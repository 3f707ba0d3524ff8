"""Sweeps in reports: one table and one plot for all the points of a benchmark's axis."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import analyse
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.report import Report, all_shapes
from schedlab.report.grid import grid
from schedlab.report.sweeps import sweep_tables
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store

RATE = Metric("rate", "1/s", "higher", "Rate (1/s)")
CLIENTS = (1, 16, 4)
MACHINE = Machine.model_validate(
    {"name": "m", "arch": "x86_64", "memory_gib": 8, "cpus": "0-3", "topology": {}}
)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return report_of(tmp_path, CLIENTS)


def report_of(folder: Path, clients: Sequence[int], blocks: int = 6) -> Report:
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "Netperf", "axis": {"clients": clients}}],
            "variant": [{"name": "tip"}, {"name": "patched"}],
            "blocks": {"looks": [6]},
        }
    )
    cases = [
        CaseInfo(f"Netperf-{n}-clients", "Netperf", "", "netperf", {"clients": n}, (RATE,))
        for n in clients
    ]
    store = Store.create(folder / "result", plan, MACHINE, {}, cases, "schedlab run")
    position = 0
    for n in clients:
        for block in range(blocks):
            for variant, times in (("tip", 1.0), ("patched", 1.0 + n / 100)):
                run = RunRecord(RunKey(f"Netperf-{n}-clients", variant, block), position, 1, "")
                run.metrics = {"rate": 1000.0 / n * times * (1 + 0.001 * ((position * 7) % 5))}
                store.add(run)
                position += 1
    return Report(store, analyse(store))


def test_the_points_stand_in_one_table_along_the_axis(report: Report) -> None:
    [table] = sweep_tables(report)
    assert table.title == "Netperf over clients"
    assert table.headings[:3] == ("clients", "tip", "patched")
    assert [row[0] for row in table.rows] == ["1", "4", "16"]
    assert [row[-1] for row in table.rows][-1] == "better"


def test_a_sweep_of_many_points_is_a_row_of_cells(tmp_path: Path) -> None:
    few = report_of(tmp_path / "few", CLIENTS)
    assert grid(few, "patched") is None
    many = report_of(tmp_path / "many", [*range(1, 14)])
    shown = grid(many, "patched")
    assert shown
    [row] = shown.rows
    assert (row.name, row.detail) == ("Netperf", "rate by clients")
    assert [cell.point for cell in row.cells] == [f"{n}" for n in range(1, 14)]
    assert shown.sentence.startswith("Most of all Netperf-13-clients: patched is better than tip")


def test_a_page_draws_it_and_texts_show_it(report: Report) -> None:
    shapes = all_shapes()
    page = shapes["html"].render(report)
    assert page.count("sweep0-0-640") > 0
    assert "patched, 16 clients: " in page, "each mark says what it is"
    for name in ("terminal", "markdown"):
        assert "Netperf over clients" in shapes[name].render(report)


def test_nothing_is_drawn_of_what_was_not_run(tmp_path: Path) -> None:
    page = all_shapes()["html"].render(report_of(tmp_path, CLIENTS, blocks=0))
    assert "Netperf over clients" in page
    assert "sweep0-0-640" not in page
