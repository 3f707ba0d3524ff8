"""Cores with more than two threads."""

from __future__ import annotations

from tests.helpers.engine.simulator import Json, Simulator, machine


def test_a_wakeup_finds_the_idle_core_of_four_threads(sim: Simulator) -> None:
    """Its last CPU is taken: not a sibling of a busy thread, but the core where all four are idle."""
    of = machine("smt8")
    of["topology"] |= {"cpus": 12, "core": ["0-3", "4-7", "8-11"]}
    of["topology"] |= {level: ["0-11"] for level in ("llc", "package", "node")}
    scenario: Json = {
        "duration": "100ms",
        "tasks": [
            {
                "name": "waker",
                "affinity": "0",
                "program": [{"run": "500us"}, {"pipe_write": "p", "bytes": 1}, {"run": "500us"}],
            },
            {
                "name": "woken",
                "affinity": "4",
                "program": [{"pipe_read": "p", "bytes": 1}, {"run": "200us"}],
            },
            {"name": "burner", "affinity": "4", "start": "19ms", "program": [{"run": "1s"}]},
        ],
        "actions": [{"at": "20ms", "task": "woken", "affinity": "0-11"}],
    }
    spent = [cpu["user_ns"] for cpu in sim(of, scenario)["per_cpu"]]
    assert sum(spent[8:]) > 10e6
    assert sum(spent[cpu] for cpu in (1, 2, 3, 5, 6, 7)) < 1e6
