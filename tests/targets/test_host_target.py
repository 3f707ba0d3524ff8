"""The host target with real processes on a made-up file tree: companions, servers, clock, disk."""

import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import HostError
from schedlab.base.system import Exit, Launch, LocalSystem
from schedlab.benchmarks import Case, Command, Output, find_benchmark
from schedlab.benchmarks.benchmark import Benchmark, Values
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import Server
from schedlab.benchmarks.tool import Tool
from schedlab.kernels.native import schedlab_load
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.targets.disturbance import BusyWindow
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Order
from tests.helpers.rooted import RootedSystem, small_server
from tests.helpers.rt_app_files import EXAMPLES

TIME = Metric("time", "s", "lower", "Time (sec)")


@pytest.fixture
def system(tmp_path: Path) -> RootedSystem:
    return RootedSystem(small_server(tmp_path / "root"))


def parse(output: Output) -> Values:
    return {TIME: output.number_after("Time:")}


def shell_case(script: str, server: Server | None = None) -> Case:
    command = Command("sh", "-c", script, server=server)
    made_up = Benchmark("Made", "up", Tool("sh"), (), (TIME,), parse, lambda: command, {})
    return Case("Made", made_up, {})


def one_run(system: LocalSystem, tmp_path: Path, case: Case, **variant: Any) -> RunRecord:
    """Open the target for a plan of two variants, and do one run of the second."""
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "Made"}],
            "variant": [{"name": "base"}, {"name": "changed", **variant}],
            "blocks": {"settle": "10ms", "timeout": "10min"},
            "counters": ["procstat"],
        }
    )
    order = Order(RunKey(case.label, "changed", 0), case, plan.variant[1], seed=1, position=0)
    with HostTarget(system).open(plan, [case], tmp_path) as session:
        return session.run(order, tmp_path / "raw")


def test_environment_and_prefix_reach_the_benchmark(system: LocalSystem, tmp_path: Path) -> None:
    record = one_run(
        *(system, tmp_path, shell_case("echo Time: $FIGURE")),
        env={"FIGURE": "4.5"},
        prefix=["nice", "-n", "1"],
    )
    assert record.metrics == {"time": 4.5}
    assert record.command == "FIGURE=4.5 nice -n 1 sh -c 'echo Time: $FIGURE'"
    assert record.counters["context-switches"] == 0
    assert (tmp_path / record.raw / "stdout.txt").read_text() == "Time: 4.5\n"


def test_files_lie_where_a_benchmark_runs(system: LocalSystem, tmp_path: Path) -> None:
    command = Command(
        *("sh", "-c", "cat figure.txt; echo left > mine.log"),
        enclosures=(Enclosure("figure.txt", "Time: 2.5\n", "somewhere.txt"),),
        note="made up",
    )
    made = shell_case("")
    seen: list[str] = []

    def parse_folder(output: Output) -> Values:
        seen.extend(sorted(path.name for path in output.folder.iterdir()))
        return parse(output)

    benchmark = replace(made.benchmark, parse=parse_folder, build=lambda: command)
    case = replace(made, benchmark=benchmark)
    record = one_run(system, tmp_path, case, env={"A": "1"})
    assert (record.error, record.metrics) == ("", {"time": 2.5})
    assert seen == ["figure.txt", "mine.log", "stderr.txt", "stdout.txt"]


