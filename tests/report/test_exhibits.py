"""Tables beside the verdicts: published results, and where the CPUs' time went."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Case
from schedlab.counters.simulated import CPU_TIME, ENTRIES
from schedlab.judging.analysis import analyse
from schedlab.judging.marks import figures_set_by, mark_of, rows_not_published
from schedlab.judging.reference import all_references, find_reference, mean
from schedlab.machine.ledger import Entry
from schedlab.machine.model import find_machine, known_machines
from schedlab.plan.plan import load_plan
from schedlab.report import Report, all_shapes
from schedlab.report.beside import beside
from schedlab.report.beside_counts import beside_counts
from schedlab.report.completion import completion
from schedlab.report.content import by_variant
from schedlab.report.cpu_time import cpu_time
from schedlab.report.findings import findings, further, headline, plot_range
from schedlab.report.matrix import matrices
from schedlab.report.overview import headings, overview, summary, totals
from schedlab.report.page import breakable
from schedlab.targets.simulated import outcome
from tests.helpers.report_store import (
    HACKBENCH,
    MACHINE,
    RATE,
    SCHED_PIPE,
    Bench,
    make_store,
    plan_of,
)

PLANS = Path(__file__).parents[2] / "plans"
PUBLISHED = """
title = "A report"
source = "a list"
[[table]]
target = "host"
variant = "NB-OFF"
metric = "time"
per = { loops = 10_000 }
rows = [["HackbenchPipeThreads", [2.5, 2.7], 2.0], ["PerfBenchSchedPipe", 27.0, 30.0]]
"""


def report_of(tmp_path: Path, *benches: Bench, published: str = PUBLISHED) -> Report:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "published.toml").write_text(published)
    plan = plan_of().model_copy(update={"published": str(tmp_path / "published.toml")})
    store = make_store(tmp_path / "result", benches, plan)
    return Report(store, analyse(store))


def test_published_figures_are_scaled_signed_and_counted(tmp_path: Path) -> None:
    table = beside(report_of(tmp_path, HACKBENCH, SCHED_PIPE))
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    # 20,000 loops were run, 10,000 published; less time is better.
    assert rows["HackbenchPipeThreads"][2] == "5.1962"
    assert float(rows["HackbenchPipeThreads"][4]) == pytest.approx(5.1 / 5.196, abs=0.02)
    assert rows["HackbenchPipeThreads"][5] == "+23.02"
    assert rows["HackbenchPipeThreads"][-1] == "same"
    assert rows["PerfBenchSchedPipe"][5] == "-11.11"
    same = [row[0] for row in rows.values() if row[-1] == "same"]
    words = "1 has" if len(same) == 1 else f"{len(same)} have"
    assert f"Of 2 rows whose published change is 5% or more, {words}" in " ".join(table.notes)


def test_a_row_that_set_a_figure_is_shown_and_not_counted(tmp_path: Path) -> None:
    report = report_of(tmp_path, HACKBENCH, SCHED_PIPE)
    set_by = Entry(rows=("published/HackbenchPipeThreads",))
    report.store.machine = report.store.machine.model_copy(update={"ledger": {"cpus": set_by}})
    table = beside(report)
    assert table is not None
    assert {row[0]: row[-1] for row in table.rows}["HackbenchPipeThreads"] == "calibration"
    notes = " ".join(table.notes)
    assert "1 row set figures of the machine (calibration) and is not counted." in notes
    assert "Of 1 row whose published change is 5% or more" in notes
    both = Entry(rows=("published/HackbenchPipeThreads", "published/PerfBenchSchedPipe"))
    report.store.machine = report.store.machine.model_copy(update={"ledger": {"cpus": both}})
    table = beside(report)
    assert table is not None
    assert "2 rows set figures of the machine (calibration) and are not counted." in table.notes


def test_every_row_a_machine_names_is_published() -> None:
    assert not [row for name in known_machines() for row in rows_not_published(find_machine(name))]


def test_marks_follow_the_machine_files() -> None:
    assert (
        mark_of("ilb-util-epyc", "unixbench-syscall-1-copies", "loops") == "calibration"
    )  # common/
    assert mark_of("ilb-util-epyc", "unixbench-dhry2reg-1-copies", "loops") == "calibration"
    assert mark_of("ilb-util-epyc", "hackbench-4-groups", "time") == "validation"
    assert mark_of("published/misfit.toml", "Misfit", "longest") == "calibration"
    schbench = ("wakelist-idle-xeon", "schbench-2-8")
    assert mark_of(*schbench, "latency_p50") == "calibration"  # chose the idle states
    assert mark_of(*schbench, "latency_p99") == "validation"
    assert ("epyc-7713-2p-nps1", "cycles.syscall") in figures_set_by(
        "ilb-util-epyc", "unixbench-syscall-1-copies", "loops"
    )


def test_a_relative_table_compares_the_change_alone(tmp_path: Path) -> None:
    published = PUBLISHED.replace("per = { loops = 10_000 }", "relative = true")
    table = beside(report_of(tmp_path, HACKBENCH, published=published))
    assert table is not None
    assert table.rows[0][2] == table.rows[0][4] == ""


def test_no_table_where_the_document_says_nothing(tmp_path: Path) -> None:
    published = PUBLISHED.replace('"host"', '"sim:kunpeng-920-6426-2p"')
    assert beside(report_of(tmp_path, HACKBENCH, published=published)) is None


COUNTS = """
[[counts]]
target = "host"
variant = "NB-OFF"
counter = "sched:sched_migrate_task"
per = { loops = 10_000 }
rows = [["HackbenchPipeThreads", [900_000, 1_000_000], [0, 0]]]
[[counts]]
target = "host"
variant = "NB-OFF"
counter = "sched:sched_stick_numa"
rows = [["HackbenchPipeThreads", [0, 0], [0, 0]], ["PerfBenchSchedPipe", [1], [1]]]
"""


def test_published_counts_are_scaled_and_rows_of_zeros_left_out(tmp_path: Path) -> None:
    assert beside_counts(report_of(tmp_path / "without", HACKBENCH)) is None
    table = beside_counts(report_of(tmp_path / "with", HACKBENCH, published=PUBLISHED + COUNTS))
    assert table is not None
    rows = {(row[1], row[2]): row[3:] for row in table.rows}
    assert set(rows) == {
        ("sched:sched_migrate_task", "Default"),
        ("sched:sched_migrate_task", "NB-OFF"),
        ("sched:sched_stick_numa", "Default"),
    }
    published, _, ratio = rows["sched:sched_migrate_task", "Default"]
    assert published == "1,900,000"
    assert float(ratio) == pytest.approx(1, abs=0.05)
    assert rows["sched:sched_stick_numa", "Default"][2] == ""
    assert "1 row of NB-OFF" in " ".join(table.notes)


@pytest.mark.parametrize("name", all_references())
def test_every_shipped_table_fits_its_plan(name: str) -> None:
    """Labels, metrics and variants are those of the plans that name the document."""
    plans = [plan for path in PLANS.glob("*.toml") if (plan := load_plan(path)).published == name]
    assert plans

    @cache
    def cases(target: str) -> list[Case]:
        machine = find_machine(target.removeprefix("sim:"))
        return [case for plan in plans for case in plan.cases(machine)]

    for table in find_reference(name).table:
        known = {
            (case.label, metric.name): case.params
            for case in cases(table.target)
            for metric in case.benchmark.metrics
        }
        assert {variant.name for plan in plans for variant in plan.variant} >= {table.variant}
        for label, base, other in table.rows:
            assert table.scale(known[label, table.metric]) > 0
            assert mean(base) > 0 and mean(other) > 0
    for counts in find_reference(name).counts:
        params = {case.label: case.params for case in cases(counts.target)}
        assert all(plan.counters == "all" or counts.counter in plan.counters for plan in plans)
        assert all(counts.scale(params[label]) > 0 for label, _, _ in counts.rows)


def test_an_unknown_document_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"ilb-util-epyc"):
        find_reference("ilb-util")


def test_cpu_time_adds_up(tmp_path: Path) -> None:
    counters = outcome.counters(
        {
            "per_cpu": [{"user_ns": 100, "idle_ns": 500}, {"user_ns": 200, "idle_ns": 0}],
            "kernel_time_ns": dict.fromkeys(ENTRIES, 0) | {"syscall": 600, "timer": 100},
            "functions": {"newidle_balance": {"calls": 3, "ns": 67}},
        },
        "all",
    )
    spent = {name: ns for name, ns in counters.items() if name.startswith(CPU_TIME)}
    spent = {name: ns * 1e6 for name, ns in spent.items()}
    bench = Bench("HackbenchPipeThreads", "hackbench", counters=spent)
    table = cpu_time(report_of(tmp_path, bench))
    assert table is not None
    assert table.headings == ("Benchmark", "Time in (%)", "Default", "NB-OFF")
    cells = {part: default for _, part, default, _ in table.rows}
    assert float(cells["busy, of all"]) == pytest.approx(66.7, abs=3)
    assert float(cells["newidle_balance"]) == pytest.approx(6.7, abs=0.5)
    entries = ("user", *ENTRIES)
    shares = [float(cells[entry]) for entry in entries if entry in cells]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert len(shares) == 3, "what took no time has no row"


def test_cpu_time_is_left_out_where_parts_were_not_counted(tmp_path: Path) -> None:
    chosen = {"cpu-time:user:ns": 3e8, "cpu-time:idle:ns": 5e8, "sched:sched_switch": 7.0}
    bench = Bench("HackbenchPipeThreads", "hackbench", counters=chosen)
    assert cpu_time(report_of(tmp_path, bench)) is None


def test_waiting_is_counted_by_number_and_time() -> None:
    result = {"wakeup_latency": {"count": 4, "mean_ns": 2.5}, "queue_latency": {"count": 0}}
    wanted = ("wakeup-latency:count", "wakeup-latency:ns", "queue-latency:ns")
    assert list(outcome.counters(result, wanted).values()) == [4, 10, 0]


def test_counters_wanted_are_those_there_are_and_groups_what_stands_for_them() -> None:
    result = {
        "counters": {"sched:sched_switch": 5, "newidle:calls:MC": 3},
        "tracepoints": ["sched:sched_switch", "irq:softirq_raise"],
        "idle_states": [
            {"name": "C1", "usage": 2, "above": 0, "below": 0, "rejected": 0, "time_ns": 0}
        ],
    }
    wanted = ("sched:sched_switch", "irq:softirq_raise", "sched:nosuch", "cpuidle", "schedstat")
    counted = outcome.counters(result, wanted)
    assert counted["sched:sched_switch"] == 5 and counted["irq:softirq_raise"] == 0
    assert counted["cpuidle:C1:usage"] == 2 and counted["newidle:calls:MC"] == 3
    assert "queue-latency:ns" in counted and "context-switches" not in counted
    assert outcome.missing(result, wanted) == ["sched:nosuch"]
    assert not outcome.missing(result, "all")


@pytest.mark.parametrize("shape", ["terminal", "markdown", "html"])
def test_exhibits_are_shown(tmp_path: Path, shape: str) -> None:
    text = all_shapes()[shape].render(report_of(tmp_path, HACKBENCH))
    assert "Beside the published results" in text
    assert "+23.02" in text


def test_completion_times_of_single_runs_and_their_summary(tmp_path: Path) -> None:
    report = report_of(tmp_path, HACKBENCH)
    assert completion(report) is None
    for case in report.cases:
        for block, run in enumerate(by_variant(case.runs, "Default")):
            run.metrics |= {"task_1": 2.0 + block, "task_2": 1.5}
    table = completion(report)
    assert table is not None
    assert table.rows == (
        ("HackbenchPipeThreads", "Default", "12", "7.5000", "13.0000", "1.5000, 2.0000"),
    )


def test_completion_times_of_runs_in_rounds(tmp_path: Path) -> None:
    """Each run is a summary of its own: their means."""
    report = report_of(tmp_path, HACKBENCH)
    for case in report.cases:
        for block, run in enumerate(by_variant(case.runs, "Default")):
            run.metrics |= {"task_1": 2.0, "longest_1": 2.0, "longest_2": 3.0 + block}
    table = completion(report)
    assert table is not None
    assert table.rows == (("HackbenchPipeThreads", "Default", "12", "5.2500", "8.5000", "2.0000"),)


def test_an_overview_links_every_report(tmp_path: Path) -> None:
    one = make_store(tmp_path / "one", [HACKBENCH])
    two = make_store(tmp_path / "two", [SCHED_PIPE], plan_of(title="<b>two</b>"))
    reports = [Report(store, analyse(store)) for store in (one, two)]
    page = overview(reports, tmp_path / "report.html")
    assert 'href="one/report.html"' in page
    assert 'href="two/report.html"' in page
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert "1 better, 0 worse" in page
    assert page.index("What was found") < page.index("<table>")
    assert page.count('<svg class="effect') == 2
    assert [line.partition(":")[0] for line in summary(reports)] == headings(reports)


def test_the_verdicts_of_several_results_are_counted(tmp_path: Path) -> None:
    stores = [make_store(tmp_path / name, nr_blocks=12) for name in "ab"]
    reports = [Report(store, analyse(store)) for store in stores]
    assert totals(reports) == [
        "In all, NB-OFF against Default in 2 results:"
        " 2 better, 2 worse, 2 equivalent, 2 can't tell."
    ]


def test_several_machines_are_a_matrix_first_of_all(tmp_path: Path) -> None:
    effects = {"smp4": 0.7, "small-2n-smt2": 1.0}
    reports = []
    for name, effect in effects.items():
        plan = plan_of(target=f"sim:{name}")
        benches = [replace(HACKBENCH, effects={"NB-OFF": effect}), SCHED_PIPE]
        machine = MACHINE.model_copy(update={"name": name})
        store = make_store(tmp_path / name, benches, plan, nr_blocks=12, machine=machine)
        reports.append(Report(store, analyse(store)))
    [matrix] = matrices(reports)
    assert matrix.machines == ("smp4", "small")
    assert [row.name for row in matrix.rows] == ["HackbenchPipeThreads", "PerfBenchSchedPipe"]
    words = [[cell and cell.verdict.word for cell in row.cells] for row in matrix.rows]
    assert words == [["better", "equivalent"], ["equivalent", "equivalent"]]
    assert matrix.sentence.startswith("NB-OFF against Default: 1 better, 0 worse, 3 equivalent")
    assert "; most of all HackbenchPipeThreads on smp4, +" in matrix.sentence
    page = overview(reports, tmp_path / "report.html")
    assert page.index('<table class="matrix">') < page.index('<svg class="effect')
    assert '<td class="evidence better"' in page
    assert headings(reports) == ["smp4", "small-2n-smt2"]  # they ask one question
    assert matrices(reports[:1]) == []


def test_an_overview_shows_published_figures_and_what_others_took(tmp_path: Path) -> None:
    report = report_of(tmp_path, HACKBENCH, SCHED_PIPE)
    page = overview([report], tmp_path / "report.html")
    assert "Beside the published results" in page
    assert "<td>+23.02</td>" in page
    assert "Other processes took" not in page
    for record in report.records:
        record.busy_during = 0.5
    page = overview([report], tmp_path / "report.html")
    assert f"during {len(report.records)} of {len(report.records)} runs; at most 50 %" in page


def test_a_finding_is_a_sentence_with_figures(tmp_path: Path) -> None:
    report = report_of(tmp_path, HACKBENCH, SCHED_PIPE)
    found = findings(report)
    assert [f.verdict.word for f in found] == ["better", "equivalent"]
    first = "HackbenchPipeThreads: NB-OFF is better than Default by 9.89 % (+8.53"
    assert found[0].sentence.startswith(first), found[0].sentence
    assert found[0].sentence.endswith(" to +11.23 %)")
    assert "the same within 2 %" in found[1].sentence
    assert "NB-OFF against Default: 1 better, 1 equivalent; most" in headline(report)
    assert plot_range(found, 0.02) >= max(abs(f.verdict.effect_better or 0) for f in found)


def test_an_overview_says_in_a_line_what_further_figures_did(tmp_path: Path) -> None:
    """A benchmark's first figure has a sentence, and those that got better or worse."""
    report = report_of(tmp_path, HACKBENCH, replace(SCHED_PIPE, further=(RATE,)))
    assert [f.sentence.partition(":")[0] for f in findings(report)] == [
        "HackbenchPipeThreads",
        "PerfBenchSchedPipe time",
    ]
    assert further(report) == "Of 1 further figure, in the table below: 1 equivalent."
    assert further(report) in overview([report], tmp_path / "report.html")


def test_names_break_between_their_parts_alone() -> None:
    assert breakable("HackbenchPipe:groups=2,p99_9") == (
        "Hackbench<wbr>Pipe:<wbr>groups=<wbr>2,<wbr>p99_9"
    )
    assert breakable("</script><b>:x") == "&lt;/<wbr>script&gt;&lt;b&gt;:<wbr>x"


def test_an_a_a_run_is_told_as_the_noise_floor(tmp_path: Path) -> None:
    plan = plan_of().model_copy(update={"aa": True})
    store = make_store(tmp_path / "one", [HACKBENCH, SCHED_PIPE], plan)
    words = headline(Report(store, analyse(store)))
    assert words.startswith("the host against itself: 1 false alarm among 2 results; its noise")
    assert "±" in words
