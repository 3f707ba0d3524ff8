"""CPUs without a tick while one task runs on them: nohz_full= of a kernel's command line."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine

SECONDS = 3.5


@pytest.fixture(params=["6.12", "7.3"])
def sim(request: pytest.FixtureRequest, tmp_path: Path) -> Simulator:
    """A kernel with NO_HZ_FULL."""
    return Simulator(builds.with_cpusets(request.param), tmp_path)


def hogs(count: int, boot: str | None = "2-3", **more: object) -> Json:
    task = {"name": "h", "count": count, "affinity": "2", "program": [{"run": "10s"}]}
    apart = {"boot": {"nohz_full": boot}} if boot else {}
    features = {"HRTICK": False}  # slices end at ticks
    return {"duration": f"{SECONDS}s", "tasks": [task], "features": features, **apart, **more}


def traced(sim: Simulator, asked: Json, events: str, *words: str) -> str:
    path = sim.scratch / "trace"
    sim("smp4", asked, "--trace", str(path), "--trace-events", events, *words)
    return path.read_text()


def ticks(sim: Simulator, asked: Json) -> float:
    """How often a second the timer that ticks expires on CPU 2, once the load is there."""
    text = traced(sim, asked, "hrtimer_expire_entry", "--trace-cpus", "2", "--trace-from", "0.5")
    timers = Counter(re.findall(r"hrtimer_expire_entry: .*function=(\S+)", text))
    return max(timers.values(), default=0) / (SECONDS - 0.5)


def test_one_task_has_no_tick_and_two_have(sim: Simulator) -> None:
    assert ticks(sim, hogs(1)) < 3
    assert ticks(sim, hogs(2)) == pytest.approx(250, rel=0.05)
    assert ticks(sim, hogs(1, "3")) == pytest.approx(250, rel=0.05)
    assert ticks(sim, hogs(1, None)) == pytest.approx(250, rel=0.05)


def test_the_tick_comes_back_with_the_second_task_and_goes_with_it(sim: Simulator) -> None:
    late = {
        "name": "late",
        "affinity": "2",
        "start": "1s",
        "loops": 1,
        "program": [{"run": "500ms"}],
    }
    asked = hogs(1)
    asked["tasks"].append(late)
    text = traced(sim, asked, "hrtimer_expire_entry", "--trace-cpus", "2")
    at = [float(time) for time in re.findall(r"(\d+\.\d{9}): hrtimer_expire_entry", text)]
    during = [time for time in at if 1.05 < time < 1.95]
    assert len(during) > 200
    assert len([time for time in at if 0.5 < time < 0.95 or time > 2.1]) < 10


def test_others_do_its_tick_once_a_second(sim: Simulator) -> None:
    """sched_tick_remote(): its runtime goes on though nothing interrupts it."""
    text = traced(sim, hogs(1), "sched_stat_runtime")
    by = re.findall(r"\[(\d{3})\] \S+ +(\d+)\.\d+: sched_stat_runtime: comm=h ", text)
    seconds = {int(second) for cpu, second in by if cpu != "002"}
    assert len(seconds) >= 3


def test_its_callbacks_are_called_elsewhere(sim: Simulator) -> None:
    """Who ends on it is freed after a grace period that its own tick does not drive."""
    fork: Json = {"fork": True, "body": [{"run": "1ms"}]}
    parent = {"name": "p", "affinity": "2", "loops": 20, "program": [fork]}
    asked = {"duration": "1s", "tasks": [parent], "boot": {"nohz_full": "2"}}
    text = traced(sim, asked, "sched_process_free,sched_process_exit")
    assert text.count("sched_process_exit: comm=p") >= 20
    assert text.count("sched_process_free: comm=p") >= 20


def test_crossings_cost_more_there(sim: Simulator) -> None:
    """The kernel follows on such a CPU when it enters and leaves user mode."""
    calls = {"name": "c", "affinity": "2", "program": [{"wake": "nobody"}, {"run": "1us"}]}
    asked: Json = {"duration": "100ms", "tasks": [calls]}

    def ops(cpus: str) -> int:
        task = sim("smp4", {**asked, "boot": {"nohz_full": cpus}})["tasks"][-1]
        return int(task["ops"])

    assert 1.02 * ops("2") < ops("3") < 1.6 * ops("2")


def test_many_remote_ticks_at_once(sim: Simulator) -> None:
    """Fifty works come due together: a kworker that is being made cannot be woken yet."""
    hog = {"name": "h", "affinity": "3", "program": [{"run": "10s"}]}
    asked = {"duration": "1.2s", "tasks": [hog], "boot": {"nohz_full": "1-55"}}
    assert sim("spr-8480-1p", {**asked, "cpuidle": {"C6": False}})["status"] == "done"


def test_nothing_changes_without_it(sim: Simulator) -> None:
    result = sim("smp4", hogs(2, None))
    assert "nohz_full" not in result["settings"]
    assert sim("smp4", hogs(2))["settings"]["nohz_full"] == "2-3"


def test_a_kernel_without_it_refuses(tmp_path: Path) -> None:
    plain = Simulator(builds.build("7.3"), tmp_path)
    said = refused(plain, machine("smp4"), hogs(1))
    assert "boot.nohz_full: this kernel is built without NO_HZ_FULL" in said
    assert "some CPUs, and not all" in refused(plain, machine("smp4"), hogs(1, "0-3"))
