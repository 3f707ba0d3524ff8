"""The curve of a sweep over the wakeup period: table and plot."""

import random
from itertools import chain
from pathlib import Path

import pytest

from schedlab.benchmarks import cpuidle_smt as smt
from schedlab.judging.analysis import analyse
from schedlab.lab.order import block_order, stretches
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.plan import BenchmarkEntry, Blocks, Plan
from schedlab.report import Report, all_shapes
from schedlab.report.curve import curve_tables, curves
from schedlab.result.record import RunRecord
from schedlab.result.store import Store, describe
from schedlab.settings.variant import Variant
from tests.helpers.browser import Page, run_browser

PERIODS = (10, 50, 120, 500)
NO_CEDE = Variant.model_validate({"name": "no-CEDE", "cpuidle": [{"state": "CEDE", "enabled": 0}]})
OF_STATE = {"snooze": (46.0, 8.2), "CEDE": (59.5, 14.4)}
"""Throughput and mean latency with the siblings in that state: the document's figures."""


def invented(folder: Path, machine: Machine) -> Report:
    """A sweep on the document's machine: CEDE from 100 us on, if it is not switched off."""
    entry = BenchmarkEntry(name="CpuidleSmt", label="cpuidle-smt", axis={"period": PERIODS})
    plan = Plan(
        benchmark=(entry,),
        variant=(Variant(name="base"), NO_CEDE),
        blocks=Blocks(looks=(6,), warmup=1),
    )
    cases = plan.cases(machine)
    infos = [describe(case, "cpuidle-smt-performance") for case in cases]
    store = Store.create(folder, plan, machine, {"Kernel release": "6.12"}, infos, "made")
    rng = random.Random(1)
    for block in chain.from_iterable(stretches(plan)):
        for key, case, variant in block_order(plan, cases, block):
            period = int(case.params["period"])
            deep = period >= 100 and variant.name == "base"
            throughput, latency = OF_STATE["CEDE" if deep else "snooze"]
            shares = {"snooze": 10.0 if deep else 90.0, "CEDE": 80.0 if deep else 0.0}
            noise = rng.lognormvariate(0, 0.004)
            store.add(
                RunRecord(
                    key=key,
                    position=len(store.records()),
                    seed=1,
                    command="",
                    started="2026-03-01T00:00:00+00:00",
                    metrics={
                        smt.THROUGHPUT.name: throughput * noise,
                        smt.WAKEUP.name: latency * noise,
                        smt.WAKEUP_P50.name: 0.9 * latency * noise,
                        smt.WAKEUP_P99.name: 3 * latency * noise,
                    },
                    counters={
                        smt.PERIOD: period + 6.5,
                        smt.SLEEP: period + 6.0,
                        **{f"cpuidle-smt:{s}:share": value for s, value in shares.items()},
                        **{f"cpuidle-smt:{s}:usage": 1000.0 for s in shares},
                    },
                    settings={"CEDE": "1" if variant == NO_CEDE else "0"},
                )
            )
    return Report(store, analyse(store))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return invented(tmp_path_factory.mktemp("sweep") / "out", find_machine("power9-lpar-smt4"))


def test_a_row_for_each_period_and_variant(report: Report) -> None:
    [table] = curve_tables(report)
    assert table
    assert table.headings[-2:] == ("snooze (%)", "CEDE (%)")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert list(rows) == [(f"{p}", v) for p in PERIODS for v in ("base", "no-CEDE")]
    held, throughput, mean, p50, p99, sleep, snooze, cede = rows["120", "base"]
    assert (held, sleep, snooze, cede) == ("126.50", "126.00", "10.00", "80.00")
    assert float(throughput) == pytest.approx(59.5, rel=0.01)
    assert [float(text) for text in (mean, p50, p99)] == pytest.approx(
        [14.4, 12.96, 43.2], rel=0.01
    )


def test_it_says_at_which_periods_the_deep_state_pays(report: Report) -> None:
    [table] = curve_tables(report)
    assert table
    assert (
        "no-CEDE against base, throughput: equivalent at 10 to 50 us, worse at 120 to 500 us."
        in (table.notes)
    )
    assert (
        "no-CEDE against base, wakeup_latency_p99: equivalent at 10 to 50 us, better"
        in " ".join(table.notes)
    )
    assert "Target residencies: CEDE 100 us." in table.notes
    assert not any("not SMT siblings" in note for note in table.notes)


def test_what_the_machine_lacks_is_said(tmp_path: Path) -> None:
    bare = Machine.model_validate({"name": "bare", "cpus": "0-2"})
    report = invented(tmp_path / "out", bare)
    [table] = curve_tables(report)
    assert table
    assert any("not SMT siblings" in note for note in table.notes)
    [curve] = curves(report)
    assert curve.residencies == {}


@pytest.mark.parametrize("shape", sorted(all_shapes()))
def test_every_shape_takes_it(report: Report, shape: str) -> None:
    text = all_shapes()[shape].render(report)
    if shape in ("terminal", "markdown", "html"):
        assert "126.50" in text


def test_a_browser_shows_the_plot(report: Report, tmp_path: Path, browser: list[str]) -> None:
    page = tmp_path / "report.html"
    page.write_text(all_shapes()["html"].render(report))
    parsed = Page(page.read_text())
    assert any(text.startswith("base, 120 us: throughput 59") for text in parsed.texts)
    script = """<script>
    const all = [...document.querySelectorAll('#curve0 svg')];
    const svg = all.filter(s => s.getBoundingClientRect().width);
    const box = svg[0].getBoundingClientRect();
    const marks = [...svg[0].querySelectorAll('use')].map(u => u.getBoundingClientRect());
    const inside = marks.every(m => m.left >= box.left - 5 && m.right <= box.right + 5);
    document.title = `shown ${svg.length} marks ${marks.length} inside ${inside}`;
    </script>"""
    watched = tmp_path / "watched.html"
    text = page.read_text().replace("default-src 'none'", "script-src 'unsafe-inline'")
    watched.write_text(text.replace("</body>", f"{script}</body>"))
    shown = run_browser(browser, "--window-size=1200,2000", "--dump-dom", watched.as_uri())
    title = shown.stdout.partition("<title>")[2].partition("</title>")[0]
    assert title.startswith("shown 1 marks") and title.endswith("inside true")
    # 4 periods x 2 variants x (throughput, p50, p99, two shares), and the marks of the axes.
    assert int(title.split()[3]) >= 40
