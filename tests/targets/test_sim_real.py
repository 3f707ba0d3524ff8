"""The real engine with real kernel sources: built, patched, run. Skipped where they are missing."""

import json
import re
import shutil
from pathlib import Path

import pytest

from schedlab.base.errors import SchedlabError
from schedlab.kernels.engine import find_engine
from schedlab.plan.plan import find_suite
from schedlab.result.store import Store
from tests.helpers import builds
from tests.helpers.fake_engine import FakeLab
from tests.helpers.kernel_source import kernel_source
from tests.helpers.rt_app_files import EXAMPLES

NEWIDLE = """\
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -{line},1 +{line},1 @@
-{old}
+{new}
"""


@pytest.fixture(scope="module", params=["6.12", "6.1"])
def series(request: pytest.FixtureRequest) -> str:
    try:
        find_engine()
    except SchedlabError as error:
        pytest.skip(str(error))
    if shutil.which("gcc") is None or shutil.which("bc") is None:
        pytest.skip("gcc and bc are needed")
    name: str = request.param
    kernel_source(name)
    return name


@pytest.fixture
def lab(
    tmp_path: Path,
    series: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    usual_reports: None,
) -> FakeLab:
    builds.build(series)
    engine = find_engine().folder
    made = FakeLab(tmp_path, monkeypatch, capsys)
    made.cache = builds.CACHE
    made.env = {"SCHEDLAB_ENGINE": str(engine), "SCHEDLAB_CACHE": str(builds.CACHE)}
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    return made


def fair_patch(lab: FakeLab, series: str) -> Path:
    """Return a patch that has newidle balance look for work half as far ahead."""
    lines = (kernel_source(series) / "kernel/sched/fair.c").read_text().split("\n")
    old = "\tunsigned long next_balance = jiffies + HZ;"
    line = lines.index(old) + 1
    patch = lab.folder / "half.patch"
    patch.write_text(NEWIDLE.format(line=line, old=old, new=old.replace("HZ;", "HZ / 2;")))
    return patch


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # what is shared goes by no tree
def test_a_kernel_builds_and_a_patch_rebuilds_little(lab: FakeLab, series: str) -> None:
    status, out, errors = lab.call("kernel", "build", series)
    assert status == 0, errors
    assert f"{series}: Linux {series}." in out
    words = ("--base", series, "--patch", fair_patch(lab, series))
    status, _, errors = lab.call("kernel", "build", f"half-{series}", *words)
    assert status == 0, errors
    log = (builds.objects(f"half-{series}") / "make.log").read_text()
    assert "kernel/sched/fair.c" in log
    assert "kernel/sched/core.c" not in log, "what the patch does not touch is shared"


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # the lab's part, of any tree
def test_a_run_is_the_same_for_any_number_of_jobs(
    lab: FakeLab, series: str, tmp_path: Path
) -> None:
    machine = Path(__file__).parents[2] / "machines" / "smp4.toml"
    if not machine.is_file():
        pytest.skip("the machine files are not there")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"target = 'sim:{machine}'\nload_warmup = 'none'\n"
        "[[benchmark]]\nname = 'HackbenchPipeThreads'\nparams = { groups = 1, loops = 50 }\n"
        "[[benchmark]]\nname = 'PerfBenchSchedPipe'\nparams = { loops = 300 }\n"
        f"[[variant]]\nname = 'base'\nkernel = '{series}'\n"
        "[[variant]]\nname = 'no-wa'\nsched_features = ['NO_WA_IDLE']\n"
    )
    kept = []
    for jobs in (1, 2):
        out = tmp_path / f"out-{jobs}"
        status, _, errors = lab.call("run", plan, "--blocks", 2, "--output", out, "--jobs", jobs)
        assert status == 0, errors
        runs = Store.open(out).records()
        assert [record.error for record in runs if record.status != "ok"] == []
        kept.append([(r.key, r.metrics, r.counters, r.settings) for r in runs])
    assert kept[0] == kept[1]