def test_our_own_program_stands_in_where_rt_app_is_not(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        schedlab_load()
    except HostError as error:
        pytest.skip(str(error))
    which = system.which
    monkeypatch.setattr(system, "which", lambda tool: None if tool == "rt-app" else which(tool))
    monkeypatch.setenv("PATH", os.environ["PATH"])  # our program's folder is added to it
    [file] = [path for path in EXAMPLES if path.stem == "periodic"]
    case = find_benchmark("RtApp", "here").case(
        HostTarget(system).machine(), {"file": str(file)}, "Made", "here"
    )
    record = one_run(system, tmp_path, case, env={"A": "1"})
    assert record.error == ""
    assert {"wakeup_latency", "run"} <= set(record.metrics)
    assert record.command.startswith("A=1 schedlab-load rt-app --file periodic-")


def test_a_note_is_told_with_the_result(system: LocalSystem, tmp_path: Path) -> None:
    made = shell_case("true")
    noted = replace(made.benchmark, build=lambda: Command("true", note="a stand-in"))
    plan = Plan.model_validate(
        {"benchmark": [{"name": "Made"}], "variant": [{"name": "a"}, {"name": "b"}], "aa": True}
    )
    with HostTarget(system).open(plan, [replace(made, benchmark=noted)], tmp_path) as session:
        assert "Made: a stand-in" in session.notices


def companion(script: str, **more: object) -> dict[str, object]:
    return {"companion": {"command": ["sh", "-c", script], **more}}


def test_a_run_waits_for_its_companion_and_ends_it(system: LocalSystem, tmp_path: Path) -> None:
    ready, gone = tmp_path / "root" / "ready", tmp_path / "gone"
    script = (
        f"trap 'touch {gone}; exit' TERM; sleep 0.3; echo on > {ready};"
        " while :; do sleep 0.05; done"
    )
    record = one_run(
        *(system, tmp_path, shell_case(f"grep -q on {ready} && echo Time: 1")),
        **companion(script, ready_file="/ready", ready_value="on"),
    )
    assert record.error == ""
    assert record.metrics == {"time": 1.0}
    assert record.caveats == [], "the companion is no orphan of the benchmark"
    assert gone.exists()


@pytest.mark.parametrize(
    ("script", "more", "why"),
    [
        ("exit 3", {"ready_file": "/r", "ready_value": "1"}, "sh ended at once"),
        (
            "echo libbpf: failed: -EACCES >&2; exit 3",
            {"ready_file": "/r", "ready_value": "1"},
            "the last words of sh: libbpf: failed: -EACCES",
        ),
        (
            "sleep 100",
            {"ready_file": "/r", "ready_value": "1", "ready_seconds": 0.2},
            "sh was not ready after 0.2 s",
        ),
        ("true", {}, "companion sh ended before the run did"),
    ],
)
def test_a_companion_that_does_not_serve_fails_the_run(
    system: LocalSystem, tmp_path: Path, script: str, more: dict[str, object], why: str
) -> None:
    case = shell_case("sleep 1; echo Time: 1")
    record = one_run(system, tmp_path, case, **companion(script, **more))
    assert record.status == "failed"
    assert why in record.error
    assert record.metrics == {}


def free_port() -> int:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        return int(probing.getsockname()[1])


def server_of(port: int) -> Server:
    address = f"('127.0.0.1', {port})"
    serve = f"import socket, time; s = socket.create_server({address}); time.sleep(100)"
    return Server((sys.executable, "-c", serve), port)


def test_a_server_serves_and_is_ended(system: LocalSystem, tmp_path: Path) -> None:
    port = free_port()
    record = one_run(
        system, tmp_path, shell_case("echo Time: 2", server_of(port)), env={"MARK": "1"}
    )
    assert record.error == ""
    with socket.socket() as asking:
        assert asking.connect_ex(("127.0.0.1", port)) != 0


def test_what_a_server_uses_is_no_other_load(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []

    def others_share(_: BusyWindow, own: float = 0.0) -> float:
        shares.append(own)
        return 0.0

    monkeypatch.setattr(BusyWindow, "others_share", others_share)
    port, go, done = free_port(), tmp_path / "go", tmp_path / "done"
    serve = (
        f"import os, socket, time\ns = socket.create_server(('127.0.0.1', {port}))\n"
        f"while not os.path.exists('{go}'): time.sleep(0.02)\n"
        "end = time.process_time() + 0.1\nwhile time.process_time() < end: pass\n"
        f"open('{done}', 'w')\ntime.sleep(100)"
    )
    server = Server((sys.executable, "-c", serve), port)
    script = f"touch {go}; until [ -e {done} ]; do sleep 0.05; done; echo Time: 2"
    record = one_run(system, tmp_path, shell_case(script, server), env={"A": "1"})
    assert record.error == ""
    assert shares[-1] >= 0.08


def test_somebody_elses_server_is_not_measured(system: LocalSystem, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        case = shell_case("echo Time: 2", server_of(port))
        record = one_run(system, tmp_path, case, env={"MARK": "1"})
    assert f"port {port} is taken" in record.error


def test_a_clock_set_during_a_run_fails_it(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    execute = system.execute

    def stepping(launch: Launch) -> Exit:
        monkeypatch.setattr(time, "time", lambda: real() + 3600)
        return execute(launch)

    monkeypatch.setattr(system, "execute", stepping)
    record = one_run(system, tmp_path, shell_case("echo Time: 1"), env={"MARK": "1"})
    assert "the clock was set by +3600.0 s during the run" in record.error


def test_orphans_are_ended_and_told(system: LocalSystem, tmp_path: Path) -> None:
    case = shell_case("setsid sleep 1000 & echo Time: 1")
    record = one_run(system, tmp_path, case, env={"MARK": "1"})
    assert record.status == "ok"
    assert record.caveats == ["left a process running; killed"]


def test_a_flood_of_garbage_is_a_failed_run(system: LocalSystem, tmp_path: Path) -> None:
    case = shell_case("head -c 20000000 /dev/urandom")
    record = one_run(system, tmp_path, case, env={"MARK": "1"})
    assert record.error == "the output has no 'Time:' line"


def test_a_label_with_slashes_stays_inside_the_result(system: LocalSystem, tmp_path: Path) -> None:
    case = replace(shell_case("echo Time: 1"), label="../../16 groups")
    record = one_run(system, tmp_path, case, env={"MARK": "1"})
    assert record.status == "ok"
    assert Path(record.raw).parts[0] == "raw"
    assert len(Path(record.raw).parts) == 2
