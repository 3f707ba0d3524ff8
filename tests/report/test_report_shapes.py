"""Every shape from every kind of result; the small ones against files to read."""

import csv
import io
import itertools
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from schedlab.benchmarks.metric import Metric
from schedlab.cli.screen import print_report
from schedlab.judging.analysis import analyse
from schedlab.report import Detail, Report, all_shapes
from schedlab.report.content import describe_variant
from schedlab.report.wording import columns, number
from schedlab.result.store import Store
from schedlab.settings.variant import Variant, parse_variant
from tests.helpers.report_store import (
    COMMON,
    DEFAULT,
    HACKBENCH,
    MACHINE,
    NB_OFF,
    PLATFORM,
    RATE,
    SCHED_PIPE,
    SYSBENCH_CPU,
    SYSBENCH_THREADS,
    Bench,
    make_store,
    plan_of,
)

DOCS = Path(__file__).parents[2] / "docs/manual"
GOLDEN = Path(__file__).parents[1] / "data" / "report"
SHAPES = all_shapes()
CAPPED = Bench(
    "SysBenchMemory",
    "sysbench memory --time=60 --memory-access-mode=rnd --threads=64 run",
    metric=Metric("bandwidth", "MiB/s", "higher", "Memory BW (MiB/s)"),
    typical=10_240.0,
    noise=0.0,
    caveats=("capped: stopped at --memory-total-size (102400 MiB) before its time was up",),
    summary="Threads write 1 KiB blocks of one shared buffer at random places.",
)


def report_of(store: Store) -> Report:
    return Report(store, analyse(store))


def render(store: Store, name: str) -> str:
    return SHAPES[name].render(report_of(store))


def golden_store(folder: Path) -> Store:
    failing = {("NB-OFF", 3): "a time limit cut it short: 12 of 64 threads finished"}
    benches = (SCHED_PIPE, SYSBENCH_CPU, replace(SYSBENCH_THREADS, failing=failing), HACKBENCH)
    return make_store(
        folder,
        (*benches, CAPPED),
        nr_blocks=6,
        notices=["not counted: schedstat: this kernel has no /proc/schedstat"],
        disturbed={17: 0.31, 18: 0.07},
    )


