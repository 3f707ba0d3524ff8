"""Published reports: every figure read, slips flagged, bad tables refused with file and line."""

import csv
from contextlib import closing
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.importers.files import import_file
from schedlab.judging.analysis import Outcome, analyse
from schedlab.judging.axis import find_axes
from schedlab.report import Report, all_shapes
from schedlab.report.wording import remark
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.report_store import HACKBENCH, make_store

PUBLISHED = Path(__file__).parents[1] / "data" / "published"
NO_SPREAD = "no spread published: no verdict possible"


def imported(name: str, folder: Path) -> Store:
    return import_file(PUBLISHED / name, folder / "out", "schedlab import")


def imported_text(text: str, folder: Path, name: str = "mail.txt") -> Store:
    path = folder / name
    path.write_text(text)
    return import_file(path, folder / "out", "schedlab import")


def by_name(store: Store) -> dict[tuple[str, str], Outcome]:
    return {(o.case.label, o.metric.name): o for o in analyse(store).outcomes}


def figures(store: Store, label: str, metric: str) -> list[float]:
    return [r.metrics[metric] for r in store.records() if r.key.case == label]


def test_the_group_util_report(tmp_path: Path) -> None:
    store = imported("group-util.md", tmp_path)
    assert len(store.records()) == 110
    assert [variant.name for variant in store.plan.variant] == ["Default", "G-Util"]
    assert store.environment["Processor version"] == "Kunpeng 920-6426"
    assert store.machine.nr_cpus == 128
    assert figures(store, "PerfBenchMemMemset", "bandwidth")[:3] == [6.442, 6.045, 6.939]
    commands = {record.key.case: record.command for record in store.records()}
    memset = "perf bench -f simple mem memset -s 31GB -l 15 -f default"
    assert commands["PerfBenchMemMemset"] == memset
    words = {o.case.label: o.verdict.word for o in analyse(store).outcomes}
    assert words.pop("PerfBenchSchedPipe") == "equivalent"
    assert words.pop("SysBenchCpu") == "equivalent"
    assert set(words.values()) == {"can't tell"}, "five runs each are too few for the rest"
    assert (tmp_path / "out" / "raw" / "group-util.md").is_file()


@pytest.mark.parametrize(
    ("name", "capped"), [("group-util.md", "4 of 10"), ("numa-balancing.md", "4 of 6")]
)
def test_slips_in_figures_of_sysbench(tmp_path: Path, name: str, capped: str) -> None:
    store = imported(name, tmp_path)
    said = "\n".join(store.notices)
    assert f"{capped} runs of SysBenchMemory are at 10240" in said
    assert "the true rates are 10/60 of those printed" in said
    note = by_name(store)["SysBenchMemory", "bandwidth"].verdict.note
    assert "capped: cannot be certified equivalent" in note


