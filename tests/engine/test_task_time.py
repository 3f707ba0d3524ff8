"""Where tasks' time goes: each nanosecond is accounted once, and under the right name."""

from __future__ import annotations

from typing import Any

import pytest

from schedlab.counters.engine_names import engine_names, engine_words
from tests.helpers.engine.simulator import Simulator

Json = dict[str, Any]

AHEAD = 2_000
"""How many ns a CPU's clock may be ahead of the end of the window, and a little more."""
FOR_EVER: Json = {"warmup": "100ms", "duration": "1s"}
BUSY = [{"run": "10s"}]
LEFT_TOGETHER: Json = {
    "boot": {"isolcpus": "2-3"},
    "actions": [{"at": "50ms", "task": "t*", "affinity": "2-3"}],
}
"""Isolated CPUs have no domains: two tasks that began on CPU 2 stay there, although 3 is theirs."""


def parts(group: Json) -> dict[str, float]:
    """Return the parts of a group's time, each as a share of it."""
    return {name: ns / group["ns"] for name, ns in group["parts_ns"].items()}


def time_of(sim: Simulator, machine: str, scenario: Json, name: str = "t") -> dict[str, float]:
    """Return where the time of a group of tasks went that were there in all of the window."""
    result = sim(machine, {**FOR_EVER, **scenario})
    group = result["task_time"][name]
    window = round(result["window_s"] * 1e9) * group["tasks"]
    assert abs(group["ns"] - window) <= AHEAD * group["tasks"]
    assert sum(group["parts_ns"].values()) == group["ns"]
    return parts(group)


def task(**more: Any) -> Json:
    """Return a task that runs all the time, or does what it is told."""
    return {"name": "t", "program": BUSY, **more}


def test_names_and_words_are_the_engines(sim: Simulator) -> None:
    found = sim("smp4", {"duration": "10ms", "tasks": [task()]})["task_time"]["t"]["parts_ns"]
    assert tuple(found) == engine_names("TIMES")
    assert engine_words("TIMES")["wait_idle"] == "waiting runnable while a CPU was idle"
    assert tuple(engine_words("TIMES")) == engine_names("TIMES")


def test_a_task_alone_runs_its_own_code(sim: Simulator) -> None:
    found = time_of(sim, "smp4", {"tasks": [task()]})
    assert found["user"] + found["interrupt"] > 0.9999
    assert 0 < found["interrupt"] < 0.01


def test_tasks_bound_to_one_cpu_wait_though_others_are_idle(sim: Simulator) -> None:
    found = time_of(sim, "smp4", {"tasks": [task(count=2, affinity="0")]})
    assert found["wait_busy"] == pytest.approx(0.5, abs=0.01)
    assert found["wait_idle"] == 0


def test_idle_cpus_count_only_where_a_task_may_run(sim: Simulator) -> None:
    found = time_of(sim, "smp4", {"tasks": [task(count=4, affinity="0-1")]})
    assert found["wait_busy"] == pytest.approx(0.5, abs=0.01)
    assert found["wait_idle"] < 0.001


def test_without_balancing_a_task_waits_beside_an_idle_cpu(sim: Simulator) -> None:
    found = time_of(sim, "smp4", {**LEFT_TOGETHER, "tasks": [task(count=2, affinity="2")]})
    assert found["wait_idle"] == pytest.approx(0.5, abs=0.01)
    assert found["wait_busy"] < 0.001


def test_the_idle_cpu_may_come_and_go_while_a_task_waits(sim: Simulator) -> None:
    """The other CPU they may use is taken for 3 of every 10 ms by a task bound to it."""
    other: Json = {
        "name": "other",
        "affinity": "3",
        "policy": "fifo",
        "priority": 1,
        "program": [{"run": "3ms"}, {"sleep": "7ms"}],
    }
    tasks = [task(count=2, affinity="2"), other]
    found = time_of(sim, "smp4", {**LEFT_TOGETHER, "tasks": tasks})
    assert found["wait_idle"] + found["wait_busy"] == pytest.approx(0.5, abs=0.01)
    assert found["wait_busy"] == pytest.approx(0.5 * 0.3, abs=0.01)


def test_a_busy_sibling_takes_what_the_machine_says(sim: Simulator) -> None:
    found = time_of(sim, "smt8", {"tasks": [task(count=2, affinity="0-1")]})
    assert found["sibling"] == pytest.approx(0.4, abs=0.01)
    assert found["user"] == pytest.approx(0.6, abs=0.01)


def test_a_slow_cpu_takes_what_it_lacks(sim: Simulator) -> None:
    found = time_of(sim, "biglittle-6", {"tasks": [task(affinity="0")]})
    assert found["capacity"] == pytest.approx(1 - 462 / 1024, abs=0.01)
    assert found["user"] == pytest.approx(462 / 1024, abs=0.01)


