"""Sockets of one machine: how much may be under way, and who is woken when there is room."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.helpers.engine.loads import scenario
from tests.helpers.engine.simulator import Json, Simulator


def _on_one_cpu(fds: int, loops: int, datasize: int) -> Json:
    """A group of hackbench over unix sockets, where who is woken waits for its turn."""
    asked = scenario("hackbench", groups=1, fds=fds, loops=loops, datasize=datasize, threads=True)
    asked["workloads"][0]["affinity"] = "0"
    return {**asked, "features": {"WAKEUP_PREEMPTION": False}}


@pytest.mark.parametrize(("datasize", "room"), [(100, 278), (1000, 93)])
def test_a_unix_socket_takes_as_many_messages_as_a_real_one(
    sim: Simulator, datasize: int, room: int
) -> None:
    """`room` is what Linux 6.18 takes before send() blocks (SO_SNDBUF 212,992).

    The sender fills the socket, sleeps, and is woken when the receiver has emptied it to a
    quarter; the receiver then goes on until it is empty.
    """
    result = sim("smp4", _on_one_cpu(1, 2000, datasize))
    fillings = 2000 / room
    assert result["counters"]["switches:voluntary"] == pytest.approx(2 * fillings + 1, abs=3)


def test_room_in_a_unix_socket_wakes_all_that_wait_to_send(sim: Simulator, tmp_path: Path) -> None:
    """sock_wait_for_wmem() does not wait exclusively: one read wakes them together."""
    trace = tmp_path / "trace.txt"
    options = ("--trace", str(trace), "--trace-events", "sched:sched_waking")
    sim("smp4", _on_one_cpu(20, 100, 100), *options)
    woken = re.findall(r"([\d.]+): sched_waking: comm=sender", trace.read_text())
    times = [float(time) for time in woken]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    in_one_read = sum(gap < 0.4e-6 for gap in gaps)
    assert in_one_read > 0.5 * len(gaps)
