"""sched_ext: sub-schedulers, each an object of its own below the root."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schedlab.base.data import data_folder
from tests.helpers.engine.scx import with_scheduler
from tests.helpers.engine.simulator import Json


def in_groups(below: Json, *weights: int) -> Json:
    """A root qmap's scenario: groups a, b, ... of four tasks each, and its sub-schedulers."""
    names = "abcdef"[: len(weights)]
    program = [{"run": "3ms"}, {"sleep": "1ms"}]
    return {
        "duration": "600ms",
        "groups": [
            {"path": f"/{name}", "cpu.weight": str(weight)}
            for name, weight in zip(names, weights, strict=True)
        ],
        "tasks": [
            {"name": name, "count": 4, "group": f"/{name}", "program": program} for name in names
        ],
        "sched_ext": {"scheduler": "scx_qmap.bpf.c"},
        "sched_ext_below": below,
    }


def cpu_seconds(result: Json, group: str) -> float:
    of_group = (each for each in result["tasks"] if re.fullmatch(rf"{group}\d", each["name"]))
    return sum(float(each["runtime_ns"]) for each in of_group) / 1e9


def test_a_sub_scheduler_has_the_cpus_that_its_parent_grants(tmp_path: Path) -> None:
    """Of four CPUs qmap hands out as many as a group's weight is of all, its own being 100.

    A task that moves into the group is initialised by the sub-scheduler and runs there.
    """
    sim = with_scheduler(tmp_path, "7.3", "qmap", "qmap")
    one = {"/a": "scx_qmap.bpf.c"}
    for weight, share in ((100, 2), (300, 3)):
        first, second = (sim("smp4", in_groups(one, weight, 100)) for _ in range(2))
        assert first["trace_hash"] == second["trace_hash"]
        assert first["settings"]["sched_ext /a"] == "scx_qmap.bpf.c"
        assert cpu_seconds(first, "a") == pytest.approx(0.6 * share, rel=0.05)
        assert cpu_seconds(first, "b") == pytest.approx(0.6 * (4 - share), rel=0.05)
    trace = tmp_path / "trace.txt"
    moved = {"actions": [{"at": "50ms", "task": "b1", "group": "/a"}]}
    options = ("--trace", str(trace), "--trace-events", "scx_op")
    sim("smp4", {**in_groups(one, 300, 100), **moved}, *options)
    pid = next(each["pid"] for each in first["tasks"] if each["name"] == "b1")
    seen = trace.read_text()
    assert re.search(rf"scx_op: name=exit_task p={pid}\b", seen)
    assert re.search(rf"scx_op: name=/a:init_task p={pid}\b", seen)
    assert re.search(rf"scx_op: name=/a:enqueue p={pid}\b", seen)


def test_a_sub_scheduler_without_a_parent_for_it_is_refused(tmp_path: Path) -> None:
    sim = with_scheduler(tmp_path, "7.3", "qmap", "qmap")
    for below, said in (
        ({"/nowhere": "scx_qmap.bpf.c"}, "the scenario has no group of this path"),
        ({"/a": "scx_simple.bpf.c"}, "this build of the simulator has scx_qmap.bpf.c there"),
        (
            {"/a": "scx_qmap.bpf.c", "/b": "scx_qmap.bpf.c"},
            "this build of the simulator has none there",
        ),
    ):
        done = sim.start("smp4", in_groups(below, 100, 100))
        assert done.returncode == 2
        assert said in done.stderr
    sim = with_scheduler(tmp_path, "7.3", "simple", "qmap")
    scenario = in_groups({"/a": "scx_qmap.bpf.c"}, 100)
    done = sim.start("smp4", {**scenario, "sched_ext": {"scheduler": "scx_simple.bpf.c"}})
    assert done.returncode != 0
    assert (
        "scx-sub a: the kernel does not load scx_qmap.bpf.c: Operation not supported; likely the"
        " scheduler above it takes no sub-schedulers"
    ) in done.stderr
    sim = with_scheduler(tmp_path, "6.12", "simple", "simple")
    scenario = in_groups({"/a": "scx_simple.bpf.c"}, 100)
    done = sim.start("smp4", {**scenario, "sched_ext": {"scheduler": "scx_simple.bpf.c"}})
    assert done.returncode == 2
    assert "this kernel has no sub-schedulers of sched_ext; Linux has them from 7.3" in done.stderr


def test_a_worker_that_comes_later_is_known_with_its_cpu(tmp_path: Path) -> None:
    """It came with all CPUs, so that qmap put it on another one, which the kernel refuses."""
    load = {"kind": "rt-app", "file": str(data_folder("plans") / "scx" / "operations.json")}
    scenario: Json = {
        "duration": "3600s",
        "settle": "600ms",
        "background": True,
        "cgroup": {"path": "/bench", "cpu.weight": "300"},
        "sched_ext": {"scheduler": "scx_qmap.bpf.c"},
        "sched_ext_below": {"/bench": "scx_qmap.bpf.c"},
        "workloads": [{**load, "logdir": str(tmp_path)}],
        "end": {"when": "workloads_done", "max_simulated": "10s"},
    }
    done = with_scheduler(tmp_path, "7.3", "qmap", "qmap").start("smp4", scenario)
    assert done.returncode == 0, done.stderr