def test_throttled_by_the_groups_bandwidth(sim: Simulator) -> None:
    group = {"path": "/g", "cpu.max": "20000 100000"}
    scenario: Json = {"groups": [group], "tasks": [task(count=3, group="/g", affinity="1")]}
    found = time_of(sim, "smp4", scenario)
    assert found["throttled"] == pytest.approx(0.8, abs=0.03)
    assert found["user"] == pytest.approx(0.2 / 3, abs=0.01)
    assert found["wait_busy"] == pytest.approx(0.2 * 2 / 3, abs=0.03)


def test_asleep_on_what_the_call_waits_for(sim: Simulator) -> None:
    program = [{"run": "1ms"}, {"sleep": "3ms"}]
    found = time_of(sim, "smp4", {"tasks": [task(program=program)]})
    assert found["asleep_timer"] == pytest.approx(0.75, abs=0.02)
    reader = {"name": "t", "program": [{"pipe_read": "p", "bytes": 1}]}
    writer = {"name": "w", "program": [{"sleep": "5ms"}, {"pipe_write": "p", "bytes": 1}]}
    found = time_of(sim, "smp4", {"tasks": [reader, writer]})
    assert found["asleep_read"] > 0.98
    assert 0 < found["waking"] < 0.01
    waiter = task(program=[{"wait": "never"}])
    assert time_of(sim, "smp4", {"tasks": [waiter]})["asleep_futex"] == 1


@pytest.mark.parametrize("machine", ["smp4", "numa16"])
def test_roles_of_a_benchmark_are_accounted_apart(sim: Simulator, machine: str) -> None:
    workload = {"kind": "hackbench", "groups": 2, "fds": 4, "loops": 100, "pipe": True}
    end = {"when": "workloads_done", "max_simulated": "60s"}
    result = sim(machine, {"duration": "10s", "workloads": [workload], "end": end})
    groups = result["task_time"]
    assert set(groups) == {"hackbench", "sender", "receiver"}
    assert (groups["sender"]["tasks"], groups["receiver"]["tasks"]) == (8, 8)
    for group in groups.values():
        assert sum(group["parts_ns"].values()) == group["ns"]
    assert parts(groups["hackbench"])["asleep_process"] > 0
    assert parts(groups["receiver"])["asleep_read"] > 0
    assert groups["sender"]["parts_ns"]["write"] > 0 == groups["receiver"]["parts_ns"]["write"]
    for name in ("placement", "wakeup", "schedule", "lock", "waking"):
        assert groups["sender"]["parts_ns"][name] > 0, name


@pytest.mark.parametrize("series", ["6.12"])
def test_a_change_of_speed_on_the_way_into_a_call_takes_no_time(sim: Simulator) -> None:
    """A CPU lets others come as far before its task's call; a sibling that stops put it behind."""
    pairs: list[Json] = []
    for pair in range(6):
        there: Json = {"send": f"there{pair}", "bytes": 1}
        back: Json = {"send": f"back{pair}", "bytes": 1}
        pairs += [
            {"name": "c", "program": [there, {"receive": f"back{pair}", "bytes": 1}]},
            {"name": "s", "program": [{"receive": f"there{pair}", "bytes": 1}, back]},
        ]
    result = sim("smt8", {"duration": "60ms", "warmup": "10ms", "tasks": pairs})
    of_tasks = [group["parts_ns"] for group in result["task_time"].values()]
    assert result["counters"]["sched:sched_switch"] > 10_000
    assert sum(spent["user"] + spent["sibling"] for spent in of_tasks) == 0
    assert sum(cpu["user_ns"] for cpu in result["per_cpu"]) == 0


def test_wakeups_of_the_loads_tasks_have_percentiles_of_their_own(sim: Simulator) -> None:
    """The kernel's threads wake as well, and are in `wakeup_latency` alone."""
    result = sim(
        "smp4",
        {**FOR_EVER, "tasks": [task(count=6, program=[{"run": "1ms"}, {"sleep": "500us"}])]},
    )
    mine, of_all = result["task_wakeup_latency"], result["wakeup_latency"]
    assert 1000 < mine["count"] < of_all["count"]
    assert mine["p50_ns"] <= mine["p90_ns"] <= mine["p99_ns"] <= mine["p99.9_ns"] <= mine["max_ns"]
    starts = [start for start, _ in mine["buckets"]]
    assert max(start for start in starts if start <= mine["p90_ns"]) <= mine["p90_ns"]
    assert sum(number for start, number in mine["buckets"] if start <= mine["p90_ns"]) >= (
        0.9 * mine["count"]
    )
