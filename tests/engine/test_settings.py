"""Settings are read back through the kernel's own files, and a value that does not stick is reported."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from test_build import patched_build

from tests.helpers.engine.simulator import (
    Json,
    Simulator,
    build,
    has_cache_groups,
    machine,
    scales_groups,
    tasks,
)

DEBUG = "/sys/kernel/debug/sched"
RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


def idle(**settings: Json) -> Json:
    return {"duration": "1ms", **settings}


def test_read_back_into_the_result(sim: Simulator, series: str) -> None:
    knobs = {
        f"{DEBUG}/verbose": "1",
        f"{DEBUG}/nr_migrate": "0x10",
        f"{DEBUG}/tunable_scaling": "0",
        RT_RUNTIME: "-1",
        "/proc/sys/kernel/sched_schedstats": "0",
    }
    settings = sim("smp4", idle(knobs=knobs, features={"WA_IDLE": False}))["settings"]
    features = settings.pop(f"{DEBUG}/features").split()
    assert "NO_WA_IDLE" in features and "WA_WEIGHT" in features and "WA_IDLE" not in features
    assert settings == {
        f"{DEBUG}/verbose": "Y",
        f"{DEBUG}/nr_migrate": "16",
        f"{DEBUG}/tunable_scaling": "0",
        RT_RUNTIME: "-1",
        "/proc/sys/kernel/sched_schedstats": "0",
    }


def test_balance_is_counted_only_with_schedstats(sim: Simulator) -> None:
    """The kernel counts its passes then; without, their counters are left out, not zero."""

    def counted(**settings: Json) -> bool:
        return any(":calls:" in name for name in sim("smp4", idle(**settings))["counters"])

    assert counted()
    assert not counted(knobs={"/proc/sys/kernel/sched_schedstats": "0"})


@pytest.mark.parametrize(("word", "shown"), [("N", "N"), ("off", "N"), ("y", "Y"), ("on", "Y")])
def test_a_flag_is_written_as_the_kernel_takes_it(sim: Simulator, word: str, shown: str) -> None:
    path = f"{DEBUG}/verbose"
    assert sim("smp4", idle(knobs={path: word}))["settings"][path] == shown


@pytest.mark.parametrize("name", ["verbose", "llc_balancing/enabled"])
def test_what_is_not_a_flag_is_refused_as_that(sim: Simulator, series: str, name: str) -> None:
    if "/" in name and not has_cache_groups(series):
        pytest.skip("cache-aware scheduling is of 7.x")
    done = sim.start("smp4", idle(knobs={f"{DEBUG}/{name}": "maybe"}))
    assert (done.returncode, "Invalid argument; it takes 0 or 1" in done.stderr) == (2, True)
    assert sim("smp4", idle(knobs={f"{DEBUG}/{name}": "off"}))


@pytest.mark.parametrize(
    ("file", "lacking"),
    [
        (f"{DEBUG}/llc_balancing/enabled", "trees have cache-aware scheduling from 7.2 on"),
        ("/sys/kernel/debug/x86/sched_itmt_enabled", "where the machine prefers cores"),
        ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "has no such idle state"),
    ],
)
def test_where_there_is_no_such_file_what_is_lacking_is_told(
    sim: Simulator, series: str, file: str, lacking: str
) -> None:
    if "llc" in file and has_cache_groups(series):
        pytest.skip("this tree has it")
    done = sim.start("smp4", idle(knobs={file: "0"}))
    assert done.returncode == 2
    assert f"{file}: this kernel does not have it: " in done.stderr
    assert lacking in done.stderr


@pytest.mark.parametrize(
    ("file", "beside"),
    [("numa_balancing/scan_size", "scan_size_mb"), ("llc_balancing/enabld", "enabled, aggr_tole")],
)
def test_a_misspelt_file_of_a_folder_is_told_the_others(
    sim: Simulator, series: str, file: str, beside: str
) -> None:
    if "llc" in file and not has_cache_groups(series):
        pytest.skip("cache-aware scheduling is of 7.x")
    done = sim.start("smp4", idle(knobs={f"{DEBUG}/{file}": "0"}))
    assert done.returncode == 2
    assert f"{file}: this kernel has no such file; those beside it are" in done.stderr
    assert beside in done.stderr


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("numa_balancing", "it is a folder; the files in it are "),
        (
            "numa_balncing/scan_size_mb",
            f"this kernel has no such file; it has {DEBUG}/numa_balancing/scan_size_mb",
        ),
        ("nothing/of/the_kind", "this kernel has no such file, nor one of almost that name"),
    ],
    ids=["folder", "misspelt", "strange"],
)
def test_a_file_that_is_none_is_told_from_a_misspelt_one(
    sim: Simulator, file: str, words: str
) -> None:
    done = sim.start("smp4", idle(knobs={f"{DEBUG}/{file}": "0"}))
    assert done.returncode == 2
    assert f"{file}: " in done.stderr
    assert words in done.stderr


def test_features_are_told_without_being_set(sim: Simulator) -> None:
    assert list(sim("smp4", idle())["settings"]) == [f"{DEBUG}/features"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_value_that_does_not_stick_is_refused(tmp_path: Path, at_once: bool) -> None:
    """A kernel that takes a value and keeps another one: as a setting and as an action."""
    build("6.12")
    pattern, kept = r"(sysctl_sched_tunable_scaling = scaling);", r"\1 ? 1 : 0;"
    binary = patched_build("6.12", "unruly", tmp_path, "kernel/sched/debug.c", pattern, kept)
    path = f"{DEBUG}/tunable_scaling"
    scenario = (
        idle(knobs={path: "2"})
        if at_once
        else {"duration": "9ms", "actions": [{"at": "5ms", "write": path, "value": "2"}]}
    )
    done = Simulator(binary, tmp_path).start("smp4", scenario)
    assert done.returncode == 2
    assert f"{path}: wrote 2, read back 1" in done.stderr


def test_an_action_switches_a_feature(sim: Simulator) -> None:
    """The file reads as the list of all features."""
    for word in ("NO_WA_IDLE", "WA_IDLE"):
        write = {"at": "1ms", "write": f"{DEBUG}/features", "value": word}
        sim("smp4", {"duration": "2ms", "actions": [write]})


@pytest.mark.parametrize("enabled", ["0", "1"])
def test_the_tasks_of_a_scenario_are_one_session(sim: Simulator, series: str, enabled: str) -> None:
    """Beside a group of the same weight three of its tasks weigh three times as much, or as one group."""
    weight = 3
    if enabled == "1":
        weight = 2 if scales_groups(series) else 1  # of 3 tasks, tg_tasks() counts 2
    hog = {"affinity": "0", "program": [{"run": "100ms"}]}
    scenario = {
        "duration": "2s",
        "knobs": {"/proc/sys/kernel/sched_autogroup_enabled": enabled},
        "groups": [{"path": "/other"}],
        "tasks": [
            {"name": "session", "count": 3, **hog},
            {"name": "other", "group": "/other", **hog},
        ],
    }
    [other] = tasks(sim("smp4", scenario), "other")
    assert other["runtime_ns"] / 2e9 == pytest.approx(1 / (1 + weight), abs=0.01)


@pytest.mark.parametrize(
    ("transition", "older", "newer"),
    [
        ("300us", 10_000, 450),
        ("1ms", 10_000, 1_500),
        ("20ms", 10_000, 30_000),
        ("5us", 5_000, 7),
        ("1us", 1_000, 1),
        ("500ns", 1_000, 1_000),
    ],
)
def test_schedutils_rate_limit_follows_from_the_transition(
    sim: Simulator, series: str, transition: str, older: int, newer: int
) -> None:
    """The kernel's rule, in 6.1 with LATENCY_MULTIPLIER and in 6.12 without it."""
    board = machine("biglittle-6")
    for entry in board["cpu"]:
        entry["transition"] = transition
    command = [str(sim.binary), "--machine", str(sim.machine(board)), "--print-files"]
    files = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    limits = re.findall(r"policy\d/schedutil/rate_limit_us (\d+)", files)
    assert limits == [str(older if series == "6.1" else newer)] * 2
