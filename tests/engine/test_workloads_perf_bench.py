"""perf bench's sched messaging, futex wake and mem memset in the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.engine.described import machine
from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator, is_lazy


@pytest.mark.parametrize("shape", [{}, {"pipe": True}, {"thread": True}])
def test_messaging_is_hackbench(sim: Simulator, shape: dict[str, bool]) -> None:
    """Same structure, so the same run."""
    asked = scenario("sched-messaging", groups=1, **shape)
    asked["workloads"][0]["nr_loops"] = 20
    messaging = Load(sim, "smp4", asked)
    threads = {"threads" if name == "thread" else name: True for name in shape}
    hackbench = Load(sim, "smp4", scenario("hackbench", groups=1, loops=20, **threads))
    assert messaging["messages"] == 20 * 20 * 20
    assert messaging["time"] == hackbench["time"]


def test_a_workload_keeps_to_its_cpus(sim: Simulator, series: str) -> None:
    """Two tasks that wake each other: spread over CPUs, or one wakeup for two switches.

    Not so with lazy preemption: who wakes the other goes on until it sleeps, and has to be woken too.
    """
    asked = scenario("sched-pipe", loop=1000)
    spread = Load(sim, "smp4", asked)
    asked["workloads"][0]["affinity"] = "2"
    together = Load(sim, "smp4", asked)
    assert spread.counters["sched:sched_wakeup"] == pytest.approx(2000, abs=50)
    wakeups = 2000 if is_lazy(series) else 1000
    assert together.counters["sched:sched_wakeup"] == pytest.approx(wakeups, rel=0.2)
    asked["workloads"][0]["affinity"] = "4"
    assert "workloads[0].affinity: 4-4 is not within 0-3" in refused(sim, "smp4", asked)


def test_a_pipe_across_clusters_takes_longer(sim: Simulator) -> None:
    """Measured on three servers: 1.5 to 2.0 us a round trip more than within a cluster."""
    two_clusters = machine("kunpeng-920-2p")
    two_clusters["topology"] = {
        **{level: ["0-7"] for level in ("llc", "package", "node")},
        **{"cpus": 8, "core": [*"01234567"], "cluster": ["0-3", "4-7"], "distance": [[10]]},
    }
    asked = scenario("sched-pipe", loop=1000)
    took = []
    for cpus in ("0-1", "0,4"):
        asked["workloads"][0]["affinity"] = cpus
        took.append(Load(sim, two_clusters, asked)["usecs/op"])
    assert 5.7 < took[0] < 7
    assert 1.2 < took[1] - took[0] < 2.1


def test_futex_wake_wakes_each_thread_once(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("futex-wake", threads=40, repeat=2))
    assert load["threads"] == 40
    # a thread is woken from its creation, from the condition, maybe the mutex, and the futex
    assert 2 * 40 * 3 <= load.counters["sched:sched_wakeup"] + 2 * 40 <= 2 * 40 * 6
    # each a few microseconds of the waker's
    assert 40 * 0.3e-3 < load["time"] < 40 * 20e-3


def test_memset_is_bound_by_memory_or_by_the_cache(sim: Simulator) -> None:
    fast, slow = (
        Load(sim, "kunpeng-920-6426-2p", scenario("mem-memset", size=size))["bandwidth"]
        for size in ("1MiB", "1GiB")
    )
    assert slow == pytest.approx(11.3, rel=0.02)
    assert fast > slow


@pytest.mark.parametrize(
    ("kind", "options"),
    [("sched-messaging", {"groups": 1}), ("futex-wake", {"repeat": 1}), ("mem-memset", {})],
)
def test_repeats(sim: Simulator, kind: str, options: dict[str, Any]) -> None:
    first, again = (Load(sim, "kunpeng-920-6426-2p", scenario(kind, **options)) for _ in range(2))
    assert (first.hash, first.results) == (again.hash, again.results)


def test_bad_parameters(sim: Simulator) -> None:
    assert 'nwakes: "0" is out of range' in refused(sim, "smp4", scenario("futex-wake", nwakes=0))
    assert "schedlab-load sched-messaging --help" in refused(
        sim, "smp4", scenario("sched-messaging", loops=1)
    )
