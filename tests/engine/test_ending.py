"""The end of the last workload, at whatever moment it comes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator, machine

DATA = Path(__file__).resolve().parents[1] / "data" / "ending"


def test_a_workload_ends_on_a_cpu_that_is_ahead(sim: Simulator) -> None:
    """The engine's own loop is due before the CPU's clock, which here is often far ahead."""
    slow: Json = machine("smp4")
    slow["cost"] |= {"schedule": "500us", "catch_up": "2ms"}
    load: Json = {
        "duration": "1s",
        "workloads": [{"kind": "hackbench", "groups": 1, "fds": 2, "loops": 2}],
        "end": {"when": "workloads_done", "max_simulated": "1s"},
    }
    for seed in range(1, 41):
        assert sim(slow, load, "--seed", str(seed))["status"] == "done"


def test_an_end_170_ns_behind_the_loops_turn(tmp_path: Path) -> None:
    described, scenario = (
        json.loads((DATA / f"{name}.json").read_text()) for name in ("machine", "scenario")
    )
    later = ("context_tracking", "epoll_wait", "epoll_change", "epoll_add", "receive_nothing")
    described["cost"] |= dict.fromkeys(later, "0ns")
    # What ran besides on every machine when this was recorded.
    described["background"] = {"daemons": 4, "wakeups": 1000, "per_cpu": 0, "run": "60us"}
    sim = Simulator(builds.of_few_ticks(), tmp_path)
    result = sim(described, scenario, "--seed", "171097782")
    assert result["status"] == "done"


def test_a_child_that_is_preempted_as_it_exits(sim: Simulator) -> None:
    """All others wait, and it counted as gone: that is no deadlock (on 7.3 with this load)."""
    load: Json = {
        "duration": "60s",
        "tasks": [{"name": "hog", "policy": "idle", "affinity": "0", "program": [{"run": "1s"}]}],
        "workloads": [
            {"kind": "hackbench", "groups": 1, "fds": 2, "loops": 200_000, "affinity": "0"}
        ],
        "end": {"when": "workloads_done", "max_simulated": "60s"},
        "scheduling": {"policy": "idle"},
    }
    assert sim("smp4", load)["status"] == "done"
