import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from schedlab.base.data import data_folder
from schedlab.base.errors import HostError
from schedlab.kernels.native import CPUIDLE_SMT_PERFORMANCE, cpuidle_smt_performance
from tests.helpers.cpuidle_smt import HERE, SHORT, needs_two_cpus, placement, start, sysfs

pytestmark = needs_two_cpus
FIRST, OTHER = (str(cpu) for cpu in HERE[:2]) if len(HERE) > 1 else ("0", "1")


@pytest.fixture(scope="module")
def tool() -> Path:
    try:
        return cpuidle_smt_performance()
    except HostError as error:
        return Path(str(pytest.skip(str(error))))


def build(folder: Path, *words: str) -> Path:
    for program in ("make", *(word[3:] for word in words if word.startswith("CC="))):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    sources = data_folder("tools") / CPUIDLE_SMT_PERFORMANCE
    make = ["make", "-j2", "-C", sources, f"O={folder}", *words]
    made = subprocess.run(make, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return folder / CPUIDLE_SMT_PERFORMANCE


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sanitized"), "CC=gcc", "SANITIZE=address,undefined")


def measured(tool: Path, *words: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    done = start(tool, *placement(), *SHORT, *words, "--json", env=env)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def results(report: dict[str, Any]) -> dict[str, float]:
    return {result["name"]: result["value"] for result in report["results"]}


def test_the_report_has_the_shape_it_always_had(tool: Path, tmp_path: Path) -> None:
    idle = {
        int(OTHER): [
            {"name": "snooze", "usage": 7, "time": 70},
            {"name": "CEDE", "usage": 0, "time": 0},
        ]
    }
    env = sysfs(tmp_path, f"{FIRST}-{OTHER}", [f"{FIRST},{OTHER}"], idle)
    done = start(tool, *placement(), *SHORT, "-r", "120", env=env)
    assert done.returncode == 0, done.stderr
    expected = [
        rf"Workload\[PID \d+\] affined to CPUs: {FIRST},",
        rf"Irritator 0\[PID \d+\] affined to CPUs: {OTHER},",
        rf"Waker\[PID \d+\] affined to CPUs: {FIRST},",
        "=" * 47,
        " +Summary ",
        "=" * 47,
        "Irritator wakeup period = 120 us",
        r"Workload Throughput            = \d+\.\d{3} Mops/seconds",
        r"Overall average sleep duration = \d+\.\d{3} us",
        r"Overall average wakeup latency = \d+\.\d{3} us",
        r"\t  Overall State     snooze : Usage =        0, Time =         0 us\(0\.00 %\)",
        r"\t  Overall State       CEDE : Usage =        0, Time =         0 us\(0\.00 %\)",
        "=" * 47,
    ]
    for pattern, line in zip(expected, done.stdout.splitlines(), strict=False):
        assert re.fullmatch(pattern, line), line


def test_idle_states_are_counted_per_cpu_over_the_time_that_passed(
    tool: Path, tmp_path: Path
) -> None:
    """Counters move while it runs; one CPU has a state more than the other has."""

    def states(at: int) -> dict[int, list[dict[str, object]]]:
        snooze = {"name": "snooze", "usage": 1000 + 600 * at, "time": 5000 + 100_000 * at}
        cede = {"name": "CEDE", "usage": 40 * at, "time": 300_000 * at, "above": 3 * at}
        return {int(OTHER): [snooze, {**cede, "below": 10 + at, "rejected": 2 * at}]}

    for at, name in enumerate(("before", "after")):
        sysfs(tmp_path / name, f"{FIRST}-{OTHER}", [f"{FIRST},{OTHER}"], states(at))
    # The last counter that is read, once to list the states and once before the wait: who reads it
    # waits for us to write it.
    last = tmp_path / f"before/sys/devices/system/cpu/cpu{OTHER}/cpuidle/state1/rejected"
    last.unlink()
    os.mkfifo(last)
    link = tmp_path / "now"
    link.symlink_to("before")
    command = [tool, *placement(), "-t", "3", "-W", "0", "-v"]
    env = {**os.environ, "CPUIDLE_SMT_SYSFS": str(link / "sys")}
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as running:
        assert running.stdout
        last.write_text("0\n")
        while not running.stdout.readline().startswith("Waker"):
            pass
        last.write_text("0\n")
        (tmp_path / "next").symlink_to("after")
        (tmp_path / "next").rename(link)
        moved = time.monotonic()
        text = running.stdout.read()
    ended = time.monotonic()
    snooze = re.search(
        r"Overall State     snooze : Usage =      600, Time =    100000 us\((\d+\.\d+) %\)", text
    )
    percent = re.search(r"Overall State       CEDE : .* us\((\d+\.\d+) %\)", text)
    assert snooze and percent
    rounding = 0.005
    assert float(percent[1]) == pytest.approx(3 * float(snooze[1]), abs=4 * rounding)
    # Of 0.3 s. A busy host can begin late, so not of 3 s; but it read the old counters before they
    # moved and the new ones 3 s after its start at the earliest, and it was not there for longer.
    least, most = started + 3 - moved, ended - started
    assert (float(percent[1]) - rounding) * least <= 30 <= (float(percent[1]) + rounding) * most
    assert f"CPU {OTHER} State       CEDE : Usage =       40, Time =    300000 us" in text
    assert "above 3, below 1, rejected 2" in text


def test_every_wake_is_counted_once_by_its_own_sleeper(tool: Path) -> None:
    """More sleepers than their CPU can serve: late ones, none overwritten, none counted twice."""
    report = measured(tool, *["-i", OTHER] * 15, "-r", "20")
    each = [one["wakes"] + one["lost"] for one in report["irritators"]]
    assert len(each) == 16 and len(set(each)) == 1
    values = results(report)
    assert values["late wakes"] > 0
    assert values["wakes"] + values["lost wakes"] == sum(each)
    assert values["wakeup latency max"] > 20  # a late wake is not taken for the next one's


def test_periods_that_cannot_be_held_are_missed_not_stretched(tool: Path) -> None:
    report = measured(tool, "-r", "0.1")
    values = results(report)
    [irritator] = report["irritators"]
    slots = values["missed periods"] + irritator["wakes"] + irritator["lost"]
    assert values["missed periods"] > irritator["wakes"]
    # A waker that is kept off its CPU when time is up has not counted the last ones.
    assert 0 < slots <= 1.01 * report["elapsed_s"] / 0.1e-6


def test_the_period_may_be_counted_from_the_last_wake(tool: Path) -> None:
    values = results(measured(tool, "-r", "50", "--from-last-wake"))
    assert values["wake period"] > 50  # it is the pause between two rounds


def test_figures_fit_together(tool: Path) -> None:
    report = measured(tool, "-r", "200")
    values = results(report)
    assert report["elapsed_s"] > 0 and values["throughput"] > 0
    for name in ("wakeup latency", "sleep duration", "waker lateness"):
        rising = [values[f"{name} {which}"] for which in ("p50", "p90", "p99", "p99.9", "max")]
        assert rising == sorted(rising)
        assert 0 <= values[f"{name} mean"] <= values[f"{name} max"]
    counted = sum(count for _, _, count in report["histograms"]["wakeup_latency"])
    assert counted == values["wakes"]
    assert report["idle"] == [{"cpu": int(OTHER), "states": []}] or report["idle"][0]["states"]


def test_stopped_it_reports_the_time_it_had(tool: Path) -> None:
    command = [tool, *placement(), "-t", "50", "-W", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        while not running.stdout.readline().startswith("Waker"):
            pass
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        text = running.stdout.read()
    assert running.returncode == 130
    elapsed = re.search(r"Measured (\d+\.\d+) s", text)
    assert elapsed and 0 < float(elapsed[1]) < 50


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no irritator: name at least one CPU with -i"),
        (["-i", OTHER, "-a", FIRST], "no workload"),
        (["-i", OTHER, "-w", FIRST], "no waker"),
        (["-w", FIRST, "-i", FIRST, "-a", OTHER], "the workload is there"),
        (["-w", FIRST, "-i", OTHER, "-a", OTHER], "the waker is there"),
        (["-w", FIRST, "-i", OTHER, "-a", FIRST], "--sleep"),
        (["-w", FIRST, "-i", "8000", "-a", FIRST, "-s"], "--icpu 8000: this CPU is not online"),
        (["-i", "-1"], "--icpu '-1': is not a CPU"),
        (["-i", "0x1"], "--icpu '0x1': is not a CPU"),
        (["-i", "99999999999999999999"], "is not a CPU"),
        (["-t", "0"], "--timeout '0': must be 0.01 to 86400 s"),
        (["-t", "nan"], "--timeout 'nan'"),
        (["-r", "0"], "--period '0': must be 0.1 to 10000000 us"),
        (["-r", "fast"], "--period 'fast'"),
        (["-W", "-1"], "--warmup '-1'"),
        (["here"], "'here': is not an option"),
        (["--nothing"], "Try --help"),
    ],
)
def test_what_cannot_be_run_is_refused(tool: Path, words: list[str], said: str) -> None:
    done = start(tool, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_period_longer_than_the_run_is_refused(tool: Path) -> None:
    done = start(tool, *placement(), *SHORT, "-r", "1000000")
    assert done.returncode == 2
    assert "--timeout must be longer than --period" in done.stderr


def test_a_report_that_cannot_be_written_is_no_success(tool: Path) -> None:
    command = [tool, *placement(), *SHORT, "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "standard output cannot be written: No space left on device" in done.stderr


def test_a_cpu_where_no_thread_may_run_is_named(tool: Path, tmp_path: Path) -> None:
    """Online by sysfs, and still the kernel refuses it, as in a container's cpuset."""
    env = sysfs(tmp_path, "0-8000", [], {})
    done = start(tool, "-w", FIRST, "-i", "7777", "-a", FIRST, "-s", env=env)
    assert done.returncode == 2
    assert "--icpu 7777: no thread may run there: Invalid argument" in done.stderr


def test_it_warns_where_the_cpus_do_not_suit(tool: Path, tmp_path: Path) -> None:
    apart = sysfs(tmp_path / "apart", f"{FIRST}-{OTHER}", [FIRST, OTHER], {})
    [shared, siblings, no_states] = measured(tool, env=apart)["warnings"]
    assert "share CPU" in shared
    assert (
        f"CPU {OTHER} is not an SMT sibling of workload CPU {FIRST} (its core's CPUs: {FIRST})"
        in siblings
    )
    assert "shows no idle states" in no_states
    idle = {int(OTHER): [{"name": "C1", "disable": 0}, {"name": 'C"6', "disable": 1}]}
    together = sysfs(tmp_path / "together", f"{FIRST}-{OTHER}", [f"{FIRST},{OTHER}"], idle)
    report = measured(tool, env=together)
    assert report["warnings"][1:] == [f'CPU {OTHER}: idle state C"6 is disabled']
    assert [state["name"] for state in report["idle"][0]["states"]] == ["C1", 'C"6']


def test_the_self_test_measures_the_measuring(tool: Path) -> None:
    done = start(tool, "--self-test", *SHORT, "-t", "1", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert 0 < report["stamp_ns"]["mean"] < report["pipe_ns"]["mean"]
    assert report["stamp_ns"]["p50"] < report["wake_ns"]["p50"]
    assert "latency floor" in start(tool, "--self-test", *SHORT).stdout


WORD = st.one_of(
    st.sampled_from(["-w", "-i", "-a", "-r", "-t", "-W", "-s", "-g", "-v", "-j", "-h", "-S"]),
    st.sampled_from(
        [
            "--icpu",
            "--period=",
            "--json",
            "0",
            "1",
            "-1",
            "8191",
            "8192",
            "1e3",
            "1e400",
            "nan",
            "",
            "0,1",
            "\t",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(WORD, max_size=8))
@example(["-\x80"])
def test_no_words_break_it(sanitized: Path, words: list[str]) -> None:
    done = start(sanitized, *words, "--period", "100", "-t", "0.01", "-W", "0")
    assert done.returncode in (0, 2), done.stderr
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr


@pytest.mark.parametrize("mode", [["-v"], ["--json"], ["--self-test"]])
def test_it_has_no_errors_of_memory_or_arithmetic(sanitized: Path, mode: list[str]) -> None:
    words = [] if mode == ["--self-test"] else placement()
    done = start(sanitized, *words, *SHORT, "-t", "1", *mode, "-i", OTHER)
    assert done.returncode == 0, done.stderr


def test_its_threads_share_no_data_unordered(tmp_path: Path) -> None:
    program = build(tmp_path, "CC=gcc", "SANITIZE=thread")
    done = start(program, *placement(), *SHORT, "-i", OTHER)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not know this kernel's memory layout")
    assert done.returncode == 0, done.stderr


COMPILERS: list[tuple[str, Callable[[bytes], bool]]] = [
    ("clang", lambda elf: elf[:4] == b"\x7fELF"),
    ("aarch64-linux-gnu-gcc", lambda elf: elf[18:20] == b"\xb7\x00"),
]


@pytest.mark.parametrize(("compiler", "fits"), COMPILERS)
def test_it_builds_with(compiler: str, fits: Callable[[bytes], bool], tmp_path: Path) -> None:
    program = build(tmp_path, f"CC={compiler}")
    assert fits(program.read_bytes()[:20])
