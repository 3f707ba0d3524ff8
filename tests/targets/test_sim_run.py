"""Runs on a simulated machine with a fake simulator: the same lab, several runs at a time."""

import json
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.data import data_folder
from schedlab.benchmarks.benchmark import REGISTRY, Command, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.tool import Tool
from schedlab.judging.analysis import analyse, flagged
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.result.record import RunRecord
from schedlab.result.store import Store
from schedlab.targets import sim_program
from schedlab.targets.simulated.outcome import brief, unsettled
from tests.helpers.emulated import emulated_host
from tests.helpers.fake_engine import FakeLab, write_machine, write_tree
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

BENCHMARK = ("--benchmark", "HackbenchPipeThreads:groups=1,loops=10")
TWO = (*BENCHMARK, "--benchmark", "PerfBenchSchedPipe:loops=5")
NO_WA = ("--variant", "base", "--variant", "no-wa: NO_WA_IDLE")


def run(lab: FakeLab, out: Path, *words: object) -> tuple[int, str, str]:
    return lab.call("run", "--target", f"sim:{lab.machine}", "--output", out, *words)


def refused(lab: FakeLab, *words: object) -> str:
    out = lab.folder / "refused"
    status, text, errors = run(lab, out, *words)
    assert status == 2, (text, errors)
    assert not out.exists(), "nothing is left behind"
    return errors


def records(out: Path) -> list[RunRecord]:
    return Store.open(out).records()


def test_counters_are_the_simulators_own_too_and_missing_ones_are_named(lab: FakeLab) -> None:
    assert "none is called 'foo'" in refused(lab, *BENCHMARK, *NO_WA, "--counters", "foo")
    out = lab.folder / "out"
    asked = "context-switches,newidle:calls:SMT,wakeup-latency:count"
    status, _, errors = run(lab, out, *BENCHMARK, *NO_WA, "--blocks", 3, "--counters", asked)
    assert status == 0, errors
    counted = {name for record in records(out) for name in record.counters}
    assert counted == {"context-switches", "wakeup-latency:count"}
    assert [line.split(":")[1:4] for line in Store.open(out).notices if "not counted" in line] == [
        [" newidle", "calls", "SMT"]
    ]


def essence(out: Path) -> list[dict[str, Any]]:
    """Return everything a run says but when it was, how long it took and where its files are."""
    kept = [vars(record) for record in records(out)]
    for record in kept:
        for name in ("started", "seconds", "command", "raw"):
            del record[name]
    return kept


