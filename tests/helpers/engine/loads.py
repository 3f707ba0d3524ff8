"""Scenarios of one workload each."""

from __future__ import annotations

from typing import Any

from tests.helpers.engine.simulator import Json, Simulator


def scenario(kind: str, **options: Any) -> Json:
    """A workload that runs to its end; options by their names, with - as _."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return {
        "duration": "100s",
        "settle": "50ms",
        "workloads": [{"kind": kind, **named}],
        "end": {"when": "workloads_done", "max_simulated": "100s"},
    }


class Load:
    """The result of a workload on a machine."""

    def __init__(self, sim: Simulator, machine: str | Json, asked: Json, seed: int = 1) -> None:
        result = sim(machine, asked, "--seed", str(seed))
        assert result["status"] == "done"
        kind = asked["workloads"][0]["kind"]
        self.hash = result["trace_hash"]
        self.counters: dict[str, int] = result["counters"]
        self.results = {
            name.removeprefix(f"{kind}."): float(value)
            for name, value in result["metrics"].items()
            if name.startswith(f"{kind}.")
        }

    def __getitem__(self, name: str) -> float:
        return self.results[name]


def refused(sim: Simulator, machine: str | Json, asked: Json) -> str:
    """What the simulator says when it refuses a scenario."""
    done = sim.start(machine, asked)
    assert done.returncode == 2, done.stderr
    return done.stderr
