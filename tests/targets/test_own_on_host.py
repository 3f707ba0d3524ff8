"""Commands of a plan on a host: what they may do, and what is cleaned up after them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import HostError, Interrupted
from schedlab.base.system import LocalSystem
from schedlab.base.system.interrupt import stoppable
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Order
from tests.helpers.processes import is_alive
from tests.helpers.rooted import RootedSystem, small_server

TIME = {"name": "time", "regex": "Time: (.*)", "unit": "s", "better": "lower"}


@pytest.fixture
def system(tmp_path: Path) -> LocalSystem:
    return RootedSystem(small_server(tmp_path / "root"))


def one_run(system: LocalSystem, tmp_path: Path, script: str, **entry: Any) -> RunRecord:
    program = tmp_path / "my-app"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    own = {"name": "my-app", "command": str(program), "metrics": [TIME], **entry}
    plan = Plan.model_validate(
        {
            "benchmark": [own],
            "variant": [{"name": "A1"}, {"name": "A2"}],
            "aa": True,
            "blocks": {"settle": "1ms"},
            "counters": [],
        }
    )
    target = HostTarget(system)
    cases = plan.cases(target.machine())
    order = Order(RunKey("my-app", "A2", 0), cases[0], plan.variant[1], seed=1, position=0)
    with target.open(plan, cases, tmp_path) as session:
        return session.run(order, tmp_path / "raw")


def test_its_figure_is_read(system: LocalSystem, tmp_path: Path) -> None:
    record = one_run(system, tmp_path, "echo Time: 2.5 >&2")
    assert (record.error, record.metrics) == ("", {"time": 2.5})
    assert record.command == str(tmp_path / "my-app")


@pytest.mark.parametrize(
    ("script", "entry", "reason"),
    [
        ("echo boo", {}, "'Time: (.*)' matches nothing in what was printed (standard output: boo)"),
        (r"printf '\377\001boo'", {}, "(standard output: \N{REPLACEMENT CHARACTER}\\x01boo)"),
        ("echo Time: 0", {}, "time is 0 s, which is not a result"),
        ("echo Time: 1; exit 3", {}, "exit status 3: Time: 1"),
        ("echo Time: 1", {"setup": ["false"]}, "setting up: false ended with 1"),
        ("echo Time: 1", {"teardown": ["false"]}, "tearing down: false ended with 1"),
        ("exit 3", {"teardown": ["false"]}, "exit status 3; tearing down: false ended with 1"),
        ("trap '' TERM; while :; do sleep 0.01; done", {"timeout": "100ms"}, "end within 0.1 s"),
    ],
)
def test_a_run_that_does_not_count_says_why(
    system: LocalSystem, tmp_path: Path, script: str, entry: dict[str, Any], reason: str
) -> None:
    record = one_run(system, tmp_path, script, **entry)
    assert record.status == "failed"
    assert reason in record.error
    assert record.metrics == {}


def test_what_it_leaves_running_is_ended(system: LocalSystem, tmp_path: Path) -> None:
    leave = f"setsid sleep 1000 >/dev/null 2>&1 & echo $! >{tmp_path}/pid; echo Time: 1"
    record = one_run(system, tmp_path, leave)
    assert (record.error, record.caveats) == ("", ["left a process running; killed"])
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_output_without_end_is_cut_off(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedlab.plan.own._MOST_OUTPUT", 1 << 20)
    monkeypatch.setattr("schedlab.base.system.process._LOOK_SECONDS", 0.01)
    record = one_run(system, tmp_path, "exec yes")
    assert "printed more than 1 MiB; it and all it started were killed" in record.error
    assert (tmp_path / record.raw / "stdout.txt").stat().st_size == 1 << 20


def test_teardown_follows_whatever_happens(system: LocalSystem, tmp_path: Path) -> None:
    entry = {"setup": [f"mkdir {tmp_path}/data"], "teardown": [f"rmdir {tmp_path}/data"]}
    for script in ("echo Time: 1", "exit 1", "kill -KILL $$"):
        one_run(system, tmp_path, f"[ -d {tmp_path}/data ] && {script}", **entry)
        assert not (tmp_path / "data").exists()


def test_teardown_follows_an_interrupt(system: LocalSystem, tmp_path: Path) -> None:
    entry = {"setup": [f"mkdir {tmp_path}/data"], "teardown": [f"rmdir {tmp_path}/data"]}
    stop = f"{sys.executable} -c 'import os; os.kill({{}}, 2)'; exec sleep 1000"
    with stoppable(), pytest.raises(Interrupted):
        one_run(system, tmp_path, stop.format(os.getpid()), **entry)
    assert not (tmp_path / "data").exists()


def test_a_program_that_is_not_there_is_named(system: LocalSystem, tmp_path: Path) -> None:
    with pytest.raises(HostError) as error:
        one_run(system, tmp_path, "", command="./not-there")
    assert "./not-there is not installed: my-app." in str(error.value)
    assert "name it as ./PROGRAM or /PATH/PROGRAM, make it executable" in str(error.value)
