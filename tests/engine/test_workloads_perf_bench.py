"""perf bench's sched messaging and futex wake in the simulator."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Simulator
from loads import Load, refused, scenario


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


def test_futex_wake_wakes_each_thread_once(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("futex-wake", threads=40, repeat=2))
    assert load["threads"] == 40
    # a thread is woken from its creation, from the condition, maybe the mutex, and the futex
    assert 2 * 40 * 3 <= load.counters["sched:sched_wakeup"] + 2 * 40 <= 2 * 40 * 6
    # each a few microseconds of the waker's
    assert 40 * 0.3e-3 < load["time"] < 40 * 20e-3


def test_waking_more_at_a_time_needs_fewer_calls(sim: Simulator) -> None:
    one, all_ = (
        Load(sim, "smp4", scenario("futex-wake", threads=64, repeat=1, nwakes=n))["time"]
        for n in (1, 64)
    )
    assert all_ < one


@pytest.mark.parametrize("kind", ["sched-messaging", "futex-wake"])
def test_repeats(sim: Simulator, kind: str) -> None:
    options: dict[str, Any] = {"groups": 1} if kind == "sched-messaging" else {"repeat": 1}
    first, again = (Load(sim, "numa16", scenario(kind, **options)) for _ in range(2))
    assert (first.hash, first.results) == (again.hash, again.results)


def test_bad_parameters(sim: Simulator) -> None:
    assert 'nwakes: "0" is out of range' in refused(sim, "smp4", scenario("futex-wake", nwakes=0))
    assert "schedlab-load sched-messaging --help" in refused(
        sim, "smp4", scenario("sched-messaging", loops=1)
    )