def test_the_numa_balancing_report_with_its_counters(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, text, err = cli("import", PUBLISHED / "numa-balancing.md", "--output", out)
    assert status == 0, err
    assert "the order of the runs is not stated, so they are judged unpaired" in " ".join(
        text.split()
    )
    report = (out / "report.md").read_text()
    assert "not known, so they are not taken as pairs" in report
    assert "sched:sched_swap_numa" in report
    assert "|Default-1-0|12.792|1,915,621|9|228|234|2,605|" in report.replace(" ", "")


def test_every_figure_of_the_ilb_util_mail(tmp_path: Path) -> None:
    """The expected ones were taken from the mail by hand, not by the importer."""
    store = imported("ilb-util.txt", tmp_path)
    outcomes = by_name(store)
    with (PUBLISHED / "ilb-util.csv").open() as file:
        expected = list(csv.DictReader(file))
    assert len(outcomes) == len(expected) == 168
    printed = {(each.case, each.metric): each.change for each in store.printed}
    for row in expected:
        name = row["row"].removeprefix("unixbench-")
        place = f"{row['benchmark']} {row['setting']}".strip()
        suffix = {"schbench (Old)": "-workers", "tbench": "-clients"}.get(row["benchmark"], "")
        metric = name.casefold().replace("-", "_")
        found = next(
            outcomes[key]
            for label in (f"{place} {name}{suffix}".strip(), place)
            for key in outcomes
            if key[0] == label and (label != place or not name or key[1] == metric)
        )
        base, other = float(row["base"]), float(row["other"])
        change = float(row["printed"]) / 100
        assert printed[found.case.label, found.metric.name] == pytest.approx(change)
        assert found.verdict.base_mean == pytest.approx(base)
        assert found.verdict.effect_better is not None
        if base == 1.0:
            assert found.verdict.effect_better == pytest.approx(change), "more exact than 0.99"
            continue
        assert found.verdict.other_mean == pytest.approx(other)
        sign = -1 if "syscall" in name else 1
        assert found.verdict.effect_better == pytest.approx(sign * change, abs=1.01e-4), row


def test_what_the_ilb_util_mail_leaves_open_or_has_wrong(tmp_path: Path) -> None:
    store = imported("ilb-util.txt", tmp_path)
    outcomes = by_name(store)
    assert {o.verdict.word for o in outcomes.values()} == {"can't tell"}
    said = [remark(o.verdict) for o in outcomes.values()]
    assert sum(NO_SPREAD in text for text in said) == 161
    ycsb = remark(outcomes["ycsb-mongodb NPS1", "throughput"].verdict)
    assert ycsb == "spread published (2.31 % and 3.31 %) but no number of runs: no verdict possible"
    syscall = outcomes["unixbench NPS1 syscall-1", "loops"]
    assert syscall.metric.better == "higher"
    assert "printed as -2.27 %, as if loops were better the other way" in remark(syscall.verdict)
    doubtful = [each.case for each in store.printed if each.doubts]
    assert doubtful == [f"unixbench NPS{n} syscall-{m}" for n in (1, 2, 4) for m in (1, 512)]
    slips = [line for line in store.notices if "node" in line]
    assert [line.partition(": ")[2] for line in slips] == [
        "CPU 223 is in node 3 and in node 2",
        "the nodes are not of one size: 64, 64, 64, 65 CPUs",
        "CPU 223 is in node 6 and in node 5",
        "the nodes are not of one size: 32, 32, 32, 32, 32, 32, 25, 40 CPUs",
    ]
    assert store.environment["CPUs"] == "256"
    assert store.environment["Kernel ILB_UTIL"] == "tip:sched/core + this patch"
    axes = {axis.name: axis.values for axis in find_axes(store.cases)}
    assert axes["hackbench setting=NPS4"] == (1, 2, 4, 8, 16)
    assert axes["tbench setting=NPS2"][-1] == 1024
    assert axes["DeathStarBench setting=NPS1"] == (1, 2, 4, 8)


def test_every_figure_of_the_misfit_mail(tmp_path: Path) -> None:
    store = imported("misfit.txt", tmp_path)
    assert [variant.name for variant in store.plan.variant] == ["tip", "misfit"]
    runs = {
        ("Juno", "tip"): [1.2608, 1.2995, 1.5954, 1.7463],
        ("Juno", "misfit"): [1.2575, 1.3004, 1.5860, 1.5871],
        ("Hikey960", "tip"): [1.7280, 1.7431, 2.2914, 2.5976],
        ("Hikey960", "misfit"): [1.6918, 1.6965, 1.7513, 1.7866],
    }
    summary = {
        ("Juno", "tip"): (1.7465, 1.7469),
        ("Juno", "misfit"): (1.6016, 1.6192),
        ("Hikey960", "tip"): (2.5997, 2.6131),
        ("Hikey960", "misfit"): (1.8506, 1.9666),
    }
    found = {(r.key.case, r.key.variant): r.metrics for r in store.records()}
    assert len(found) == 8
    for (machine, variant), times in runs.items():
        one = found[f"Misfit {machine}, one run", variant]
        ranked = [one["4. longest"], one["3. longest"], one["2. longest"], one["longest"]]
        assert ranked == times
        assert one["mean"] == pytest.approx(sum(times) / 4)
        ten = found[f"Misfit {machine}, 10 runs", variant]
        assert (ten["longest, avg"], ten["longest, max"]) == summary[machine, variant]
    assert {remark(o.verdict) for o in analyse(store).outcomes} == {NO_SPREAD}


def test_every_figure_of_the_cpuidle_output(tmp_path: Path) -> None:
    store = imported("cpuidle-smt.txt", tmp_path)
    short, long = store.records()
    assert (short.key.variant, long.key.variant) == ("10us", "120us")
    assert short.metrics == {"throughput": 46.049, "wakeup latency": 8.242}
    assert long.metrics == {"throughput": 59.511, "wakeup latency": 14.414}
    assert short.counters == {
        "sleep duration:ns": 16513.0,
        "cpuidle:snooze:usage": 3582087.0,
        "cpuidle:snooze:seconds": 12.973757,
        "cpuidle:CEDE:usage": 4.0,
        "cpuidle:CEDE:seconds": 8.8e-05,
    }
    assert long.counters["cpuidle:CEDE:seconds"] == 43.965318
    assert long.counters["cpuidle:CEDE:usage"] == 392170
    assert not any("printed as" in line for line in store.notices), "its shares follow"
    outcomes = by_name(store)
    better = outcomes["cpuidle-smt-performance", "throughput"].verdict.effect_better
    assert better == pytest.approx(59.511 / 46.049 - 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", r"x.md:1: is empty and has no table of results"),
        ("## X\n|Test|Time|\n|A-0-0|1|2|\n", "x.md:3: X: the row A-0-0 has 3 columns"),
        ("## X\n|Test|Time|\n|A-0-0|1|\n", "nothing to compare"),
        ("## X\n|Test|Time|\n|A|1|\n", "is not named VARIANT-RUN-0"),
        ("## X\n|Test|Time|\n|A-0-0|fast|\n", "holds no numbers"),
        ("## X\n|Test|Time|\n|A-0-0|0|\n", "is 0, which is not a result"),
        ("## X\n|Test|Time|\n|A-0-0|1|\n|A-0-0|2|\n", "x.md:4: X: the run A-0-0 is there already"),
        ("## X\n|Test|Time|\n", "x.md:2: X: the table has no figures"),
        ("## X\n|Test|Goodness|\n|A-0-0|1|\n", "is more or less of 'Goodness' better"),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        imported_text(text, tmp_path, "x.md")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("shape", ["csv", "lkml", "mmtests", "intel"])
def test_settings_that_are_not_read_are_not_known(tmp_path: Path, shape: str) -> None:
    with closing(make_store(tmp_path / "r", [HACKBENCH], nr_blocks=6)) as store:
        text = all_shapes()[shape].render(Report(store, analyse(store)))
    page = tmp_path / f"page.{all_shapes()[shape].suffix}"
    page.write_text(text)
    with closing(import_file(page, tmp_path / "out", "schedlab import")) as again:
        shown = all_shapes()["markdown"].render(Report(again, analyse(again)))
    assert shown.count("its settings are not known") == 2
    assert "as it is" not in shown
