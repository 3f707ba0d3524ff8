"""STREAM in the simulator: memory with a place, its bandwidth and its caches."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Json, Simulator, machine

BIG = 1 << 24  # elements: arrays of 128 MiB, four times numa16's caches
KERNELS = ("Copy", "Scale", "Add", "Triad")


def memory(name: str) -> tuple[float, float, float]:
    """MB/s of a node, a thread and a cache."""
    table = machine(name)["memory"]
    node, thread, cache = (
        float(table[f"{what}_bandwidth"].removesuffix("GB/s")) * 1000
        for what in ("node", "thread", "cache")
    )
    return node, thread, cache


def counted(load: Load) -> list[float]:
    """Traffic in each kernel: a store to part of a line moves the line twice."""
    moved = (2 / 2, 3 / 2, 4 / 3, 4 / 3)
    return [load[kernel] * factor for kernel, factor in zip(KERNELS, moved, strict=True)]


def test_one_thread_gets_a_threads_bandwidth(sim: Simulator) -> None:
    _, thread, _ = memory("numa16")
    load = Load(sim, "numa16", scenario("stream", array_size=BIG, ntimes=3, threads=1))
    assert counted(load) == pytest.approx([thread] * 4, rel=0.03)


def test_many_threads_saturate_all_nodes(sim: Simulator) -> None:
    """Each touched its part first, so every node works at its limit."""
    node, thread, _ = memory("numa16")
    assert 4 * thread > node
    load = Load(sim, "numa16", scenario("stream", array_size=4 * BIG, ntimes=3, threads=16))
    assert counted(load) == pytest.approx([4 * node] * 4, rel=0.03)


def test_siblings_do_not_slow_down_a_busy_node(sim: Simulator) -> None:
    node, _, _ = memory("epyc-7713-2p-nps1")
    asked = scenario("stream", array_size=8 * BIG, ntimes=3, threads=256)
    assert Load(sim, "epyc-7713-2p-nps1", asked)["Copy"] == pytest.approx(2 * node, rel=0.1)


def test_small_arrays_stay_in_the_cache(sim: Simulator) -> None:
    _, thread, cache = memory("smp4")
    load = Load(sim, "smp4", scenario("stream", array_size=1 << 18, ntimes=5))
    assert thread < load["Triad"] == pytest.approx(cache, rel=0.1)


def balanced(asked: Json) -> Json:
    return {**asked, "knobs": {"/proc/sys/kernel/numa_balancing": "1"}}


def test_numa_balancing_leaves_local_memory_where_it_is(sim: Simulator) -> None:
    asked = balanced(scenario("stream", array_size=BIG, ntimes=400))
    load = Load(sim, "numa16", asked)
    assert load.counters.get("migrate:mm_migrate_pages", 0) == 0
    # hinting faults cost little
    plain = Load(sim, "numa16", scenario("stream", array_size=BIG, ntimes=10))
    assert load["Triad"] == pytest.approx(plain["Triad"], rel=0.05)


def test_repeats(sim: Simulator) -> None:
    asked = scenario("stream", array_size=1 << 20, ntimes=5)
    first, again, other = (Load(sim, "numa16", asked, seed) for seed in (1, 1, 2))
    assert (first.hash, first.results) == (again.hash, again.results)
    assert other.hash != first.hash


def test_bad_parameters(sim: Simulator) -> None:
    assert 'ntimes: "1" is out of range' in refused(sim, "smp4", scenario("stream", ntimes=1))


def test_a_machine_without_memory_speeds(sim: Simulator) -> None:
    bare = machine("smp4")
    del bare["memory"]
    done = sim.start(bare, scenario("stream", array_size=1000))
    assert done.returncode == 2
    assert "the machine's description has no memory table" in done.stderr
