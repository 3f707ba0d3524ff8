"""Core scheduling: SMT siblings run tasks of one cookie only."""

from __future__ import annotations

import pytest

from tests.helpers.engine.simulator import Json, Simulator, tasks

GRACE_NS = 20_000
"""The interrupt that stops a sibling, and what it keeps interrupts closed for."""


def two(first: str | None, second: str | None) -> Json:
    """Two tasks that never sleep, on the two threads of a core."""

    def task(name: str, cpu: str, cookie: str | None) -> Json:
        own = {"cookie": cookie} if cookie else {}
        return {"name": name, "affinity": cpu, "program": [{"run": "1ms"}], **own}

    return {"duration": "1s", "tasks": [task("one", "2", first), task("two", "3", second)]}


@pytest.mark.parametrize(
    ("cookies", "share"),
    [(("a", "b"), 0.5), (("a", None), 0.5), (("a", "a"), 1), (("process", "process"), 0.5)],
)
def test_siblings_take_turns(
    sim: Simulator, cookies: tuple[str | None, str | None], share: float
) -> None:
    result = sim("smt8", two(*cookies))
    ran = [task["runtime_ns"] / 1e9 for name in ("one", "two") for task in tasks(result, name)]
    assert ran == pytest.approx([share, share], abs=0.04)
    counters = result["counters"]
    forced = counters["core:forced_idle_ns"] / 1e9
    assert forced == pytest.approx(2 * (1 - share), abs=0.04)
    assert counters["core:mixed_longest_ns"] < GRACE_NS


def test_without_cookies_nothing_is_counted(sim: Simulator) -> None:
    result = sim("smt8", two(None, None))
    assert [task["runtime_ns"] > 0.99e9 for task in result["tasks"]] == [True, True]
    assert not [name for name in result["counters"] if name.startswith("core:")]


BUSY: Json = {
    "duration": "100s",
    "background": True,
    "groups": [{"path": "/a", "cpu.weight": "200"}, {"path": "/b", "cpu.max": "40000 50000"}],
    "tasks": [
        {
            "name": name,
            "count": 5,
            "group": f"/{name}",
            "cookie": name,
            "program": [{"run": ["10us", "3ms"]}, {"sleep": "500us"}],
        }
        for name in "ab"
    ],
    "workloads": [
        {"kind": "hackbench", "groups": 1, "loops": 20},
        {"kind": "unixbench", "test": "spawn", "copies": 2, "duration": "120ms"},
    ],
    "core_sched": {"workloads": "process"},
    "actions": [{"at": "5ms", "offline": 3}, {"at": "40ms", "online": 3}],
    "end": {"when": "workloads_done", "max_simulated": "100s"},
}


@pytest.mark.parametrize("seed", ["1", "2", "3"])
@pytest.mark.parametrize("machine", ["smt8", "power9-lpar-smt4"])
def test_two_cookies_never_share_a_core(sim: Simulator, machine: str, seed: str) -> None:
    """Groups, bandwidth, forks and a CPU that goes and comes back; the engine checks as well."""
    result = sim(machine, BUSY, "--seed", seed)
    assert result["settings"]["core scheduling"] == "process"
    counters = result["counters"]
    assert counters["core:forced_idle_ns"] > 0
    assert counters["core:mixed_ns"] < 0.1 * counters["core:forced_idle_ns"]
    assert result["trace_hash"] == sim(machine, BUSY, "--seed", seed)["trace_hash"]


def test_a_machine_without_smt_takes_no_cookies(sim: Simulator) -> None:
    done = sim.start("smp4", BUSY)
    assert done.returncode == 2
    assert "core_sched.workloads: every core has one thread" in done.stderr


def test_a_task_that_waits_for_its_sibling_is_not_starved(sim: Simulator) -> None:
    """By weight a core's light task waits far longer than it would on its own queue."""
    scenario = two("a", "b")
    light, heavy = scenario["tasks"]
    scenario["duration"] = "3s"
    light["nice"], heavy["nice"] = 19, -20
    result = sim("smt8", scenario)
    shares = [tasks(result, name)[0]["runtime_ns"] for name in ("one", "two")]
    assert shares[1] > 20 * shares[0]


def test_cookies_without_a_workload_are_refused(sim: Simulator) -> None:
    scenario: Json = {"duration": "1ms", "core_sched": {"workloads": "process"}}
    done = sim.start("smt8", scenario)
    assert (done.returncode, "there is no workload" in done.stderr) == (2, True)