def test_a_feature_is_judged_on_a_simulated_machine(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, errors = run(lab, out, *TWO, *NO_WA, "--looks", "6,12")
    assert status == 0, errors
    report = (out / "report.txt").read_text().replace("***", "")
    assert "a prediction, not a measurement" in " ".join(report.split())
    store = Store.open(out)
    assert [outcome.verdict.word for outcome in analyse(store).outcomes] == ["better", "better"]
    runs = store.records()
    assert min(record.key.block for record in runs) == 0, "a simulated machine needs no warm-up"
    one = next(record for record in runs if record.key.variant == "no-wa")
    assert one.settings["sched_feature WA_IDLE"] == "NO_WA_IDLE"
    assert one.settings["kernel"].startswith("6.12 (build ")
    assert one.counters["context-switches"] == 15
    assert one.counters["sched:sched_migrate_task"] == one.counters["cpu-migrations"]
    assert not [name for name in one.counters if "pelt" in name or "engine" in name]
    folder = out / one.raw
    scenario = json.loads((folder / "scenario.json").read_text())
    assert scenario["features"] == {"WA_IDLE": False}
    assert (folder / "result.json").is_file()
    seeds = {(r.key.case, r.key.block): set[int]() for r in runs}
    for record in runs:
        seeds[record.key.case, record.key.block].add(record.seed)
    assert all(len(shared) == 1 for shared in seeds.values()), "common random numbers"
    rows = store.environment
    assert rows["Kernel release"] == "6.12.7 of your tree 6.12 (simulated)"
    assert "HZ=250, PREEMPT=voluntary" in rows["Kernels"]
    assert len(rows["Engine version"]) == 12


UNSURE = {
    "cost": {
        "line_core": {"value": "5us", "range": ["2us", "9us"], "source": "estimate"},
        "spin": "100ns",
    }
}


def test_a_block_draws_one_machine_for_all_its_variants(lab: FakeLab) -> None:
    write_machine(lab.machine, **UNSURE)
    out = lab.folder / "out"
    status, _, errors = run(lab, out, *TWO, *NO_WA, "--blocks", 3)
    assert status == 0, errors
    drawn: dict[tuple[str, int], set[str]] = {}
    for record in records(out):
        # The machine's own, and what runs on any machine besides.
        assert {key for key in record.draws if key.split(".")[0] != "background"} == {
            "cost.line_core"
        }
        text = (out / record.raw / "machine.json").read_text()
        assert f"{out / record.raw / 'machine.json'}" in record.command
        drawn.setdefault((record.key.case, record.key.block), set()).add(text)
    assert all(len(machines) == 1 for machines in drawn.values())
    assert len(set.union(*drawn.values())) == len(drawn), "no two blocks have the same machine"
    figures = {json.loads(text)["cost"]["line_core"] for text in set.union(*drawn.values())}
    assert all(2000 <= int(figure.removesuffix("ns")) <= 9000 for figure in figures)
    again = lab.folder / "again"
    assert run(lab, again, *TWO, *NO_WA, "--blocks", 3)[0] == 0
    assert [r.draws for r in records(again)] == [r.draws for r in records(out)]


def test_a_run_records_no_other_programs_figures(lab: FakeLab) -> None:
    """All are drawn, but what sqlite takes says nothing about a run of hackbench."""
    core: Any = {"mhz": 3000}
    write_machine(lab.machine, **UNSURE, core=core)
    out = lab.folder / "out"
    status, _, errors = run(lab, out, *BENCHMARK, *NO_WA, "--blocks", 3)
    assert status == 0, errors
    [first, *_] = records(out)
    assert json.loads((out / first.raw / "machine.json").read_text())["work"]["sqlite"]
    assert not [key for key in first.draws if key.startswith("work.")]
    assert "cost.line_core" in first.draws and "cycles.syscall" in first.draws


def test_exact_takes_every_figure_at_its_value(lab: FakeLab) -> None:
    write_machine(lab.machine, **UNSURE)
    out = lab.folder / "out"
    status, _, errors = run(lab, out, *BENCHMARK, *NO_WA, "--blocks", 3, "--exact")
    assert status == 0, errors
    assert Store.open(out).plan.exact
    assert all(not record.draws for record in records(out))
    assert not [*out.glob("raw/*/machine.json")]
    machine = json.loads((out / "raw/machine.json").read_text())
    assert machine["cost"] == {"line_core": "5us", "spin": "100ns"}


def test_a_host_has_nothing_to_fix(lab: FakeLab) -> None:
    status, _, errors = lab.call("run", *BENCHMARK, *NO_WA, "--exact", "--dry-run")
    assert status == 2
    assert "only a simulated machine has figures that are drawn" in errors


def test_what_had_not_settled_is_said_with_the_warm_up() -> None:
    result = {"steady": {"unsettled": ["averages remember 0.3 s, longer than the load has lasted"]}}
    assert unsettled(result, "20ms") == [
        "too short: averages remember 0.3 s, longer than the load has lasted; load_warmup is 20ms:"
        ' a longer one, or "settled", lets it settle'
    ]
    assert unsettled(result, "settled") == [
        "too short: averages remember 0.3 s, longer than the load has lasted"
    ]
    assert not unsettled({}, "20ms")


def test_runs_too_short_are_shown_and_not_judged(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--variant", "base", "--variant", "fast: NO_WA_IDLE; sched mode=short")
    status, _, errors = run(lab, out, *BENCHMARK, *words, "--looks", "6,12")
    assert status == 0, errors
    reason = (
        "6 of 12 runs too short for the scheduler's state to settle: load averages remember 1 s;"
        " MC is not balanced"
    )
    [short] = analyse(Store.open(out)).outcomes
    assert (short.verdict.word, short.verdict.withheld) == ("can't tell", True)
    assert short.verdict.note == f"not judged: {reason}"
    assert short.verdict.effect == pytest.approx(-0.2, abs=0.05), "shown all the same"
    assert short.verdict.interval is None
    assert len(records(out)) == 12, "more blocks would not help"
    text = " ".join((out / "report.txt").read_text().split())
    assert "not judged" in text
    assert reason in text
    status, compared, errors = lab.call("compare", out, out)
    assert status == 0, errors
    assert "not judged" in compared


def test_a_window_far_shorter_than_a_balance_interval_is_told(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--variant", "base", "--variant", "same: sched mode=brief")
    status, _, errors = run(lab, out, *BENCHMARK, *words, "--looks", "6")
    assert status == 0, errors
    why = (
        "measured 2.4 ms, while busy CPUs balance their widest domain every 124 ms: much depends"
        " on how the load starts and when balancing comes round"
    )
    short = [record for record in records(out) if record.brief]
    assert {record.key.variant for record in short} == {"same"}
    assert short[0].brief == why
    assert not flagged(dict(enumerate(records(out)))), "it is judged all the same"
    text = " ".join((out / "report.txt").read_text().replace("***", "").split())
    assert "Brief runs in 1 of 1 benchmark, such as HackbenchPipeThreads" in text
    assert why in text


@pytest.mark.parametrize(("window", "shown"), [(0.012, 1), (0.013, 0), (0.0, 0)])
def test_a_tenth_of_the_slowest_balance_interval_is_long_enough(window: float, shown: int) -> None:
    steady = {"domains": [{"busy_interval_s": 0.124}, {"busy_interval_s": 0.06}]}
    assert len(brief({"window_s": window, "steady": steady})) == shown
    assert brief({"window_s": 0.001}) == []


def warm_plan(folder: Path, warmup: str) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(
        f"""
        load_warmup = "{warmup}"
        [[benchmark]]
        name = "HackbenchPipeThreads"
        params = {{ groups = 1, loops = 10 }}
        [[variant]]
        name = "base"
        [[variant]]
        name = "no-wa"
        sched_features = ["NO_WA_IDLE"]
        [blocks]
        looks = [1]
        """
    )
    return plan


@pytest.mark.parametrize(
    ("asked", "written"), [("settled", "settled"), ("none", None), ("2s", "2s")]
)
def test_a_plan_says_how_long_its_loads_warm_up(
    lab: FakeLab, tmp_path: Path, asked: str, written: str | None
) -> None:
    status, _, errors = run(lab, tmp_path / "out", warm_plan(tmp_path, asked))
    assert status == 0, errors
    scenarios = [json.loads(f.read_text()) for f in (tmp_path / "out/raw").glob("b*/scenario.json")]
    assert [scenario.get("warmup") for scenario in scenarios] == [written, written]


def test_a_warmup_without_meaning_is_refused(lab: FakeLab, tmp_path: Path) -> None:
    for warmup in ("long", "1us", "100000s", "10min", "0s"):
        said = refused(lab, warm_plan(tmp_path, warmup), "--dry-run")
        assert f"load_warmup: '{warmup}' is not a warm-up; use settled, none, or a time in" in said


def test_a_cold_plan_is_judged_and_says_so(lab: FakeLab, tmp_path: Path) -> None:
    assert run(lab, tmp_path / "cold", warm_plan(tmp_path, "none"))[0] == 0
    assert run(lab, tmp_path / "warm", warm_plan(tmp_path, "settled"))[0] == 0
    cold, warm = (lab.call("report", tmp_path / name)[1] for name in ("cold", "warm"))
    assert "from its start on an idle machine" in cold
    assert "from its start on an idle machine" not in warm


def test_the_number_of_jobs_changes_nothing(lab: FakeLab, tmp_path: Path) -> None:
    for jobs in (1, 5):
        out = tmp_path / f"out-{jobs}"
        status, _, errors = run(lab, out, *TWO, *NO_WA, "--blocks", 7, "--jobs", jobs)
        assert status == 0, errors
    assert essence(tmp_path / "out-1") == essence(tmp_path / "out-5")


def test_a_patched_kernel_against_its_tree(lab: FakeLab, tmp_path: Path) -> None:
    write_tree(tmp_path / "old", version="6.1.9", speed=3.0)
    lab.call("kernel", "add", "--tree", tmp_path / "old", "--name", "6.1")
    patch = lab.patch_file(3.0, 2.0)
    lab.call("kernel", "build", "fast", "--base", "6.1", "--patch", patch, "--hz", "1000")
    out = tmp_path / "out"
    words = ("--variant", "base", "--variant", "fast: kernel=fast", "--blocks", 6)
    status, _, errors = run(lab, out, *BENCHMARK, *words)
    assert status == 0, errors
    store = Store.open(out)
    said = "kernel fast is built on your tree 6.1: `schedlab kernel show 6.1` says how far that is"
    assert store.notices == [f"{said} followed."]
    assert "6.1: Linux 6.1.9 of your tree 6.1, HZ=1000" in store.environment["Kernels"], (
        "base stands on its tree"
    )
    base, fast = sorted(r.metrics["time"] for r in store.records() if r.key.block == 0)[::-1]
    assert fast / base == pytest.approx(2 / 3)
    errors = refused(
        lab,
        *BENCHMARK,
        "--variant",
        "base",
        "--variant",
        "a: kernel=6.12",
        "--variant",
        "b: kernel=fast",
        "--blocks",
        6,
    )
    assert "variant base names no kernel, and the others use 6.12" in errors


def test_several_trees_and_none_named(lab: FakeLab, tmp_path: Path) -> None:
    lab.call("kernel", "remove", "6.12")
    assert "there is no kernel to simulate yet" in refused(lab, *BENCHMARK, *NO_WA)
    for name in ("mine", "yours"):
        lab.call("kernel", "add", "--tree", lab.tree, "--name", name)
    assert "there are several: mine, yours" in refused(lab, *BENCHMARK, *NO_WA)


def test_settings_are_recorded_as_read_back(lab: FakeLab, tmp_path: Path) -> None:
    """What the simulator's result tells, not what was asked for."""
    out = tmp_path / "out"
    words = ("--variant", "base", "--variant", "x: sched preempt=voluntary; sysctl kernel.a=0x10")
    status, _, errors = run(lab, out, *BENCHMARK, *words, "--blocks", "2")
    assert status == 0, errors
    settings = next(r.settings for r in records(out) if r.key.variant == "x")
    assert settings["sched preempt"] == "full" and settings["kernel.a"] == "0x10"


def test_the_governor_is_set_and_recorded(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--variant", "base", "--variant", "eas: governor schedutil")
    status, _, errors = run(lab, out, *BENCHMARK, *words, "--blocks", "2")
    assert status == 0, errors
    [*_, record] = [r for r in records(out) if r.key.variant == "eas"]
    assert record.settings["cpufreq governor"] == "schedutil"
    scenario = json.loads((out / record.raw / "scenario.json").read_text())
    assert scenario["cpufreq"] == {"governor": "schedutil"}


def test_a_tree_of_ones_own_and_its_gaps_are_named_in_the_report(
    lab: FakeLab, tmp_path: Path
) -> None:
    shutil.copy(data_folder("engine") / "scripts/changed_calls.py", lab.engine / "scripts")
    lab.add_debians("6.12")
    write_tree(lab.tree, more="/* unmatched: old_name */\natomic_t looks;")
    (lab.tree / "kernel/fork.c").write_text("int forked;\n")
    out = tmp_path / "out"
    words = ("--variant", "base: kernel 6.12", "--variant", "x: kernel 6.12; NO_WA_IDLE")
    status, _, errors = run(lab, out, *BENCHMARK, *words, "--blocks", "2")
    assert status == 0, errors
    said = "kernel 6.12 is not followed everywhere: unmatched (1), limits (1) and not compiled (1)."
    assert Store.open(out).notices.count(f"{said} `schedlab kernel show 6.12` names each.") == 1
    text = " ".join((out / "report.txt").read_text().split())
    assert said in text and "6.12.7 of your tree 6.12 (simulated)" in text


def test_a_setting_without_effect_is_told_before_the_run_and_in_the_report(
    lab: FakeLab, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    limit = "kernel.numa_balancing_promote_rate_limit_MBps"
    words = ("--variant", "base", "--variant", f"x: sysctl {limit}=1")
    status, text, errors = run(lab, out, *BENCHMARK, *words, "--blocks", "2")
    assert status == 0, errors
    sentence = f"variant x: {limit} has no effect in the simulator: it is about"
    assert [line for line in Store.open(out).notices if line.startswith(sentence)]
    printed = " ".join((text + errors).split())
    assert sentence in printed[: printed.index("block 0")]
    assert sentence in " ".join((out / "report.txt").read_text().split())


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("prefix taskset -c 0", "variant x: prefix has no meaning on a simulated machine"),
        ("companion scx_simple", "variant x: companion has no meaning"),
        ("env A=1", "variant x: env has no meaning"),
        ("NO_WA_IDEL", "no feature 'WA_IDEL' in kernel 6.12 (Linux 6.12.7). Did you mean WA_IDLE?"),
        ("sysctl kernel.nosuch=1", "variant x: writing /proc/sys/kernel/nosuch: No such file"),
        (
            "MISFIT",
            "variant x: sched_features: no feature 'MISFIT' in kernel 6.12 (Linux 6.12.7).\n"
            "  A patch of schedlab's adds it:"
            " `schedlab kernel build NAME --base 6.12 --patch MISFIT`.",
        ),
        ("kernel=6.21", "no kernel is called '6.21'. Did you mean 6.12?"),
        ("kernel=mine", "`schedlab kernel build NAME --base TREE --patch PATCH` builds another."),
        ("kernel=6.12", "variants base and x are the same: kernel 6.12, equal settings"),
    ],
)
def test_settings_are_refused_by_name(lab: FakeLab, setting: str, words: str) -> None:
    errors = refused(lab, *BENCHMARK, "--variant", "base", "--variant", f"x: {setting}")
    assert words in errors


@pytest.fixture
def host_only() -> Iterator[str]:
    """A benchmark without a model."""
    metric = Metric("time", "s", "lower", "Time (sec)")

    @benchmark(
        "HostOnly",
        tool=Tool("true", package="coreutils"),
        metrics=[metric],
        parse=lambda _: {metric: 1.0},
        defaults={},
    )
    def build() -> Command:
        return Command("true")

    yield "HostOnly"
    del REGISTRY["HostOnly"]


def test_what_cannot_be_simulated(lab: FakeLab, tmp_path: Path, host_only: str) -> None:
    errors = refused(lab, *BENCHMARK, "--benchmark", host_only, *NO_WA)
    assert "HostOnly has no model for the simulator." in errors
    assert "HackbenchForkSockets" in errors
    write_machine(lab.machine, cost={})
    assert f"{lab.machine}: cost: is missing" in refused(lab, *BENCHMARK, *NO_WA)
    write_machine(lab.machine, cost={"line_llc": "9ns"})
    assert f"{lab.machine}: cost.line_core: missing" in refused(lab, *BENCHMARK, *NO_WA)
    status, _, errors = lab.call("run", "--target", "sim:nosuch", *BENCHMARK, *NO_WA)
    assert (status, "no machine is called 'nosuch'" in errors) == (2, True)
    host = f"emulated:{emulated_host(tmp_path / 'host')}"
    status, _, errors = lab.call(
        *("run", "--target", host, *BENCHMARK, "--variant", "x: kernel=6.12"),
        *("--output", tmp_path / "out"),
    )
    assert (status, "a host runs the kernel it has booted" in errors) == (2, True)
    status, _, errors = lab.call(
        "run", "--target", f"sim:{lab.machine}", *BENCHMARK, "--variant", "auto"
    )
    assert (status, "there is nothing to switch on it" in errors) == (2, True)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("warn", "kernel WARNING at kernel/sched/core.c:7 in f() (simulated time 0.5 s, CPU 1"),
        ("endless", "the workload does not end"),
    ],
)
def test_a_run_that_fails_says_why_and_its_benchmark_is_left_out(
    lab: FakeLab, tmp_path: Path, mode: str, words: str
) -> None:
    variants = ("--variant", "base", "--variant", f"x: sched mode={mode}")
    for jobs in (1, 6):
        out = tmp_path / f"out-{jobs}"
        run(lab, out, *BENCHMARK, *variants, "--blocks", 9, "--jobs", jobs)
        failed = [record for record in records(out) if record.status == "failed"]
        assert len(failed) == 3
        assert words in failed[0].error
    assert essence(tmp_path / "out-1") == essence(tmp_path / "out-6")


def test_a_scheduler_that_fails_ends_its_own_runs_only(lab: FakeLab, tmp_path: Path) -> None:
    """It fails as soon as it is loaded, when the settings are tried."""
    (lab.tree / "kernel/sched/ext.c").write_text("int ext;\n")
    assert lab.call("kernel", "add", "--tree", lab.tree, "--name", "with-ext")[0] == 0
    source, out = tmp_path / "mine.bpf.c", tmp_path / "out"
    source.write_text("/* of no words */\n")
    variants = ("--variant", "base", "--variant", f"x: scx={source}")
    status, _, errors = run(lab, out, "--kernel", "with-ext", *BENCHMARK, *variants, "--blocks", 2)
    assert status == 0, errors
    ended = {(record.key.variant, record.status) for record in records(out)}
    assert ended == {("base", "ok"), ("x", "failed")}
    assert {record.error for record in records(out) if record.key.variant == "x"} == {
        "mine.bpf.c: the scheduler fails"
    }


def test_a_scheduler_that_does_not_build_leaves_the_others_runs(
    lab: FakeLab, tmp_path: Path
) -> None:
    (lab.tree / "kernel/sched/ext.c").write_text("int ext;\n")
    assert lab.call("kernel", "add", "--tree", lab.tree, "--name", "with-ext")[0] == 0
    source, out = tmp_path / "mine.bpf.c", tmp_path / "out"
    source.write_text("unheard_of();\n")
    arguments = ("--kernel", "with-ext", *BENCHMARK, "--blocks", 2)
    variants = ("--variant", "base", "--variant", f"x: scx={source}")
    status, said, errors = run(lab, out, *arguments, *variants)
    assert status == 0, errors
    assert "mine.bpf.c: calls unheard_of" in said + errors
    ended = {(record.key.variant, record.status) for record in records(out)}
    assert ended == {("base", "ok"), ("x", "failed")}
    failed = [record.error for record in records(out) if record.key.variant == "x"]
    assert all("mine.bpf.c: calls unheard_of" in error for error in failed)


def test_a_scheduler_that_is_not_loaded_leaves_the_others_runs(
    lab: FakeLab, tmp_path: Path
) -> None:
    """Alone, or beside others that are not loaded either, it ends the plan before it begins."""
    (lab.tree / "kernel/sched/ext.c").write_text("int ext;\n")
    assert lab.call("kernel", "add", "--tree", lab.tree, "--name", "with-ext")[0] == 0
    source, out = tmp_path / "refused.bpf.c", tmp_path / "out"
    source.write_text("/* of no words */\n")
    arguments = ("--kernel", "with-ext", *BENCHMARK, "--blocks", 2)
    refused = ("--variant", f"x: scx={source}")
    status, said, errors = run(lab, out, *arguments, *refused, "--variant", "base")
    assert status == 0, errors
    ended = {(record.key.variant, record.status) for record in records(out)}
    assert ended == {("base", "ok"), ("x", "failed")}
    words = "variant x: sched_ext: the kernel does not load refused.bpf.c: Invalid argument (name)"
    assert words in said + errors
    failed = [record.error for record in records(out) if record.key.variant == "x"]
    assert all(words in error for error in failed)
    also = ("--variant", f"y: NO_WA_IDLE; scx={source}")
    status, _, errors = run(lab, tmp_path / "none", *arguments, *refused, *also)
    assert status == 2
    assert "sched_ext: the kernel does not load refused.bpf.c" in errors


def test_a_kernel_has_proxies_or_schedulers(lab: FakeLab, tmp_path: Path) -> None:
    """As its Kconfig says."""
    recipe = Recipe(name="both", base="6.12", preempt="voluntary", options=("SCHED_PROXY_EXEC=y",))
    Shelf().put_recipe(recipe, [])
    variants = ("--variant", "base: kernel=both", "--variant", "x: kernel=both; scx=simple")
    status, _, errors = run(lab, tmp_path / "out", *BENCHMARK, *variants)
    assert status == 2
    assert "variant base: both has SCHED_PROXY_EXEC, which no kernel has together with" in errors


def own_scheduler(lab: FakeLab, tmp_path: Path, text: str) -> tuple[Path, tuple[str, ...]]:
    """A source, and what asks for a kernel that has sched_ext."""
    (lab.tree / "kernel/sched/ext.c").write_text("int ext;\n")
    assert lab.call("kernel", "add", "--tree", lab.tree, "--name", "with-ext")[0] == 0
    source = tmp_path / "mine.bpf.c"
    source.write_text(text)
    return source, ("--kernel", "with-ext", *BENCHMARK, "--variant", "base")


def test_a_tunable_that_no_source_names_is_refused_before_anything_is_built(
    lab: FakeLab, tmp_path: Path
) -> None:
    source, arguments = own_scheduler(lab, tmp_path, "const volatile int own;\n")
    for name, wanted in (("own", 0), ("owner", 2)):
        variant = ("--variant", f"x: scx={source}; scx-tunable {name}=1")
        status, _, errors = run(lab, tmp_path / "out", *arguments, "--dry-run", *variant)
        assert status == wanted, errors
    assert "variant x: scx-tunable owner: mine.bpf.c has no variable of that name." in errors


def test_a_sub_scheduler_without_its_group_is_refused_before_anything_is_built(
    lab: FakeLab, tmp_path: Path
) -> None:
    source, arguments = own_scheduler(lab, tmp_path, "int own;\n")
    below = f"scx={source}; scx-sub bench={source}"
    for group, more in (("", ""), ("; cgroup benches", ""), ("; cgroup other/bench", "--dry-run")):
        variant = ("--variant", f"x: {below}{group}", *more.split())
        status, _, errors = run(lab, tmp_path / "out", *arguments, *variant)
        assert status == 2
        assert (
            "variant x: scx-sub bench: no run has this group; `cgroup bench` is missing." in errors
        )
    for group in ("bench", "bench/below"):
        variant = ("--variant", f"x: {below}; cgroup {group}", "--dry-run")
        status, _, errors = run(lab, tmp_path / "out", *arguments, *variant)
        assert status == 0, errors


def test_schedulers_of_the_scx_project_are_named_as_the_kernels(
    lab: FakeLab, tmp_path: Path
) -> None:
    (lab.tree / "kernel/sched/ext.c").write_text("int ext;\n")
    assert lab.call("kernel", "add", "--tree", lab.tree, "--name", "with-ext")[0] == 0
    tree, out = tmp_path / "scx", tmp_path / "out"
    status, _, errors = lab.call("scx", "add", "--tree", tree)
    assert status == 2
    assert f"{tree}: not a tree of the scx project: scheds/include/scx/common.bpf.h" in errors
    for file in ("include/scx/common.bpf.h", "rust/scx_mine/src/bpf/main.bpf.c"):
        (tree / "scheds" / file).parent.mkdir(parents=True)
        (tree / "scheds" / file).write_text("/* of no words */\n")
    status, said, _ = lab.call("scx", "add", "--tree", tree)
    assert (status, said.strip()) == (0, f"{tree}: mine")
    assert f"with-ext: none\n{tree}: mine" in lab.call("scx", "list")[1]
    arguments = ("--kernel", "with-ext", *BENCHMARK, "--blocks", 2, "--variant", "base")
    status, _, errors = run(lab, out, *arguments, "--variant", "x: scx=mime")
    assert status == 2
    assert "has no scheduler 'mime'. Did you mean mine? It has mine" in errors
    status, _, errors = run(lab, out, *arguments, "--variant", "x: scx=mine")
    assert status == 0, errors
    assert {record.error for record in records(out) if record.key.variant == "x"} == {
        "scx_mine.bpf.c: the scheduler fails"
    }


def test_a_simulator_that_hangs_is_ended(
    lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim_program, "_GRACE_SECONDS", 0.5)
    out = tmp_path / "out"
    variants = ("--variant", "base", "--variant", "x: sched mode=hang")
    run(lab, out, *BENCHMARK, *variants, "--blocks", 3, "--timeout", "500ms")
    failed = [record for record in records(out) if record.status == "failed"]
    assert "signal 9 ended the simulator" in failed[0].error


def test_an_aa_run(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, errors = run(lab, out, *BENCHMARK, "--aa", "--blocks", 6)
    assert status == 0, errors
    pairs: dict[int, list[float]] = {}
    for record in records(out):
        pairs.setdefault(record.key.block, []).append(record.metrics["time"])
    assert all(first == second for first, second in pairs.values())


def test_dry_run_says_what_would_be_simulated(lab: FakeLab) -> None:
    status, text, _ = lab.call(
        *("run", "--target", f"sim:{lab.machine}", *BENCHMARK, *NO_WA, "--dry-run")
    )
    assert status == 0
    assert "set sched_feature WA_IDLE = NO_WA_IDLE" in text
    assert '"kind": "hackbench"' in text
    assert not (lab.cache / "kernels/builds").exists()


SLOW = ("--variant", "base: sched mode=slow", "--variant", "no-wa: sched mode=slow; NO_WA_IDLE")


def recorded(folder: Path) -> int:
    """Return how many runs a result has; nothing stays open, so another lab may go on with it."""
    with closing(Store.open(folder)) as store:
        return len(store.records())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_lab_goes_on_as_if_never_stopped(
    lab: FakeLab, tmp_path: Path, number: signal.Signals
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = ("run", "--target", f"sim:{lab.machine}", *BENCHMARK, *SLOW, "--blocks", 3)
    words += ("--jobs", 3)
    assert lab.call(*words, "--output", whole)[0] == 0
    process = lab.start(*words, "--output", cut)
    wait_until(lambda: len(list(cut.glob("raw/*/pid-*"))) >= 4, "the fourth run's begin")
    # In the plan's order: the first may be late.
    wait_until(lambda: recorded(cut), "a recorded run")
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in errors
    if number != signal.SIGKILL:
        assert process.returncode == 130, errors
        assert re.search(r"\d (run is|runs are) kept", errors)
        assert _survivors(cut) == []
    wait_until(lambda: not _survivors(cut), "the end of the simulators")
    finished = len(list(cut.glob("raw/*/run.json")))
    assert finished < 6
    status, _, errors = lab.call("run", "--resume", cut)
    assert status == 0, errors
    assert essence(cut) == essence(whole)


def test_resume_refuses_another_engine(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(lab, out, *BENCHMARK, *NO_WA, "--blocks", 3)
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    status, _, errors = lab.call("run", "--resume", out)
    assert (status, "Engine version was" in errors) == (2, True)


def test_trace_and_domains(lab: FakeLab, tmp_path: Path) -> None:
    out = tmp_path / "trace.txt"
    words = ("trace", lab.machine, *BENCHMARK, "--output", out)
    status, text, errors = lab.call(*words, "--events", "sched:*", "--ring", 5)
    assert status == 0, errors
    assert "HackbenchPipeThreads:groups=1,loops=10: time " in text
    assert out.read_text() == "# ftrace sched:* 5\n"
    assert lab.call(*words, "--format", "perfetto", "--variant", "x: NO_WA_IDLE")[0] == 0
    assert "perfetto" in out.read_text()
    status, _, errors = lab.call(*words, "--variant", "x: sched mode=warn")
    assert (status, "kernel WARNING" in errors) == (2, True)
    status, _, errors = lab.call(*words, "--cpus", "3-1")
    assert (status, "runs backwards" in errors) == (2, True)
    show = ("machine", "show", lab.machine, "--kernel")
    status, text, errors = lab.call(*show, "6.12")
    assert status == 0, errors
    assert text.endswith("cpu0/domain0/name:MC\ncpu0/domain0/span:0-3\n")
    status, _, errors = lab.call(*show, "6.21")
    assert (status, "Did you mean 6.12?" in errors) == (2, True)
    status, text, _ = lab.call(*show, "6.12", "--cpus", "1-3")
    assert (status, "cpu0/domain0" in text) == (0, False)
    for wrong in ("4", "0-99999999999", "x", ""):
        status, _, errors = lab.call(*show, "6.12", "--cpus", wrong)
        assert (status, "--cpus" in errors) == (2, True)


def _survivors(out: Path) -> list[str]:
    """Return the simulators that still run."""
    alive = []
    for path in out.glob("raw/*/pid-*"):
        pid = path.name.removeprefix("pid-")
        words = Path(f"/proc/{pid}/cmdline")
        if words.exists() and b"schedsim" in words.read_bytes():
            alive.append(pid)
    return alive
