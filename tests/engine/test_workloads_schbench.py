"""schbench, old and new, in the simulator."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator

SHORT = {"runtime": "2s", "warmuptime": 0}
LONG = {"runtime": "20s", "warmuptime": 0}


def test_old_counts_from_one_stamp(sim: Simulator) -> None:
    """Later workers of a batch wait for the earlier ones' wakeups, a few microseconds each."""
    few, many = (
        Load(sim, "epyc-7713-2p-nps1", scenario("schbench-old", threads=n, **LONG)) for n in (2, 64)
    )
    assert 1 <= few["latency p50"] < many["latency p50"] < 64 * 5
    assert many["latency p50"] == pytest.approx(many["latency p90"] / 1.8, rel=0.4)


def test_old_cycle(sim: Simulator) -> None:
    """A worker's 30 ms lie in its message thread's cycle of 30 ms and 30 to 37.5 ms of sleep."""
    load = Load(sim, "smp4", scenario("schbench-old", message_threads=1, threads=1, **SHORT))
    assert 2000 / 98 - 2 <= load["samples"] <= 2000 / 60 + 1
    assert load["average rps"] == pytest.approx(load["samples"] / 2, rel=0.1)


@pytest.mark.parametrize("version", ["schbench-old", "schbench"])
def test_threads_touch_their_stacks(sim: Simulator, version: str) -> None:
    """Pages that NUMA balancing has marked cost a woken thread faults."""
    load = Load(sim, "numa16", scenario(version, threads=2, **LONG))
    assert load.counters["schedlab:numa_fault"] > 0


def test_old_explodes_when_workers_queue(sim: Simulator) -> None:
    """Three workers a CPU wait for the ticks that end the others' slices, or less with HRTICK."""
    asked = scenario("schbench-old", message_threads=1, threads=12, **SHORT)

    def latency(hrtick: bool) -> float:
        runs = (
            Load(sim, "smp4", {**asked, "features": {"HRTICK": hrtick}}, seed=seed)
            for seed in (1, 2, 3)
        )
        return sum(run["latency p99"] for run in runs) / 3

    assert latency(hrtick=True) < latency(hrtick=False)
    assert latency(hrtick=False) > 10_000


def test_new_does_its_work(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("schbench", threads=3, runtime="2s"))
    # us: the network, and the matrices, at 0.27 ns a cycle
    work = 100 + 5 * 104**3 * 3.18 * 0.27e-3
    assert load["request p50"] == pytest.approx(work, rel=0.1)
    assert load["average rps"] <= 3e6 / work
    assert load["rps p50"] == pytest.approx(load["average rps"], rel=0.1)
    assert load["wakeup p50"] < 100


def test_locks_keep_requests_off_a_preempted_ones_cpu(sim: Simulator) -> None:
    """With locks, who comes to a CPU of a preempted holder spins: less is done."""
    with_, without = (
        Load(sim, "smp4", scenario("schbench", threads=12, runtime="2s", no_locking=no))
        for no in (False, True)
    )
    assert with_["average rps"] < without["average rps"]


def test_footprint_and_operations_are_the_work(sim: Simulator) -> None:
    options = {"threads": 2, "runtime": "1s", "operations": 10}
    small = scenario("schbench", **options)
    small["workloads"][0]["cache_footprint"] = 64
    big, small_ = Load(sim, "smp4", scenario("schbench", **options)), Load(sim, "smp4", small)
    assert big["request p50"] / small_["request p50"] == pytest.approx(6.8, rel=0.2)


def test_who_touches_nothing_has_nothing_to_refill(sim: Simulator) -> None:
    def refilled(**options: int) -> float:
        asked = scenario("schbench", threads=24, runtime="1s", warmuptime=0, **options)
        asked["workloads"][0]["sleep_usec"] = 0
        counters = Load(sim, "numa16", asked).counters
        return float(counters["cost:refill_ns"] / counters["sched:sched_migrate_task"])

    assert refilled(operations=0) < 0.2 * refilled(operations=1)


@pytest.mark.parametrize("kind", ["schbench", "schbench-old"])
def test_repeats(sim: Simulator, kind: str) -> None:
    asked = scenario(kind, threads=8, runtime="1s", warmuptime=0)
    first, again, other = (Load(sim, "numa16", asked, seed) for seed in (1, 1, 2))
    assert (first.hash, first.results) == (again.hash, again.results)
    assert other.hash != first.hash


def test_bad_parameters(sim: Simulator) -> None:
    said = refused(sim, "smp4", scenario("schbench", message_threads=0))
    assert 'message-threads: "0" is out of range' in said
    said = refused(sim, "smp4", scenario("schbench-old", runtime=0))
    assert 'runtime: "0" is out of range' in said
