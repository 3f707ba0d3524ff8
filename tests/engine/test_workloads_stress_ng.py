"""stress-ng's pipe stressor in the simulator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator


def _on_one_cpu(**options: object) -> dict[str, object]:
    asked = scenario("stress-ng-pipe", timeout="50ms", **options)
    asked["workloads"][0]["affinity"] = "0"
    return asked


@pytest.mark.parametrize(("size", "messages"), [(0, 16), (4096, 1), (32768, 8)])
def test_a_full_pipe_holds_a_message_a_page(sim: Simulator, size: int, messages: int) -> None:
    """Alone on a CPU writer and reader take turns when the pipe is full or empty, or earlier."""
    load = Load(sim, "smp4", _on_one_cpu(pipe_size=size))
    turns = load.counters["switches:voluntary"] + load.counters["switches:involuntary"]
    assert load["bogo ops"] / (turns / 2) <= messages * 1.05


def test_packets_are_not_merged(sim: Simulator) -> None:
    """A page would hold eight messages of 512 bytes: their number does not depend on the size."""
    small = Load(sim, "smp4", _on_one_cpu(pipe_data_size=8))
    large = Load(sim, "smp4", _on_one_cpu(pipe_data_size=512))
    by_turn = [
        load["bogo ops"] / (load.counters["switches:voluntary"] + 1) for load in (small, large)
    ]
    assert by_turn[0] == pytest.approx(by_turn[1], rel=0.5)


def test_each_instance_forks_one_reader(sim: Simulator, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    asked = scenario("stress-ng-pipe", pipe=3, timeout="5ms")
    sim("smp4", asked, "--trace", str(trace), "--trace-events", "sched:sched_process_fork")
    text = trace.read_text()
    assert len(re.findall(r"comm=stress-ng-pipe pid=\d+ child_comm=reader", text)) == 3


def test_rate_is_operations_by_real_time(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("stress-ng-pipe", pipe=2, timeout="50ms"))
    assert load["real time"] == pytest.approx(0.05, rel=0.05)
    assert load["bogo ops/s"] == pytest.approx(load["bogo ops"] / load["real time"])


def test_bad_parameters(sim: Simulator) -> None:
    asked = scenario("stress-ng-pipe", pipe_data_size=4)
    assert "pipe-data-size" in refused(sim, "smp4", asked)
