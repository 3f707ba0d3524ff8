"""Our own workloads as benchmarks: one table for the host's command and the simulator's model."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.base.errors import HostError, IncompleteRun
from schedlab.benchmarks import Output
from schedlab.benchmarks.benchmark import REGISTRY, Benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.kernels.native import schedlab_load
from schedlab.machine.model import find_machine

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


@pytest.fixture
def pipes() -> Iterator[Benchmark]:
    @stand_in(
        "OwnPipe",
        workload="sched-pipe",
        stands_for="perf bench",
        results={TIME: "time"},
        defaults={"loop": "cpus*100", "threaded": 1},
    )
    def own_pipe(loop: int, threaded: int) -> Options:
        """Two tasks."""
        return {"loop": loop, "threaded": bool(threaded)}

    yield REGISTRY["OwnPipe"]
    del REGISTRY["OwnPipe"]


def test_command_and_model_say_the_same(pipes: Benchmark) -> None:
    case = pipes.case(find_machine("smp4"), {}, None, "here")
    assert case.commands[0].argv == (
        "schedlab-load",
        "sched-pipe",
        "--loop",
        "400",
        "--threaded",
        "--json",
    )
    model = case.model()
    assert model is not None
    assert model.workload == {"kind": "sched-pipe", "loop": 400, "threaded": True}
    assert model.figures == {TIME: "sched-pipe.time"}


def test_it_runs_and_is_read(pipes: Benchmark) -> None:
    try:
        program = schedlab_load()
    except HostError as error:
        pytest.skip(str(error))
    case = pipes.case(find_machine("smp4"), {}, None, "here")
    done = subprocess.run(
        [program, *case.commands[0].argv[1:]], capture_output=True, text=True, check=True
    )
    values, _ = case.measure(case.commands[0], Output(done.stdout))
    assert 0 < values[TIME] < 60


@pytest.mark.parametrize("text", ["", "{", "[]", '{"results": [{}]}', '{"results": []}'])
def test_output_that_is_none(pipes: Benchmark, text: str) -> None:
    case = pipes.case(find_machine("smp4"), {}, None, "here")
    with pytest.raises(IncompleteRun):
        case.measure(case.commands[0], Output(text))


def test_a_result_of_another_name(pipes: Benchmark) -> None:
    case = pipes.case(find_machine("smp4"), {}, None, "here")
    report = json.dumps({"results": [{"name": "speed", "value": 1}]})
    with pytest.raises(IncompleteRun, match="no 'time'"):
        case.measure(case.commands[0], Output(report))


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(HostError, match="no-such-compiler is not installed"):
        schedlab_load()
