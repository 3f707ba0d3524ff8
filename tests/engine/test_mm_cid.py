"""Concurrency ids of a process's threads: one each while they run, and few.

That no two running threads of a process have the same one is checked at each switch of every run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator


@pytest.fixture(params=["6.12", "7.3"])
def cids(request: pytest.FixtureRequest, tmp_path: Path) -> Simulator:
    return Simulator(builds.with_cpusets(request.param), tmp_path)


def highest(result: Json) -> int:
    return int(result["counters"]["mm_cid:highest"])


def threads(count: int, affinity: str, **more: object) -> Json:
    """A process of threads, on some CPUs: those of a scenario's tasks that share memory."""
    program = [{"run": ["200us", "2ms"]}, {"sleep": ["100us", "1ms"]}]
    return {"name": "t", "count": count, "affinity": affinity, "mm": 0, "program": program, **more}


def run(sim: Simulator, *tasks: Json, **more: object) -> Json:
    memory = [{"size": "4MiB"}]
    return sim("smt8", {"duration": "500ms", "memory": memory, "tasks": list(tasks), **more})


def test_as_many_as_run_at_a_time(cids: Simulator) -> None:
    """In 7.x no more than a quarter above the CPUs that its threads might ever run on."""
    assert highest(run(cids, threads(8, "0-7"))) in (7, 8)
    assert highest(run(cids, threads(2, "0-7"))) <= 3
    assert highest(run(cids, threads(12, "2-3"))) <= 2
    assert highest(run(cids, threads(6, "2-3"), threads(6, "5"))) <= 3
    assert highest(run(cids, threads(6, "2-3"), threads(6, "0-7"))) >= 3


@pytest.mark.parametrize("where", ["affinity", "cpuset"])
def test_a_process_that_begins_on_some_cpus(tmp_path: Path, where: str) -> None:
    """Its shell is there, and exec() makes an address space of those CPUs."""
    cids = Simulator(builds.with_cpusets("7.3"), tmp_path)
    shape = {"groups": 2, "fds": 4, "loops": 60, "threads": True, "pipe": True}
    load: Json = {"kind": "hackbench", **shape}
    case: Json = {"duration": "20s", "end": {"when": "workloads_done", "max_simulated": "20s"}}
    if where == "affinity":
        load["affinity"] = "2-3"
    else:
        case["cgroup"] = {"path": "/b", "cpuset.cpus": "2-3"}
    assert 0 < highest(cids("smt8", {**case, "workloads": [load]})) <= 2


def test_one_thread_that_wanders_keeps_the_first(cids: Simulator) -> None:
    others: Json = {"name": "o", "count": 9, "program": [{"run": ["1ms", "3ms"]}, {"sleep": "1ms"}]}
    result = run(cids, threads(1, "0-7"), others)
    assert result["counters"]["sched:sched_migrate_task"] > 20
    assert highest(result) == 0


def test_processes_and_threads_come_and_go(cids: Simulator) -> None:
    load = [
        {"kind": "hackbench", "groups": 2, "fds": 5, "loops": 60, "threads": True, "pipe": True},
        {"kind": "unixbench", "test": "spawn", "copies": 3, "duration": "30ms"},
        {"kind": "unixbench", "test": "execl", "copies": 3, "duration": "30ms"},
    ]
    end = {"when": "workloads_done", "max_simulated": "20s"}
    result = cids("smt8", {"duration": "20s", "workloads": load, "end": end})
    assert 0 < highest(result) < 8


def test_the_mask_costs_where_many_cpus_change_it(tmp_path: Path) -> None:
    """In 6.12 a thread that comes back to a CPU takes its id out of the mask again."""
    shape = {"groups": 8, "fds": 10, "loops": 300, "threads": True, "pipe": True}
    end = {"when": "workloads_done", "max_simulated": "100s"}
    case: Json = {"duration": "100s", "workloads": [{"kind": "hackbench", **shape}], "end": end}
    plain, with_it = (
        Simulator(build, tmp_path)("epyc-7713-2p-nps1", case)["counters"]
        for build in (builds.build("6.12"), builds.with_cpusets("6.12"))
    )

    def waits_a_switch(counters: Json) -> float:
        return float(counters["cost:hot_line_waits"] / counters["switches:voluntary"])

    assert waits_a_switch(with_it) > 1.1 * waits_a_switch(plain)


@pytest.mark.parametrize("actions", [[{"at": "60ms", "offline": 3}, {"at": "160ms", "online": 3}]])
def test_cpus_go_and_come(cids: Simulator, actions: list[Json]) -> None:
    assert highest(run(cids, threads(10, "0-7"), actions=actions)) <= 9
