"""The patches of the studies of live questions (docs/studies/): each does what it says, and where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from test_build import objects
from test_decisions import decisions, of

from tests.helpers import builds
from tests.helpers.engine.simulator import ROOT, Json, Simulator, machine
from tests.helpers.kernel_source import kernel_source


@pytest.fixture
def sim(tmp_path: Path) -> Simulator:
    """Return the simulator of 6.12 with all patches; each test switches on the one it is about."""
    return Simulator(builds.patched("6.12"), tmp_path)


@pytest.mark.parametrize("name", ["SYNC_CORE", "SYNC_PAIR", "IDLE_EXIT_AVG", "DELAY_LAG"])
def test_it_compiles_alone(name: str, tmp_path: Path) -> None:
    """The units of the scheduler that use it; every one reads the file of features."""
    patch = ROOT / "patches" / "6.12" / f"{name}.patch"
    units = [unit for unit in ("core", "fair") if f"/{unit}.c\n" in patch.read_text()]
    units += ["build_policy"] if "/idle.c\n" in patch.read_text() else []
    assert units
    variables = {"O": tmp_path / "o", "KERNEL": kernel_source("6.12"), "PATCHES": patch}
    variables |= {"BASE": objects("6.12"), "OPT": "-O1"}  # nothing runs it
    words = [f"{name}={value}" for name, value in variables.items()]
    words += [str(tmp_path / f"o/k/kernel/sched/{unit}.o") for unit in units]
    done = subprocess.run(
        ["make", "-j2", "-C", str(ROOT / "engine"), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ------------------------------------------------------------------ SYNC_CORE


def adjacent(stride: int) -> Json:
    """Four cores of two threads in one LLC; siblings are this far apart."""
    made = machine("smt8")
    made["topology"]["core"] = {"threads": 2, "stride": stride}
    return made


def first_choice(sim: Simulator, stride: int, waker: int, on: bool, path: Path) -> int:
    """Return where the wakee goes from a busy CPU 0, as a waker that runs alone hands over."""
    hand_over = [{"sleep": "2ms"}, {"run": "50us"}, {"pipe_write": "p", "bytes": 100}]
    case: Json = {
        "duration": "60ms",
        "features": {"SYNC_CORE": on},
        "tasks": [
            {"name": "hog", "affinity": "0", "program": [{"run": "100ms"}]},
            {"name": "waker", "affinity": str(waker), "program": hand_over},
            {
                "name": "wakee",
                "affinity": "0",
                "program": [{"pipe_read": "p", "bytes": 100}, {"run": "20us"}],
            },
        ],
        "actions": [{"at": "30ms", "task": "wakee", "affinity": "0-7"}],
    }
    events, _ = decisions(sim, adjacent(stride), case, path, "select_task_rq")
    chosen = [
        e for e in of(events, "select_task_rq") if e["comm"] == "wakee" and e["prev_cpu"] == 0
    ]
    assert chosen[-1]["this_cpu"] == waker
    return int(chosen[-1]["cpu"])


@pytest.mark.parametrize(
    ("stride", "waker", "off", "on"),
    [
        (1, 2, 4, 3),  # the sibling is the CPU behind the waker's: the search begins there
        (1, 3, 4, 4),  # it is the CPU before: the search comes to it last
        (4, 2, 3, 3),  # numbered as x86 does it: idle cores come before it
    ],
)
def test_sync_core_takes_the_sibling_where_the_search_begins_there(
    sim: Simulator, tmp_path: Path, stride: int, waker: int, off: int, on: int
) -> None:
    assert first_choice(sim, stride, waker, False, tmp_path / "t") == off
    assert first_choice(sim, stride, waker, True, tmp_path / "t") == on


# ------------------------------------------------------------------ SYNC_PAIR

PING_PONG: Json = {
    "duration": "100ms",
    "tasks": [
        {
            "name": "ping",
            "program": [{"run": "2us"}, {"pipe_write": "p"}, {"pipe_read": "q"}],
        },
        {"name": "pong", "program": [{"pipe_read": "p"}, {"run": "2us"}, {"pipe_write": "q"}]},
    ],
}


@pytest.mark.parametrize(
    ("cpus", "on", "stays"), [("smp4", True, 1), ("smp4", False, 0), ("smt8", True, 0)]
)
def test_sync_pair_shares_a_cpu_without_smt(
    sim: Simulator, tmp_path: Path, cpus: str, on: bool, stays: int
) -> None:
    # A task whose dequeue is delayed wakes where it is: nothing is chosen.
    case = {**PING_PONG, "features": {"SYNC_PAIR": on, "DELAY_DEQUEUE": False}}
    events, _ = decisions(sim, cpus, case, tmp_path / "t", "select_task_rq")
    chosen = [
        e["cpu"] == e["this_cpu"]
        for e in of(events, "select_task_rq")
        if e["comm"] in ("ping", "pong")
    ]
    assert len(chosen) > 1000
    assert abs(sum(chosen) / len(chosen) - stays) < 0.05


# ------------------------------------------------------------------ IDLE_EXIT_AVG

# Children run 30 us on CPUs that were idle some 300 us, and nothing wakes up there.
FORKS: Json = {
    "duration": "500ms",
    "tasks": [
        {
            "name": "sh",
            "program": [
                {"fork": True, "body": [{"run": "30us"}]},
                {"run": "20us"},
                {"sleep": "80us"},
            ],
        }
    ],
}
# Threads that wake each other on two sockets: CPUs become idle as a wakeup is under way to them.
MESSAGES: Json = {
    "duration": "10s",
    "end": {"when": "workloads_done", "max_simulated": "10s"},
    "workloads": [{"kind": "hackbench", "groups": 2, "loops": 600, "pipe": True, "threads": True}],
}
ALL_EXITS: Json = {"IDLE_EXIT_AVG": True, "IDLE_EXIT_STAMP": False}
FIXED: Json = {"IDLE_EXIT_AVG": True}


def mean_avg_idle(sim: Simulator, cpus: str, case: Json, features: Json) -> tuple[float, Json]:
    """Return the mean avg_idle at the entries of newidle balancing, in us, and the counters."""
    counters = sim(cpus, {**case, "features": features})["counters"]
    return counters["newidle:avg_idle:ns"] / counters["newidle:entries"] / 1000, counters


def test_forks_end_idle_periods_too(sim: Simulator) -> None:
    wakeups_alone, _ = mean_avg_idle(sim, "smp4", FORKS, {})
    every_exit, _ = mean_avg_idle(sim, "smp4", FORKS, FIXED)
    assert every_exit < 0.8 * wakeups_alone


def test_a_period_without_begin_counts_as_the_longest(sim: Simulator) -> None:
    """With the check the average is what it is; without it, far more."""
    fixed, counters = mean_avg_idle(sim, "ivb-ep-2p", MESSAGES, FIXED)
    assert counters["newidle:left:pending"] > 5
    unchecked, _ = mean_avg_idle(sim, "ivb-ep-2p", MESSAGES, ALL_EXITS)
    assert unchecked > 1.2 * fixed


# ------------------------------------------------------------------ DELAY_LAG


def test_delay_lag_needs_a_delayed_dequeue(sim: Simulator) -> None:
    sleepers: Json = {
        "duration": "300ms",
        "tasks": [
            {
                "name": "t",
                "count": 14,
                "program": [{"run": ["5us", "3ms"]}, {"sleep": ["5us", "3ms"]}],
            }
        ],
    }

    def hash_of(**features: bool) -> str:
        return str(sim("smp4", {**sleepers, "features": features})["trace_hash"])

    assert hash_of(DELAY_LAG=True) != hash_of(DELAY_LAG=False)
    assert hash_of(DELAY_DEQUEUE=False, DELAY_LAG=True) == hash_of(DELAY_DEQUEUE=False)
