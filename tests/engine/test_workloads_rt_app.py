"""rt-app's files in the simulator."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from schedlab.benchmarks.benchmark import Output
from schedlab.benchmarks.rt_app import Row, parse, read_log, rt_app_model
from tests.helpers import builds
from tests.helpers.engine.simulator import Simulator, machine
from tests.helpers.rt_app_files import EXAMPLES, ROWS, files

Json = dict[str, Any]
FEW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def scenario(file: Path, logs: Path | None = None, **more: Any) -> Json:
    workload = {"kind": "rt-app", "file": str(file)} | ({"logdir": str(logs)} if logs else {})
    end = {"when": "workloads_done", "max_simulated": "100s"}
    return {"duration": "100s", "settle": "100ms", "workloads": [workload], "end": end, **more}


def example(name: str) -> Path:
    return next(path for path in EXAMPLES if path.stem == name)


def run(sim: Simulator, machine: str, text: str, **more: Any) -> dict[str, list[Row]]:
    """The rows of each thread of a file of this text."""
    for left in sim.scratch.glob("*.log"):
        left.unlink()
    file = sim.scratch / "x.json"
    file.write_text(text)
    sim(machine, scenario(file, sim.scratch, **more))
    return {path.stem.removeprefix("rt-app-"): read_log(path) for path in sim.scratch.glob("*.log")}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples(sim: Simulator, tmp_path: Path, file: Path) -> None:
    result = sim("smp4", scenario(file, tmp_path))
    logs = {path.stem.partition("-")[2]: read_log(path) for path in tmp_path.glob("*.log")}
    assert {name: len(rows) for name, rows in logs.items()} == ROWS[file.stem]
    assert result["metrics"]["rt-app.phases"] == sum(ROWS[file.stem].values())
    again = sim("smp4", scenario(file))
    assert again["trace_hash"] == result["trace_hash"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_lab_reads_from_logs_what_the_simulator_tells(
    sim: Simulator, tmp_path: Path, file: Path
) -> None:
    result = sim("smp4", scenario(file, tmp_path))
    values = parse(Output("", folder=tmp_path))
    for metric, name in rt_app_model(str(file)).figures.items():
        assert result["metrics"][name] == pytest.approx(values[metric])


def test_work_is_measured_by_the_cpu_that_is_named(sim: Simulator) -> None:
    text = """{ "global" : { "calibration" : "CPU%d" }, "tasks" : {
        "small" : { "loop" : 3, "cpus" : [0], "run" : 1000 },
        "big" : { "loop" : 3, "cpus" : [7], "run" : 1000 } } }"""
    by_small, by_big = (run(sim, "hikey960", text % cpu) for cpu in (0, 7))
    ratio = by_big["small-0"][-1].run / by_big["big-1"][-1].run
    assert ratio == pytest.approx(1 / 0.61, rel=0.02)  # machines/hikey960.toml
    assert by_small["small-0"][-1].run == pytest.approx(1000, rel=0.02)
    assert by_big["big-1"][-1].run == pytest.approx(1000, rel=0.02)


@pytest.mark.parametrize("reference", [0, 7])
def test_the_work_is_the_same_at_any_frequency(sim: Simulator, reference: int) -> None:
    """A variant that slows the CPU would look better if there were less to do."""
    text = """{ "global" : { "calibration" : "CPU%d" }, "tasks" : {
        "t" : { "loop" : 9, "cpus" : [0], "run" : 1000, "sleep" : 9000 } } }"""
    file = sim.scratch / "x.json"
    file.write_text(text % reference)
    worked = []
    for governor in ("performance", "schedutil"):
        board = copy.deepcopy(machine("hikey960"))
        for entry in board["cpu"]:
            entry["governor"] = governor
        worked.append(sim(board, scenario(file))["task_time"]["t"]["parts_ns"])
    fast, slow = worked
    assert fast["user"] == pytest.approx(slow["user"], rel=0.01)
    assert slow["frequency"] > 0.2 * slow["user"] > fast["frequency"]


def test_timers(sim: Simulator) -> None:
    """One overrun: a relative timer begins anew after it, an absolute one catches up."""
    text = """{ "tasks" : { "t" : { "loop" : 1, "phases" : {
        "a" : { "run" : 1000, "timer" : { "ref" : "unique", "period" : 10000, "mode" : "%s" } },
        "b" : { "run" : 24000, "timer" : { "ref" : "unique", "period" : 10000 } },
        "c" : { "loop" : 3, "run" : 1000, "timer" : { "ref" : "unique", "period" : 10000 } }
        } } } }"""
    for mode, ends in ("relative", [10, 34, 44, 54, 64]), ("absolute", [10, 34, 35, 40, 50]):
        rows = run(sim, "smp4", text % mode)["t-0"]
        begin = rows[0].start
        assert [round((row.end - begin) / 1000) for row in rows] == ends
        assert rows[1].slack < 0 == rows[1].wu_lat


def test_an_instance_each_has_its_unique_timer(sim: Simulator) -> None:
    text = """{ "tasks" : { "t" : { "instance" : 3, "loop" : 4, "phases" : {
        "a" : { "run" : 100, "timer" : { "ref" : "%s", "period" : 6000 } } } } } }"""
    own = run(sim, "smp4", text % "unique")
    shared = run(sim, "smp4", text % "together")
    assert {round(row.period, -3) for rows in own.values() for row in rows} == {6000}
    # Others move the shared timer on while a thread sleeps: it is late by when it was to wake.
    assert max(row.wu_lat for rows in shared.values() for row in rows) < 1000
    ends = {row.end // 1000 for rows in shared.values() for row in rows}
    assert len(ends) > 8  # each pushes it on for all


def test_duration_ends_threads_wherever_they_are(sim: Simulator) -> None:
    text = """{ "global" : { "duration" : 1 }, "tasks" : {
        "busy" : { "runtime" : 700 }, "stuck" : { "suspend" : "x" }, "nap" : { "sleep" : 300000 } } }"""
    rows = run(sim, "smp4", text)
    assert {name: len(of) for name, of in rows.items()} == {
        "busy-0": pytest.approx(1000 / 0.71, rel=0.05),
        "stuck-1": 0,
        "nap-2": 3,
    }
    assert all(row.end - row.start >= 700 for row in rows["busy-0"])


def test_threads_that_wait_for_each_other(sim: Simulator, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"tasks" : {"a" : {"loop" : 1, "suspend" : "x"}}}')
    done = sim.start("smp4", scenario(file))
    assert done.returncode == 3
    assert "deadlock in workload rt-app" in done.stderr


def test_a_call_begins_anew(sim: Simulator) -> None:
    """The warm-up calls it again, and the end of a call finds threads that wait and that hold."""
    text = """{ "global" : { "duration" : 1 }, "tasks" : {
        "holds" : { "instance" : 3, "lock" : "m", "run" : 900, "unlock" : "m", "sleep" : 50 },
        "meets" : { "instance" : 3, "run" : 300, "barrier" : "b" },
        "comes" : { "run" : 700, "resume" : "goes" },
        "goes" : { "run" : 10, "suspend" : "goes" } } }"""
    rows = run(sim, "smp4", text, warmup="settled")
    assert min(len(of) for of in rows.values()) > 100


def test_a_group_of_the_scenario(sim: Simulator) -> None:
    text = """{ "tasks" : { "t" : { "loop" : 3, "run" : 20000, "taskgroup" : "/half" } } }"""
    free = run(sim, "smp4", text.replace("/half", "/a/b/c"))
    half = run(sim, "smp4", text, groups=[{"path": "/half", "cpu.max": "5000 10000"}])
    assert free["t-0"][-1].run == pytest.approx(20000, rel=0.02)
    assert half["t-0"][-1].run == pytest.approx(40000, rel=0.2)


def test_priorities(sim: Simulator) -> None:
    """Beside a hog: first in, first out takes no notice of it, a fair task shares with it."""
    text = """{ "global" : { "duration" : 1 }, "tasks" : {
        "hog" : { "cpus" : [0], "run" : 2000 },
        "task" : { "cpus" : [0], "policy" : "%s", "run" : 20000,
                   "timer" : { "ref" : "unique", "period" : 50000 } } } }"""
    fifo, fair = (run(sim, "smp4", text % f"SCHED_{name}")["task-1"] for name in ("FIFO", "OTHER"))
    assert (len(fifo), len(fair)) in ((20, 19), (20, 20))
    assert max(row.run for row in fifo) <= 20_050
    assert min(row.run for row in fair) > 30_000


def test_slices(sim: Simulator) -> None:
    """One of 20 ms lets a task of 400 us past no sooner than it asks for."""
    text = """{ "global" : { "duration" : 2 }, "tasks" : {
        "hog" : { "instance" : 2, "cpus" : [0], "run" : 20000, "slice" : 20000 },
        "small" : { "cpus" : [0], "run" : 500, "slice" : %d,
                    "timer" : { "ref" : "unique", "period" : 7000 } } } }"""
    soon, late = (run(sim, "smp4", text % slice_us)["small-2"] for slice_us in (400, 30_000))
    mean = [sum(row.wu_lat for row in rows) / len(rows) for rows in (soon, late)]
    assert mean[0] < 0.7 * mean[1]


def test_slices_of_a_kernel_without(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"tasks" : {"a" : {"loop" : 1, "run" : 1, "slice" : 1000}}}')
    done = Simulator(builds.build("6.1"), tmp_path).start("smp4", scenario(file))
    assert (done.returncode, "gives all fair tasks the same" in done.stderr) == (2, True)


@FEW
@given(drawn=files())
def test_any_right_file_runs(sim: Simulator, drawn: tuple[str, dict[str, int]]) -> None:
    text, expected = drawn
    rows = run(sim, "smp4", text)
    assert {name: len(of) for name, of in rows.items()} == expected
    assert run(sim, "smp4", text) == rows


def test_an_error_names_file_line_and_key(sim: Simulator, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"tasks" : {"a" : {"loop" : 1,\n"timer" : {"ref" : "t"}}}}')
    # A path is seen from the scenario's folder.
    done = sim.start("smp4", scenario(Path("x.json")))
    place = re.escape(str(tmp_path / "x.json"))
    message = rf'schedsim: workload rt-app: {place}:2: tasks\.a\.timer: "period" is missing\n'
    assert (done.returncode, bool(re.fullmatch(message, done.stderr))) == (2, True), done.stderr


def test_a_cpu_of_another_machine(sim: Simulator, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"tasks" : {"a" : {"loop" : 1, "run" : 1, "cpus" : [5]}}}')
    done = sim.start("smp4", scenario(file))
    assert (done.returncode, "there is no CPU 5, the last is 3" in done.stderr) == (2, True)
    assert sim.start("hikey960", scenario(file)).returncode == 0