COMMON = {  # suite `common`, each for a moment
    "PerfBenchSchedPipe": "loops = 100",
    "PerfBenchSchedMessaging": "loops = 2",
    "PerfBenchMemMemset": "loops = 1, size = '64MB'",
    "PerfBenchFutexWake": "threads = 200",
    "SysBenchCpu": "time = 1, threads = 4",
    "SysBenchMemory": "time = 1, total_size = '16MB'",
    "SysBenchThreads": "time = 1, threads = 2",
    "SysBenchMutex": "threads = 16, locks = 50",
    "HackbenchForkSockets": "groups = 1, loops = 5",
    "HackbenchPipeThreads": "groups = 1, loops = 5",
    "HackbenchPipeThreads4k": "groups = 1, loops = 5",
}


def test_the_common_suite_runs(lab: FakeLab, series: str, tmp_path: Path) -> None:
    suite, _ = find_suite("common")
    assert {entry.name for entry in suite.benchmark} == set(COMMON)
    plan = tmp_path / "plan.toml"
    chosen = (f"[[benchmark]]\nname = '{n}'\nparams = {{ {of} }}\n" for n, of in COMMON.items())
    cold = "target = 'sim:kunpeng-920-6426-2p'\nload_warmup = 'none'\n"
    base = f"[[variant]]\nname = 'base'\nkernel = '{series}'\n"
    other = f"[[variant]]\nname = 'no-wa'\nkernel = '{series}'\nsched_features = ['NO_WA_IDLE']\n"
    plan.write_text(cold + "".join(chosen) + base + other)
    status, _, errors = lab.call("run", plan, "--blocks", 1, "--output", tmp_path / "out")
    assert status == 0, errors
    runs = Store.open(tmp_path / "out").records()
    assert len(runs) == 2 * len(COMMON)
    assert [(run.key, run.error) for run in runs if run.status != "ok"] == []


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # the lab's part, of any tree
def test_a_result_gives_the_same_hashes_elsewhere(
    lab: FakeLab, series: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    shutil.move(fair_patch(lab, series), here / "half.patch")
    shutil.copy(Path(__file__).parents[2] / "machines" / "smp4.toml", here / "mine.toml")
    [periodic] = [path for path in EXAMPLES if path.stem == "periodic"]
    shutil.copy(periodic, here / "periodic.json")
    (here / "plan.toml").write_text(
        "target = 'sim:mine.toml'\nworkload = ['periodic.json']\nload_warmup = 'none'\n"
        "[[benchmark]]\nname = 'HackbenchPipeThreads'\nparams = { groups = 1, loops = 50 }\n"
        f"[[kernel]]\nname = 'moved-{series}'\nbase = '{series}'\npatches = ['half.patch']\n"
        f"[[variant]]\nname = 'base'\n[[variant]]\nname = 'half'\nkernel = 'moved-{series}'\n"
        "[blocks]\nlooks = [2]\n"
    )
    status, _, errors = lab.call("run", "plan.toml", "--output", "out")
    assert status == 0, errors
    shutil.move(here / "out", elsewhere / "result")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(here)
    # What it was built of came with the result: it is the content that another name has too.
    assert lab.call("kernel", "remove", f"moved-{series}")[0] == 0
    status, _, errors = lab.call("run", elsewhere / "result/plan.toml", "--output", "again")
    assert (status, "this differs from the result" in errors) == (0, False), errors
    hashes = [
        {record.key: record.trace for record in Store.open(folder).records()}
        for folder in (elsewhere / "result", tmp_path / "again")
    ]
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 8, "two blocks of each benchmark and variant"
    assert all(hashes[0].values())


def test_where_two_variants_part(lab: FakeLab, series: str, tmp_path: Path) -> None:
    file = tmp_path / "both.json"
    asked = (
        *("--machine", "smp4", "--output", file),
        *("--benchmark", "HackbenchPipeThreads:groups=1,loops=50"),
    )
    base = f"base: kernel={series}"
    status, out, errors = lab.call("diverge", base, f"again: kernel={series}", *asked)
    assert status == 0, errors
    assert out.startswith("No difference: base and again took the same ")
    rest = f"rest: kernel={series}; NO_WA_IDLE"
    status, out, errors = lab.call("diverge", base, rest, *asked)
    assert status == 0, errors
    assert re.match("base and rest part in .*, after [0-9,]+ equal decisions.\n", out)
    assert len(out.splitlines()) <= 21
    assert re.search("^wakeup placement: .* differ$", out, re.MULTILINE)
    events = json.loads(file.read_text())["traceEvents"]
    ran = {(e["pid"], e["name"].partition("-")[0]) for e in events if e["ph"] == "X"}
    assert {(pid, name) for pid in (1, 2) for name in ("sender", "receiver")} <= ran
    status, out, errors = lab.call("diverge", base, rest, *asked, "--verbose", "--window", "20us")
    assert status == 0, errors
    first, second = out.split("\nbase, ")[1].split("\nrest, ")
    assert "pick_next" in first and "pick_next" in second
    figures = r"(?<=delay=)\d+|(?<=runtime=)\d+|(?<=\.\d{6})\d{3}(?=: )"
    before = [re.sub(figures, "", text.splitlines()[1]) for text in (first, second)]
    assert before[0] == before[1], "but for what looking at the waker's CPU takes"


def test_a_scenario_in_place_of_a_benchmark(lab: FakeLab, series: str, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(
        '{"duration": "20ms", "tasks":'
        ' [{"count": 8, "program": [{"run": "1ms"}, {"sleep": "1ms"}]}]}'
    )
    knob = "min_granularity_ns" if series == "6.1" else "base_slice_ns"
    variants = (f"base: kernel={series}", f"slow: kernel={series}; sched {knob}=9000000")
    asked = ("--machine", "smp4", "--workload", scenario)
    status, _, errors = lab.call("diverge", *variants, *asked)
    assert status == 0, errors
    scenario.write_text('{"durations": "20ms"}')
    status, _, errors = lab.call("diverge", *variants, *asked)
    assert status != 0
    assert "durations" in errors


def test_what_idle_and_frequency_governors_choose(
    lab: FakeLab, series: str, tmp_path: Path
) -> None:
    load = tmp_path / "load.json"
    load.write_text(
        '{"tasks": {"t": {"instance": 4, "loop": 40, "run": 700,'
        ' "timer": {"ref": "unique", "period": 2000}}}}'
    )
    asked = ("--machine", "hikey960", "--workload", load)
    base = f"base: kernel={series}; governor schedutil"
    status, out, errors = lab.call(
        "diverge", base, f"{base}; idle-governor teo".replace("base", "teo", 1), *asked
    )
    assert status == 0, errors
    assert re.search("^choice of the idle state: .* differ$", out, re.MULTILINE)
    status, out, errors = lab.call("diverge", f"fast: kernel={series}", base, *asked)
    assert status == 0, errors
    assert re.search("^choice of the frequency: 0 / [0-9,]+ decisions", out, re.MULTILINE)


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # the lab's part, of any tree
def test_variants_that_boot_otherwise(lab: FakeLab, series: str) -> None:
    status, out, errors = lab.call(
        *("diverge", f"base: kernel={series}", f"apart: kernel={series}; cmdline isolcpus=3"),
        *("--machine", "smp4", "--benchmark", "HackbenchPipeThreads:groups=1,loops=20"),
    )
    assert status == 0, errors
    assert out.startswith("base and apart parted before the workload began, in ")


def test_features_of_one_patched_build(lab: FakeLab, series: str, tmp_path: Path) -> None:
    """All of ours, which the tests of the engine have built, by their names."""
    builds.patched(series)
    patches = builds.patches(series)
    words = [word for patch in patches for word in ("--patch", patch.stem)]
    if hz := builds.HZ_WITH_PATCHES.get(series):
        words += ["--hz", str(hz)]
    status, out, errors = lab.call(
        "kernel", "build", f"policies-{series}", "--base", series, *words
    )
    assert status == 0, errors
    assert f"with {', '.join(patch.name for patch in patches)}, build" in out
    status, _, errors = lab.call(
        *("run", "--target", "sim:hikey960", "--output", tmp_path / "out", "--blocks", 2),
        *("--benchmark", "HackbenchForkSockets:groups=1,loops=20"),
        *("--variant", f"on: kernel=policies-{series}"),
        *("--variant", f"off: kernel=policies-{series}; NO_GROUP_UTIL; NO_MISFIT"),
    )
    assert status == 0, errors
    runs = Store.open(tmp_path / "out").records()
    assert [run.error for run in runs if run.status != "ok"] == []
    on, off = ([r.metrics for r in runs if r.key.variant == name] for name in ("on", "off"))
    assert len(on) == len(off) == 2
    assert on != off, "they decide where forks land"


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # the lab's part, of any tree
def test_a_workload_of_a_file(lab: FakeLab, series: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(EXAMPLES[-2].read_text())
    out = tmp_path / "out"
    status, _, errors = lab.call(
        *("run", "--target", "sim:smp4", "--workload", file, "--blocks", 2, "--output", out),
        *("--variant", f"base: kernel={series}", "--variant", "no-wa: NO_WA_IDLE"),
    )
    assert status == 0, errors
    first = Store.open(out).records()[0]
    assert set(first.metrics) == {"wakeup_latency", "wakeup_latency_p99", "slack", "run"}
    left = {path.name for path in (out / first.raw).iterdir()}
    [copy] = [name for name in left if name.startswith("mine-")]
    assert (out / first.raw / copy).read_text() == file.read_text()
    assert len([name for name in left if name.endswith(".log")]) == 4
    file.write_text(file.read_text().replace('"run" : 500', '"run" : 600'))
    status, _, errors = lab.call("run", "--resume", out)
    assert (status, f"mine was `simulated: rt-app --file {copy} --logdir .`, is" in errors) == (
        2,
        True,
    ), errors


@pytest.mark.parametrize(
    ("machine", "both", "first", "second"),
    [
        (
            "hikey960",
            "governor = 'schedutil'",
            "cgroup = { path = 'a/x', 'cpu.uclamp.min' = 0 }",
            "cgroup = { path = 'a/x', 'cpu.uclamp.min' = 40 }",
        ),
        ("smt8", "", "core_sched = 'process'", "core_sched = 'benchmark'"),
        (
            "smt8",
            "",
            "cgroup = { path = 'x', 'cpu.max' = '50000' }",
            "cgroup = { path = 'x', 'cpu.max' = '50000', 'cpu.max.burst' = 9000 }",
        ),
        ("smt8", "", "policy = { name = 'batch' }", "policy = { name = 'fifo', priority = 3 }"),
        ("smt8", "", "policy = { name = 'normal' }", "policy = { name = 'normal', nice = 5 }"),
    ],
)
def test_settings_of_the_workload(
    lab: FakeLab, series: str, tmp_path: Path, machine: str, both: str, first: str, second: str
) -> None:
    """They are tried before the first run, without the benchmark."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"target = 'sim:{machine}'\nload_warmup = 'none'\n[common]\n{both}\n"
        "[[benchmark]]\nname = 'HackbenchPipeThreads'\nparams = { groups = 1, loops = 20 }\n"
        f"[[variant]]\nname = 'one'\nkernel = '{series}'\n{first}\n"
        f"[[variant]]\nname = 'two'\nkernel = '{series}'\n{second}\n"
    )
    status, _, errors = lab.call("run", plan, "--blocks", 1, "--output", tmp_path / "out")
    assert status == 0, errors
    one, two = sorted(Store.open(tmp_path / "out").records(), key=lambda run: run.key.variant)
    assert (one.error, two.error, one.settings == two.settings) == ("", "", False)


def test_a_wrong_file_is_told_before_any_run(lab: FakeLab, series: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"tasks" : {"a" : {"loop" : 1,\n"run" : "x"}}}')
    status, _, errors = lab.call(
        *("run", "--target", "sim:smp4", "--workload", file, "--output", tmp_path / "out"),
        *("--variant", f"base: kernel={series}", "--variant", "no-wa: NO_WA_IDLE"),
    )
    assert (status, f"{file}:2: tasks.a.run: a whole number is expected" in errors) == (2, True)
    assert not (tmp_path / "out").exists()
