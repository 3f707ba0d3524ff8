"""The whole lab, end to end, on an emulated host: no tool installed, no privilege."""

import re
from pathlib import Path

import pytest

from schedlab.judging.analysis import analyse
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.emulated import NUMA_BALANCING, PROGRAMS, emulated_host

NB_OFF = "NB-OFF: sysctl kernel.numa_balancing=0"


@pytest.fixture
def host(tmp_path: Path) -> str:
    return f"emulated:{emulated_host(tmp_path / 'host')}"


@pytest.mark.usefixtures("pages")
def test_an_answer_to_a_question(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, text, err = cli(
        *("run", "--target", host, "--suite", "common", "--variant", NB_OFF),
        *("--looks", "6,12", "--output", out),
    )
    assert status == 0, err
    for name in ("report.html", "report.md", "report.txt"):
        assert f"wrote {out / name}" in text
        assert (out / name).stat().st_size > 1000
    store = Store.open(out)
    assert not [record.error for record in store.records() if record.status != "ok"]
    words = {o.case.label: o.verdict.word for o in analyse(store).outcomes}
    assert words["HackbenchPipeThreads"] == "better", "its figure falls by 10 % when NB is off"
    assert words["SysBenchCpu"] == "equivalent", "its noise is 0.05 %"
    assert words["HackbenchForkSockets"] == "can't tell", "its noise is 25 %"
    assert "worse" not in words.values()
    settings = {r.key.variant: r.settings for r in store.records()}
    assert settings == {
        "base": {"kernel.numa_balancing": "1"},
        "NB-OFF": {"kernel.numa_balancing": "0"},
    }
    counted = {name for record in store.records() for name in record.counters}
    assert {"sched:sched_migrate_task", "context-switches", "cpuidle:WFI:usage"} <= counted
    assert any("schedstat" in line for line in store.notices)
    assert store.environment["NUMA nodes"] == "2"


def test_an_a_a_run_claims_nothing(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, text, _ = cli(
        "run", "--target", host, "--suite", "common", "--aa", "--blocks", 6, "--output", out
    )
    assert status == 0
    assert "A/A" in text
    store = Store.open(out)
    assert {variant.name for variant in store.plan.variant} == {"A1", "A2"}
    assert not {o.verdict.word for o in analyse(store).outcomes} & {"better", "worse"}


def test_auto_takes_what_the_host_can_switch(cli: Cli, host: str, tmp_path: Path) -> None:
    options = ("--suite", "quick", "--variant", "auto", "--dry-run")
    status, text, _ = cli("run", "--target", host, *options)
    assert status == 0
    assert "write 0 to /proc/sys/kernel/numa_balancing (now 1)" in text
    assert "hackbench --pipe --threads --loops 10 --datasize=4096" in text
    assert "22 runs a block" in text
    assert "1 warm-up and at most 40 blocks: 902 runs" in text
    nothing = emulated_host(tmp_path / "nothing", refused=[NUMA_BALANCING])
    for path in (nothing / "root/sys").glob("**/cpuidle/state*/*"):
        path.unlink()
    (nothing / "root/sys/kernel/debug/sched/features").unlink()
    out = tmp_path / "out"
    status, text, err = cli(
        *("run", "--target", f"emulated:{nothing}", "--variant", "auto", "--blocks", 2),
        *("--benchmark", "SysBenchCpu", "--output", out),
    )
    assert status == 0, err
    assert "A/A" in text
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'benchmark = [{ name = "SysBenchCpu" }]\nblocks = { looks = [2] }\n'
        '[[variant]]\nname = "x"\n[[variant]]\nname = "y"\nenv = { A = "1" }\n'
    )
    words = ("run", plan, "--target", f"emulated:{nothing}", "--variant", "auto", "--output")
    status, text, err = cli(*words, tmp_path / "out2")
    assert status == 0, err
    assert [v.name for v in Store.open(tmp_path / "out2").plan.variant] == ["A1", "A2"]


def test_a_dry_run_touches_nothing(cli: Cli, host: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert cli("run", "--target", host, "--suite", "quick", "--aa", "--dry-run")[0] == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_fail_on_worse(cli: Cli, tmp_path: Path) -> None:
    slower = [{**PROGRAMS[4], "effect": [{"file": NUMA_BALANCING, "holds": "0", "times": 0.8}]}]
    host = emulated_host(tmp_path / "host", programs=slower)
    common = ("run", "--target", f"emulated:{host}", "--benchmark", "SysBenchCpu", "--blocks", 6)
    out = tmp_path / "out"
    status, text, _ = cli(*common, "--variant", NB_OFF, "--fail-on", "worse", "--output", out)
    assert status == 1
    assert "worse" in text
    assert cli(*common, "--variant", NB_OFF, "--output", tmp_path / "again")[0] == 0


def test_a_plan_file_and_options_that_change_it(cli: Cli, host: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'suite = "quick"\ntarget = "{host}"\ncounters = ["procstat"]\n'
        '[[variant]]\nname = "Default"\n[[variant]]\nname = "NB-OFF"\n'
        'sysctl = { "kernel.numa_balancing" = 0 }\n[blocks]\nlooks = [3]\nwarmup = 0\n'
    )
    out = tmp_path / "out"
    status, text, err = cli("run", plan, "--only", "SysBenchCpu", "--looks", "2", "--output", out)
    assert status == 0, err
    store = Store.open(out)
    assert len(store.records()) == 4
    assert set(store.records()[0].counters) >= {"context-switches"}
    assert not any("perf" in record.command for record in store.records())
    assert "screening" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--suite", "quick"], "no variant is given"),
        (["--variant", NB_OFF], "names nothing to run: a suite, a benchmark"),
        (["--suite", "qick", "--aa"], "no suite is called 'qick'. Did you mean quick"),
        (["--benchmark", "SysBenchCpu:tiem=3", "--aa"], "Did you mean time"),
        (["--benchmark", "SysBenchCpu:time", "--aa"], "NAME:KEY=VALUE"),
        (["--benchmark", "SysBenchCpu:threads=-3", "--aa"], "at least 1 is needed"),
        (["--suite", "quick", "--aa", "--looks", "x"], "write it as 6,12,24,40"),
        (["--suite", "quick", "--aa", "--looks", "12,6"], "must rise"),
        (["--suite", "quick", "--aa", "--blocks", "0"], "'--blocks': 0 is not in the range"),
        (
            ["--suite", "quick", "--aa", "--margin", "x"],
            "'x' is not a percentage; write it as 2 or 2%",
        ),
        (
            ["--suite", "quick", "--aa", "--margin", "0"],
            "'0' is not between 0 and 100 %",
        ),
        (["--suite", "quick", "--aa", "--timeout", "1y"], "is not a duration"),
        (["--suite", "quick", "--aa", "--counters", "tracepoint"], "Did you mean tracepoints"),
        (["--suite", "quick", "--aa", "--counters", "nope", "--dry-run"], "none is called 'nope'"),
        (["--suite", "quick", "--aa", "--jobs", "x"], "'x' is not a valid integer"),
        (["--suite", "quick", "--aa", "--jobs", "2", "--dry-run"], "would disturb each other"),
        (["--suite", "quick", "--aa", "--jobs", "2"], "would disturb each other"),
        (["--suite", "quick", "--variant", "base"], "a single variant is compared with the host"),
        (["--suite", "quick", "--variant", "x: 'y"], "a quotation mark is not closed"),
        (["--suite", "quick", "--aa", "--target", "mars"], "no target is called 'mars'"),
        (
            ["--target", "mars", "--suite", "quick", "--variant", "x: cgroup b cpuset.cpus=0"],
            "no target is",
        ),
        (["--suite", "quick", "--variant", "x: NO_WA_IDEL"], "Did you mean WA_IDLE"),
        (["--suite", "quick", "--variant", "x: sysctl kernel.numa_balancing=1"], "are the same"),
        (["--suite", "quick", "--variant", NB_OFF, "--aa"], "--aa compares the host with itself"),
        (["--suite", "quick", "--variant", "auto", "--aa"], "--aa compares the host with itself"),
        (
            ["--suite", "quick", "--variant", "A", "--variant", NB_OFF, "--aa", "--dry-run"],
            "needs variants that are the same; ",
        ),
        (["--benchmark", "SysBenchCpu:time=1,time=2", "--aa"], "time is given twice"),
        (["--benchmark", "SysBenchCpu:time=[1,2],time=2", "--aa"], "time is given twice"),
        (
            ["--resume", "/nonexistent", "--budget", "9s"],
            "Begin a new result with a longer --budget",
        ),
        (["--resume", "/nonexistent", "--warmup", "0"], "leave out the other options"),
        (["--resume", "/nonexistent", "--suite", ""], "leave out the other options"),
        (["--resume", "/nonexistent", "--seed", "0"], "leave out the other options"),
        (["--suite", "quick", "--variant", "x: prefix nope"], "nope is not installed"),
        (["--benchmark", "LikwidStream", "--aa"], "apt-get install likwid"),
        (["--resume", "/nonexistent"], "not a result folder"),
        (["/nonexistent.toml"], "cannot be read"),
        (["--suite", "quick", "--aa", "--output", "/proc/x"], "cannot be written"),
    ],
)
def test_bad_input_is_one_clear_error(
    cli: Cli, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    target = [] if {"--target", "--resume"} & set(words) else ["--target", host]
    status, _, err = cli("run", *target, *words)
    assert status == 2
    assert err.startswith("schedlab: ") or err.startswith("Usage: ")
    assert why in err
    assert not (tmp_path / "results").exists() or not list((tmp_path / "results").iterdir())


def test_tools_that_fail_are_results_of_their_own(cli: Cli, tmp_path: Path) -> None:
    programs = [
        {"match": "sysbench cpu", "stdout": "events per second: \0\xff garbage"},
        {"match": "sysbench threads", "stdout": ""},
        {"match": "hackbench", "status": 1, "stderr": "fork(): Resource temporarily unavailable"},
        {"match": "sched pipe", "hangs": True},
        PROGRAMS[1],
    ]
    host = emulated_host(tmp_path / "host", programs=programs)
    out = tmp_path / "out"
    names = ("SysBenchCpu", "SysBenchThreads", "HackbenchForkSockets", "PerfBenchSchedPipe")
    benchmarks = [word for name in names for word in ("--benchmark", name)]
    status, text, err = cli(
        *("run", "--target", f"emulated:{host}", *benchmarks, "--variant", NB_OFF),
        *("--benchmark", "PerfBenchSchedMessaging", "--blocks", 6, "--output", out),
    )
    assert status == 0, err
    errors = {r.key.case: r.error for r in Store.open(out).records() if r.status == "failed"}
    assert "no 'total number of events:' line" in errors["SysBenchCpu"]
    assert "no 'total number of events:' line" in errors["SysBenchThreads"]
    assert "Resource temporarily unavailable" in errors["HackbenchForkSockets"]
    assert "did not end within 10min" in errors["PerfBenchSchedPipe"]
    assert "is left out" in err
    assert "failed" in text
    results = {o.case.label: o.verdict.n for o in analyse(Store.open(out)).outcomes}
    assert results["PerfBenchSchedMessaging"] == (6, 6)


def test_resume_refuses_another_kernel(cli: Cli, tmp_path: Path) -> None:
    folder = emulated_host(tmp_path / "host")
    out = tmp_path / "out"
    common = ("--target", f"emulated:{folder}", "--benchmark", "SysBenchCpu", "--blocks", 2)
    assert cli("run", *common, "--aa", "--output", out)[0] == 0
    runs = len(Store.open(out).records())
    assert cli("run", "--resume", out)[0] == 0
    assert len(Store.open(out).records()) == runs, "there was nothing left to do"
    (folder / "root/proc/sys/kernel/osrelease").write_text("6.6.6\n")
    status, _, err = cli("run", "--resume", out)
    assert status == 2
    assert "Kernel release was 5.7.0-rc5+, is 6.6.6" in err


def test_resume_goes_on_though_a_guest_was_given_memory(cli: Cli, tmp_path: Path) -> None:
    folder = emulated_host(tmp_path / "host")
    out = tmp_path / "out"
    common = ("--target", f"emulated:{folder}", "--benchmark", "SysBenchCpu", "--blocks", 2)
    assert cli("run", *common, "--aa", "--output", out)[0] == 0
    node = "root/sys/devices/system/node/node0/meminfo"
    for file in (folder / "root/proc/meminfo", folder / node):
        file.write_text(re.sub(r"MemTotal: *\d+", "MemTotal: 99999999", file.read_text()))
    status, _, err = cli("run", "--resume", out)
    assert status == 0, err
    (folder / "root/proc/sys/kernel/random/boot_id").write_text("another\n")
    for _ in range(2):
        status, _, err = cli("run", "--resume", out)
        assert status == 2, "a refusal does not keep the result locked"
    assert "Memory (GB) was 16, is 95; the machine differs in " in err


def test_lists_and_help(cli: Cli) -> None:
    for words in (["list", "benchmarks"], ["list", "suites"], ["list", "counters"], ["--help"]):
        status, text, _ = cli(*words)
        assert status == 0
        assert text
    status, _, err = cli("rnu")
    assert status == 2
    assert "Did you mean run" in err
