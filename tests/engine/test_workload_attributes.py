"""A workload's own nice value and policy: all its tasks begin with them."""

from __future__ import annotations

import pytest

from tests.helpers.engine.simulator import Json, Simulator


def beside(hogs: int, **attributes: object) -> Json:
    """A computation with these attributes beside others, all on one CPU."""
    hog = {"name": "hog", "count": hogs, "affinity": "0", "program": [{"run": "10ms"}]}
    return {
        "duration": "10s",
        "tasks": [hog] * bool(hogs),
        "workloads": [
            {
                **{"kind": "unixbench", "test": "dhry2reg", "copies": 1, "affinity": "0"},
                **{"duration": "500ms", **attributes},
            }
        ],
        "end": {"when": "workloads_done", "max_simulated": "10s"},
    }


def share(sim: Simulator, **attributes: object) -> float:
    """What it gets of the CPU beside one other."""
    alone, shared = (
        sim("smp4", case)["metrics"]["unixbench.lps"]
        for case in (beside(0), beside(1, **attributes))
    )
    return float(shared / alone)


def test_a_nice_value_is_worth_its_weight(sim: Simulator) -> None:
    assert share(sim) == pytest.approx(0.5, abs=0.03)
    assert share(sim, nice=5) == pytest.approx(335 / (335 + 1024), abs=0.03)
    assert share(sim, nice=-5) == pytest.approx(3121 / (3121 + 1024), abs=0.03)


def test_a_policy_holds_for_what_is_forked(sim: Simulator) -> None:
    assert share(sim, policy="idle") < 0.03
    assert share(sim, policy="fifo", priority=1) > 0.9


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"policy": "fast"}, "workloads[0].policy"),
        ({"nice": 30}, "workloads[0].nice"),
        ({"priority": 3}, "workloads[0].priority: only the policies fifo and rr have one"),
    ],
)
def test_what_does_not_fit_is_refused(sim: Simulator, attributes: Json, message: str) -> None:
    done = sim.start("smp4", beside(0, **attributes))
    assert done.returncode == 2
    assert message in done.stderr