@pytest.mark.parametrize("name", ["terminal", "markdown", "lkml", "mmtests", "summary"])
def test_as_the_file_shows(tmp_path: Path, name: str) -> None:
    """With SCHEDLAB_GOLDEN=write the files are written anew, to be read before they are kept."""
    text = render(golden_store(tmp_path / "r"), name).replace(str(tmp_path), "/results")
    text = text.partition("# Plan\n")[0]  # tests of round trips read it; plans get new keys
    golden = GOLDEN / f"{name}.{SHAPES[name].suffix}"
    if os.environ.get("SCHEDLAB_GOLDEN") == "write":
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Return a result of each kind a report must cope with."""
    folder = tmp_path_factory.mktemp("kinds")
    number = itertools.count()

    def new(*args: Any, **more: Any) -> Report:
        return report_of(make_store(folder / str(next(number)), *args, **more))

    failures = {
        (name, block): "exit status 1" for name in ("Default", "NB-OFF") for block in (0, 1)
    }
    three = (DEFAULT, NB_OFF, Variant(name="NO_WA_IDLE", sched_features=("NO_WA_IDLE",)))
    return {
        "no runs": new(nr_blocks=-1),
        "only warm-up": new(nr_blocks=0),
        "only failures": new([replace(HACKBENCH, failing=failures)], nr_blocks=2),
        "one block": new(nr_blocks=1),
        "screening": new(plan=plan_of(looks=(3, 6)), nr_blocks=3),
        "common": new(nr_blocks=12),
        "strict": new(plan=plan_of(strict=True), nr_blocks=6),
        "capped": new([CAPPED], nr_blocks=6),
        "three variants": new(plan=plan_of(three), nr_blocks=6),
        "aa": new([SCHED_PIPE], plan=plan_of(aa=True), nr_blocks=6),
        "simulated": new(plan=plan_of(target="sim:epyc-7713-2s"), nr_blocks=6),
        "no counters": new([replace(HACKBENCH, counters={})], nr_blocks=6),
        "untitled": new([SCHED_PIPE], plan=plan_of(title=""), nr_blocks=2),
    }


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_of_every_kind_of_result(kinds: dict[str, Report], name: str) -> None:
    for kind, report in kinds.items():
        assert SHAPES[name].render(report).strip(), kind


@pytest.mark.parametrize("name", ["terminal", "markdown", "lkml", "mmtests", "html", "json"])
def test_what_must_be_known_comes_with_every_shape(kinds: dict[str, Report], name: str) -> None:
    render = SHAPES[name].render
    everything = {kind: " ".join(render(report).split()) for kind, report in kinds.items()}
    everything = {kind: text.replace(" *** ", " ") for kind, text in everything.items()}
    alarm = "A/A run: both variants are the same; any difference claimed here is a false alarm."
    assert alarm in everything["aa"]
    assert alarm not in everything["common"]
    assert "a prediction, not a measurement" in everything["simulated"]
    assert "No run has been measured yet." in everything["only warm-up"]
    assert "screening: fewer than 6 pairs" in everything["screening"]
    assert "Screening: 4 of 4 results rest on fewer than 6 blocks" in everything["screening"]
    assert "capped: cannot be certified equivalent" in everything["capped"]
    assert "zero variance" in everything["capped"]
    assert "NB-OFF against Default" in everything["untitled"]
    for expected in ("schedlab run --suite common", "5.7.0-rc3+", "seed", "0.2.0"):
        assert expected in everything["common"], expected
    method = ("margin of 2 %", "alpha 5 %", "6, 12, 24 and 40 blocks", "by Benjamini-Hochberg")
    for expected in method:
        assert expected in everything["common"], expected
    if name not in ("lkml", "terminal"):
        assert "alpha x R / (looks x m), with R =" in everything["common"]
    assert "by Holm" in everything["strict"]


@pytest.mark.parametrize("name", ["terminal", "markdown", "lkml", "mmtests", "html"])
def test_an_open_result_is_never_hidden_nor_called_equal(tmp_path: Path, name: str) -> None:
    text = render(make_store(tmp_path / "r", [SYSBENCH_THREADS], nr_blocks=12), name)
    said = " ".join(text.split()).replace("&#39;", "'")
    assert "0 better, 0 worse, 0 equivalent, 1 can't tell" in said
    assert re.search(r"about \d+ blocks would settle it", said)


def test_open_results_of_one_benchmark_have_one_line(tmp_path: Path) -> None:
    several = replace(SYSBENCH_THREADS, further=[replace(RATE, name=f"p{n}") for n in range(9)])
    text = render(make_store(tmp_path / "r", [several], nr_blocks=12), "terminal")
    assert "10 can't tell" in text
    [said] = [line for line in text.splitlines() if "would settle" in line]
    assert re.search(r"SysBenchThreads, 10 results: about [\d,]+ blocks would settle them", said)


def test_what_is_said_of_several_results_of_one_benchmark_is_said_once(tmp_path: Path) -> None:
    still = replace(CAPPED, further=[replace(CAPPED.metric, name="p1")])
    text = render(make_store(tmp_path / "r", [still], nr_blocks=6), "terminal")
    assert " ".join(text.split()).count("zero variance") == 1
    assert "- SysBenchMemory, bandwidth and p1: " in text


def test_no_star_without_evidence(tmp_path: Path) -> None:
    text = render(make_store(tmp_path / "r", COMMON, nr_blocks=12), "mmtests")
    rows = {line.split()[1]: line for line in text.splitlines() if line.startswith("Gmean ")}
    assert rows["HackbenchPipeThreads"].endswith("%*")
    assert rows["SysBenchCpu"].endswith("%*")
    assert rows["PerfBenchSchedPipe"].endswith("%=")
    assert rows["SysBenchThreads"].endswith("%)")


def test_a_shorter_time_is_a_positive_change(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH], nr_blocks=12)
    document = json.loads(render(store, "json"))
    (result,) = document["results"]
    assert result["effect"] < 0 < result["effect_better"]
    assert result["interval_adjusted_better"][0] > 0


def test_markdown_has_a_row_for_each_run_in_the_published_shape(tmp_path: Path) -> None:
    lines = render(make_store(tmp_path / "r", [HACKBENCH], nr_blocks=3), "markdown").splitlines()
    at = lines.index("## HackbenchPipeThreads")
    table = [line for line in lines[at:] if line.startswith("|")][: 2 + 2 * 3]
    assert lines[at + 4 : at + 7] == ["~~~", HACKBENCH.command, "~~~"]
    assert table[0].startswith("|Test|Time (sec)|sched:sched_migrate_task|sched:sched_stick_numa|")
    names = [row.split("|")[1] for row in table[2:]]
    assert names == [f"{variant}-{n}-0" for variant in ("Default", "NB-OFF") for n in range(3)]
    assert re.match(r"\|Default-0-0\|\d\.\d+\|1,\d{3},\d{3}\|", table[2])


def test_csv_has_a_line_for_each_figure(tmp_path: Path) -> None:
    failing = {("NB-OFF", 1): "killed"}
    store = make_store(tmp_path / "r", [replace(HACKBENCH, failing=failing)], nr_blocks=2)
    rows = list(csv.DictReader(io.StringIO(render(store, "csv"))))
    assert len(rows) == 5 * 6 + 1
    first, failed = rows[0], next(row for row in rows if row["status"] == "failed")
    assert (first["kind"], first["name"], first["unit"]) == ("metric", "time", "s")
    assert (first["block"], first["warmup"]) == ("-1", "1")
    assert (failed["kind"], failed["value"], failed["block"]) == ("", "", "1")


def test_json_has_everything(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", COMMON, nr_blocks=6)
    document = json.loads(render(store, "json"))
    assert document["schema"] == "schedlab-report/1"
    assert len(document["runs"]) == len(store.records())
    assert document["runs"][0]["metrics"] == store.records()[0].metrics
    assert {result["word"] for result in document["results"]} >= {"better", "worse"}
    assert document["counters"][1]["manipulation_check"]
    assert document["design"]["correction"] == "benjamini-hochberg"


def test_every_key_of_the_json_is_documented(tmp_path: Path) -> None:
    document = json.loads(render(make_store(tmp_path / "r", COMMON[:1], nr_blocks=2), "json"))
    words = set(re.findall(r"`(\w+)(?:\[\])?`", (DOCS / "reports.md").read_text()))
    keys = {*document, *document["design"]}
    for part in ("benchmarks", "results", "counters", "runs"):
        keys |= set(document[part][0])
    assert keys <= words


def test_alike_knobs_share_a_line(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH], nr_blocks=1)
    report = report_of(store)
    for record in report.records:
        record.settings |= {f"cpu{n}/cpuidle/C6": "off" for n in range(64)}
    assert report.settings() == [
        ("kernel.numa_balancing", {"Default": "1", "NB-OFF": "0"}),
        ("cpu0/cpuidle/C6 to cpu63/cpuidle/C6 (64 alike)", {"Default": "off", "NB-OFF": "off"}),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "NO_WA_IDLE",
        "sysctl kernel.numa_balancing=0",
        "sched base_slice_ns=3000000",
        "cpuidle C6=off cpus=0-3",
        "governor performance",
        "env A=b",
        "prefix taskset -c 0-3",
        "companion scx_simple",
        "NO_WA_IDLE; sysctl kernel.a=1; governor performance",
    ],
)
def test_a_variant_is_described_as_it_is_written_on_the_command_line(text: str) -> None:
    assert describe_variant(parse_variant(f"v: {text}"), plan_of()) == text


def test_a_variant_without_settings_says_so() -> None:
    assert describe_variant(DEFAULT, plan_of()) == "no settings: the machine as it is"


def machines_of(folder: Path, further: Sequence[Metric] = ()) -> list[Report]:
    """Return results of three benchmarks on three simulated machines, with verdicts of all kinds.

    Their names are as long as those that come with schedlab.
    """
    benches = [
        replace(bench, label=f"{bench.label}:groups=16,loops=60", further=further)
        for bench in COMMON[1:]
    ]
    base, other = (Variant(name=name, kernel=name) for name in ("base", "newidle"))
    rows = {
        "Patches of newidle": "sched/fair: Skip newidle balance when the CPU idles briefly"
        " (0123456789ab), kernel/sched/fair.c +12 -3"
    }
    reports = []
    for name in ("small-2n-smt2", "kunpeng-920-6426-2p", "epyc-7713-2p-nps1"):
        plan = plan_of((base, other), target=f"sim:{name}")
        benches_here = [replace(b, effects={"newidle": 1.1}, silent_in={}) for b in benches]
        machine = MACHINE.model_copy(update={"name": name})
        store = make_store(
            folder / name, benches_here, plan, environment={**PLATFORM, **rows}, machine=machine
        )
        reports.append(report_of(store))
    return reports


def test_one_mail_of_three_machines(tmp_path: Path) -> None:
    """With three lines below each of the nine verdicts there are eighty at most."""
    reports = machines_of(tmp_path)
    several = SHAPES["lkml"].several
    assert several is not None
    text = several(reports)
    lines = text.splitlines()
    verdicts = sum(len(report.analysis.outcomes) for report in reports)
    below = sum(line.startswith("    ") and line.endswith(("it", "has")) for line in lines)
    assert len(lines) - below + 3 * verdicts <= 80
    assert max(map(columns, lines)) <= 72
    for report in reports:
        name = report.store.machine.name
        short = name.partition("-")[0]
        assert sum(line.startswith(f"- {short}: {name}, ") for line in lines) == 1
        assert sum(line.startswith(f"{short}: ") for line in lines) == 3
    assert "newidle: sched/fair: Skip newidle balance" in text
    assert PLATFORM["Node name"] not in text
    with_platform = several([Report(r.store, r.analysis, Detail(platform=True)) for r in reports])
    assert PLATFORM["Node name"] in with_platform


def test_a_machine_whose_name_begins_like_the_benchmark_keeps_it(tmp_path: Path) -> None:
    plan = plan_of((Variant(name="base"), Variant(name="patch")))
    bench = replace(COMMON[0], label="s", benchmark="s", effects={"patch": 1.1})
    reports = []
    for name in ("smp4", "small-2n-smt2"):
        of = plan.model_copy(update={"target": f"sim:{name}"})
        machine = MACHINE.model_copy(update={"name": name})
        reports.append(report_of(make_store(tmp_path / name, [bench], of, machine=machine)))
    several = SHAPES["lkml"].several
    assert several is not None
    lines = several(reports).splitlines()
    for name in ("smp4", "small"):
        assert sum(line.startswith(f"{name}: ") for line in lines) == 1


def test_a_mail_of_benchmarks_with_many_metrics(tmp_path: Path) -> None:
    """Of metrics beside the first it has what is claimed, or how many verdicts of each kind."""
    several = SHAPES["lkml"].several
    assert several is not None
    percentiles = [Metric(f"p{n}", unit="us", better="lower", label=f"p{n}") for n in range(12)]
    one = machines_of(tmp_path / "one", percentiles[:1])[:2]
    assert sum("p0, us, lower is better" in line for line in several(one).splitlines()) > 0
    many = several(machines_of(tmp_path / "many", percentiles))
    assert len(many.splitlines()) <= 80
    assert "p0, us" not in many
    assert many.count("Of 12 other metrics, in the reports: ") == 3


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_word_is_broken_on_a_terminal(tmp_path: Path, width: int) -> None:
    """Twelve benchmarks in five variants, with names and figures as long as they come."""
    names = ("tip", "a-patch-series-v2", "NO_WA_IDLE", "short", "no-wa+nosis", "kernel-6.12")
    variants = [Variant(name=name) for name in names]
    benches = [
        replace(bench, label=f"{bench.label}:groups={n},loops=60", typical=bench.typical * 10**n)
        for bench in COMMON
        for n in (1, 4, 5)
    ]
    store = make_store(
        tmp_path / "r",
        [replace(bench, effects={"short": 0.5}, silent_in={}) for bench in benches],
        plan_of(variants),
        nr_blocks=6,
        invocation="schedlab run",
    )
    page = io.StringIO()
    console = Console(file=page, width=width, color_system=None, highlight=False)
    report = report_of(store)
    print_report(store, report.analysis, console)
    lines = page.getvalue().splitlines()
    assert max(map(columns, lines)) <= width
    words = {word for line in lines for word in line.split()}
    for outcome in report.analysis.outcomes:
        assert f"{outcome.case.label}," in words
        for figure in (outcome.verdict.base_mean, outcome.verdict.other_mean):
            assert number(figure) in words
    assert {*names[1:]} <= words


def test_one_page_for_who_decides(tmp_path: Path) -> None:
    several = SHAPES["summary"].several
    assert several is not None
    text = several(machines_of(tmp_path))
    assert len(text.splitlines()) <= 70
    assert max(map(columns, text.splitlines())) <= 72
    assert "newidle is patched: sched/fair: Skip newidle balance" in text
    jargon = ("Benjamini", "t test", "logarithm", "p-value", "pct", "alpha")
    assert not [word for word in jargon if word in text]


labels = st.text(min_size=1, max_size=120)
# What a run deviates by may be a factor of thousands: it stays within what a store takes.
values = st.floats(min_value=1e-280, max_value=1e280)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,120}", fullmatch=True)
metrics = st.builds(Metric, labels, labels, st.sampled_from(["higher", "lower"]), labels)
benches = st.builds(
    Bench,
    label=labels,
    command=labels,
    metric=metrics,
    typical=values,
    noise=st.sampled_from([0.0, 0.01, 3.0]),
    counters=st.dictionaries(labels, st.floats(0, 1e280), max_size=3),
    caveats=st.lists(labels, max_size=1).map(tuple),
    summary=labels,
)
folders = itertools.count()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(benches, min_size=1, max_size=3, unique_by=lambda bench: bench.label),
    st.lists(names, min_size=2, max_size=3, unique=True),
    labels,
    st.lists(labels, max_size=2),
    st.dictionaries(labels, labels, max_size=2),
)
def test_no_name_or_value_breaks_a_report(
    tmp_path: Path,
    benches: Sequence[Bench],
    variants: Sequence[str],
    title: str,
    notices: Sequence[str],
    environment: dict[str, str],
) -> None:
    plan = plan_of([Variant(name=name) for name in variants], looks=(2, 3), title=title)
    store = make_store(
        tmp_path / str(next(folders)),
        benches,
        plan,
        nr_blocks=3,
        notices=notices,
        environment=environment,
    )
    report = report_of(store)
    for name in SHAPES:
        text = SHAPES[name].render(report)
        text.encode(errors="backslashreplace")
        if name in ("lkml", "mmtests", "summary"):
            assert max(map(columns, text.splitlines())) <= 72
            assert all(line.isprintable() for line in text.splitlines())
        if name == "json":
            json.loads(text)


def test_kernels_that_differ_are_named_with_their_configuration(tmp_path: Path) -> None:
    """Two releases at their defaults may have other preemption models as well."""
    one, two = "6.12: Linux 6.12.117, HZ=250, PREEMPT=", "7.3: Linux 7.3.4, HZ=250, PREEMPT="
    kernels = {"Kernel release": "6.12.117, 7.3.4 (simulated)"}
    kernels["Kernels"] = f"{one}voluntary, build 1; {two}lazy, build 2"
    plan = plan_of([parse_variant("old: kernel=6.12"), parse_variant("new: kernel=7.3")])
    report = report_of(make_store(tmp_path, COMMON[:1], plan, nr_blocks=2, environment=kernels))
    for name in ("lkml", "mmtests"):
        text = " ".join(SHAPES[name].render(report).split())
        assert "- old - 6.12.117, HZ=250, PREEMPT=voluntary (simulated), kernel=6.12" in text
        assert "- new - 7.3.4, HZ=250, PREEMPT=lazy (simulated), kernel=7.3" in text
