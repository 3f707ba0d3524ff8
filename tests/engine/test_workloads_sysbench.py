"""sysbench's tests in the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator, machine

DIVISIONS = 117_526  # of sysbench's cpu test up to 10,000, counted


def test_cpu_divides(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("sysbench-cpu", threads=4, time="500ms"))
    ns = float(machine("smp4")["cost"]["divide_per_1000"].removesuffix("ns")) * DIVISIONS / 1000
    assert load["events per second"] == pytest.approx(4e9 / ns, rel=0.01)
    assert load["latency avg"] == pytest.approx(ns / 1e6, rel=0.01)
    assert load["total time"] == pytest.approx(0.5, rel=0.01)


def test_memory_block_is_a_power_of_two(sim: Simulator) -> None:
    said = refused(sim, "smp4", scenario("sysbench-memory", memory_block_size=1000))
    assert "workload sysbench-memory: memory-block-size is not a power of two" in said


def test_more_threads_than_cpus_do_no_more(sim: Simulator) -> None:
    few, many = (
        Load(sim, "smp4", scenario("sysbench-cpu", threads=n, time="500ms")) for n in (4, 12)
    )
    assert many["events per second"] == pytest.approx(few["events per second"], rel=0.02)
    assert many["latency max"] > few["latency max"] * 3


def test_events_are_a_limit(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("sysbench-cpu", threads=3, time=0, events=100))
    assert load["total number of events"] == 100


def test_threads_without_company_never_wait(sim: Simulator) -> None:
    alone, eight = (
        Load(sim, "smp4", scenario("sysbench-threads", threads=n, time="50ms")) for n in (1, 8)
    )
    # an event is a thousand turns of lock, yield, unlock; a yield is a system call
    assert 0.1 < alone["latency avg"] < 10
    assert alone.counters["sched:sched_wakeup"] < 100
    assert eight.counters["sched:sched_wakeup"] > eight["total number of events"]


def test_mutex_takes_every_lock(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("sysbench-mutex", threads=8, time=0, mutex_locks=500))
    assert load["total number of events"] == 8
    # two threads a CPU, each spinning 2.4 us before a lock
    assert 2 * 500 * 2.4e-6 < load["total time"] < 2 * 500 * 10e-6


def test_one_mutex_is_contended(sim: Simulator) -> None:
    options: dict[str, Any] = {"threads": 4, "time": 0, "mutex_locks": 500, "mutex_loops": 0}
    many, one = (
        Load(sim, "smp4", scenario("sysbench-mutex", mutex_num=n, **options)) for n in (4096, 1)
    )
    assert one["total time"] > 1.5 * many["total time"]


def test_memory_shared_by_writers_is_slow(sim: Simulator) -> None:
    """Lines that all threads write travel; read, or of one thread, they stay."""
    options: dict[str, Any] = {"threads": 16, "time": "20ms", "memory_access_mode": "rnd"}
    written, read, own = (
        Load(sim, "kunpeng-920-6426-2p", scenario("sysbench-memory", **options, **more))
        for more in ({}, {"memory_oper": "read"}, {"memory_scope": "local"})
    )
    assert written["transfer rate"] * 5 < own["transfer rate"]
    assert own["transfer rate"] == pytest.approx(read["transfer rate"], rel=0.1)


def test_memory_stops_at_its_total(sim: Simulator) -> None:
    load = Load(sim, "kunpeng-920-6426-2p", scenario("sysbench-memory", memory_total_size="1MiB"))
    assert (load["total number of events"], load["transferred"]) == (1024, 1)


@pytest.mark.parametrize(
    "kind", ["sysbench-cpu", "sysbench-memory", "sysbench-threads", "sysbench-mutex"]
)
def test_repeats(sim: Simulator, kind: str) -> None:
    options: dict[str, Any] = {"threads": 8, "time": "20ms"}
    if kind == "sysbench-mutex":
        options["mutex_locks"] = 200
    first, again = (Load(sim, "numa16", scenario(kind, **options)) for _ in range(2))
    assert (first.hash, first.results) == (again.hash, again.results)


def test_bad_parameters(sim: Simulator) -> None:
    for kind, option, value in [
        ("sysbench-cpu", "threads", 0),
        ("sysbench-threads", "thread_locks", 0),
        ("sysbench-mutex", "time", "soon"),
        ("sysbench-memory", "memory_oper", "wipe"),
    ]:
        said = refused(sim, "smp4", scenario(kind, **{option: value}))
        assert f'workloads[0].{option.replace("_", "-")}: "{value}"' in said


def test_own_code_costs_the_same_cycles_on_every_machine(sim: Simulator) -> None:
    """A cycle a turn of the mutex test's loop, whatever a cycle takes."""
    options = {"threads": 1, "mutex_locks": 100, "mutex_loops": 10_000}

    def seconds(mhz: int) -> float:
        described = machine("smp4")
        described["core"] = {"mhz": mhz}
        return Load(sim, described, scenario("sysbench-mutex", **options))["total time"]

    difference = seconds(2000) - seconds(4000)
    assert difference == pytest.approx(100 * 10_000 * 0.25e-9, rel=0.01)
