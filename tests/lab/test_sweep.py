"""A sweep over hosts from Python: a process of its own for each, watched from ours."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.validation import validate
from schedlab.lab import worker
from schedlab.lab.forecast import Forecast
from schedlab.lab.result import Lab
from schedlab.lab.runner import Progress
from schedlab.lab.sweep import resume_sweep, run_sweep
from schedlab.lab.watcher import Watcher
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store
from tests.helpers.emulated import emulated_host


@pytest.fixture
def host(tmp_path: Path) -> str:
    return f"emulated:{emulated_host(tmp_path / 'host')}"


class Watched(Watcher):
    """Keeps all it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.plans: dict[str, Forecast] = {}
        self.began: list[RunKey] = []
        self.ended: list[RunRecord] = []
        self.left: list[float | None] = []
        self.open = False

    def say(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def running(self) -> Iterator[None]:
        self.open = True
        yield
        self.open = False

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> Progress:
        assert self.open
        self.plans[name] = forecast
        watched = self

        class Each(Progress):
            def start(self, key: RunKey) -> None:
                watched.began.append(key)

            def done(self, record: RunRecord) -> None:
                watched.ended.append(record)
                forecast.count(record.key.case)
                watched.left.append(forecast.longest)

        return Each()


def plan_of(host: str, **more: Any) -> Plan:
    content = {
        "benchmark": [{"name": "SysBenchCpu"}],
        "variant": [{"name": "a"}, {"name": "b", "sysctl": {"kernel.numa_balancing": "0"}}],
        "blocks": {"looks": [1], "warmup": 0, "settle": "0s"},
        "counters": [],
        **({"target": host} if host else {}),
    }
    return validate({**content, **more}, Plan, "plan")


def test_a_sweep_from_python_tells_its_watcher(host: str, tmp_path: Path) -> None:
    watched, folder = Watched(), tmp_path / "out"
    lab = Lab(watcher=watched, invocation="a notebook")
    swept = run_sweep(plan_of(host, sweep={"seed": [1]}), folder, lab)
    assert (swept.names, swept.failed) == (["point"], [])
    assert list(watched.plans) == swept.names
    assert len(watched.began) == len(watched.ended) == 2
    assert {record.key.variant for record in watched.ended} == {"a", "b"}
    assert [forecast.done for forecast in watched.plans.values()] == [2]
    assert watched.left[0], "what the first run took is known of the second"
    assert watched.left[1] == 0
    with closing(Store.open(folder / "point")) as store:
        assert store.invocation == "a notebook"
    assert resume_sweep(folder, lab).failed == []
    assert watched.lines[-1] == "point: 2 runs are recorded: the plan is complete, nothing is run."


def test_what_fails_on_one_host_leaves_the_others(host: str, tmp_path: Path) -> None:
    watched = Watched()
    none = f"emulated:{tmp_path / 'none'}"
    plan = plan_of("", sweep={"target": [none, host]})
    swept = run_sweep(plan, tmp_path / "out", Lab(watcher=watched))
    assert len(swept.names) == 2
    assert swept.failed == swept.names[:1]
    [line] = [line for line in watched.lines if line.startswith(swept.failed[0])]
    assert "none" in line
    assert "Traceback" not in line


def test_a_process_that_is_killed_is_said(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(killed))
    watched = Watched()
    task = worker.Task(plan_of(host), tmp_path / "out", "")
    assert not worker.Workers(watched).run("one", task)
    assert watched.lines == ["one: its process ended with status -9"]
