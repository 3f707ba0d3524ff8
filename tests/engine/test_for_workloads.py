"""What a scenario gives all workloads that name nothing of it: a cgroup, a policy."""

from typing import Any

import pytest

from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine

LOAD: Json = {"kind": "hackbench", "groups": 1, "fds": 2, "loops": 40_000}
END: Json = {"when": "workloads_done", "max_simulated": "60s"}


def case(*workloads: Json, **more: Any) -> Json:
    return {"duration": "60s", "workloads": list(workloads or (LOAD,)), "end": END, **more}


def cpus_used(result: Json) -> float:
    spent = sum(cpu["user_ns"] + cpu["kernel_ns"] for cpu in result["per_cpu"])
    return float(spent / 1e9 / result["metrics"]["hackbench.time"])


def test_bandwidth_of_a_group_made_with_those_above_it(sim: Simulator) -> None:
    group = {"path": "/a/b/bench", "cpu.max": "50000", "cpu.weight": "50"}
    limited, free = (sim("smp4", case(cgroup=own)) for own in (group, {"path": "/a/b/bench"}))
    assert cpus_used(limited) < 0.8 < 2 < cpus_used(free)
    found = limited["settings"]
    assert found["cgroup"] == "/a/b/bench"
    assert found["/sys/fs/cgroup/a/b/bench/cpu.max"] == "50000 100000"
    assert found["/sys/fs/cgroup/a/b/bench/cpu.weight"] == "50"


def test_a_group_below_one_of_the_list(sim: Simulator) -> None:
    above = {"path": "/a", "cpu.max": "50000"}
    result = sim("smp4", case(groups=[above], cgroup={"path": "/a/bench"}))
    assert cpus_used(result) < 0.8


def test_what_names_a_group_or_a_policy_keeps_it(sim: Simulator) -> None:
    own: Json = {**LOAD, "label": "own", "group": "/own", "nice": 1}
    said = refused(
        sim,
        machine("smp4"),
        case(own, groups=[{"path": "/own"}], scheduling={"policy": "batch"}),
    )
    assert "scheduling: no workload begins with it" in said
    both = case(own, LOAD, groups=[{"path": "/own"}], scheduling={"policy": "batch"})
    assert sim("smp4", both)["settings"]["policy"] == "batch"


def test_a_policy_of_all_tasks(sim: Simulator) -> None:
    """Beside it, on the same CPU, a task that never sleeps gets what they leave it."""
    hog: Json = {"name": "hog", "affinity": "0", "program": [{"run": "1s"}]}

    def left(shown: str, **scheduling: Any) -> float:
        load = {**LOAD, "affinity": "0", "loops": 10_000}
        result = sim("smp4", case(load, tasks=[hog], scheduling=scheduling))
        assert result["settings"]["policy"] == shown
        return float(result["per_cpu"][0]["user_ns"] / 1e9 / result["metrics"]["hackbench.time"])

    assert left("rr priority=5", policy="rr", priority=5) == 0
    assert 0.1 < left("normal nice=0", policy="normal", nice=0) < 0.6
    assert left("idle", policy="idle") > 0.8


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"cgroup": {"cpu.max": "max"}}, "cgroup.path: missing"),
        ({"cgroup": {"path": "bench"}}, "does not begin with / and a name"),
        ({"cgroup": {"path": "/a//b"}}, "names are not empty"),
        ({"cgroup": {"path": "/a/../b"}}, "names are not empty, . or .."),
        ({"cgroup": {"path": "/a", "memory.max": "1"}}, "cgroup.memory.max: unknown key"),
        ({"cgroup": {"path": "/a"}, "groups": [{"path": "/a"}]}, "is in groups twice"),
        ({"scheduling": {"policy": "fifo"}}, "scheduling.priority: missing"),
        ({"scheduling": {"policy": "late"}}, 'scheduling.policy: "late"'),
        ({"scheduling": {"policy": "normal", "slice": "1s"}}, "scheduling.slice"),
    ],
)
def test_refusals(sim: Simulator, asked: Json, why: str) -> None:
    assert why in refused(sim, machine("smp4"), case(**asked))
