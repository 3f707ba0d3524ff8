"""Making a failed run smaller, with a simulator that only pretends."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from schedlab.base.errors import Interrupted
from schedlab.lab.checks import reduce
from schedlab.lab.checks.check import Check
from schedlab.lab.checks.run import Asked
from schedlab.machine.model import find_machine


@dataclass(frozen=True)
class Run:
    build: str
    check: Any
    machine: Any = None


def of(_: Run, where: Path, scenario: Mapping[str, Any], machine: Any, build: str) -> Run:
    return Run(build, SimpleNamespace(scenario=scenario), machine)


def judge(run: Run, _: object) -> SimpleNamespace:
    """Break what is expected by the bug, which needs its task, and on any kernel with one task."""
    names = [task["name"] for task in run.check.scenario["tasks"]]
    bug = run.build == "with the bug" and "its task" in names
    return SimpleNamespace(broken={"no-stall"} if bug or len(names) == 1 else set())


@pytest.mark.parametrize(("passing", "tasks"), [((), 1), (("without",), 2)])
def test_a_smaller_run_passes_where_the_whole_one_does(
    monkeypatch: pytest.MonkeyPatch, passing: tuple[str, ...], tasks: int
) -> None:
    monkeypatch.setattr(reduce, "judge", judge)
    monkeypatch.setattr(reduce, "_of", of)
    monkeypatch.setattr(reduce, "_machines", lambda machine: [])
    whole: Any = of(
        *(Run("", None), Path()),
        {"tasks": [{"name": name} for name in ("its task", "b", "c", "d")]},
        *(None, "with the bug"),
    )
    smaller: Any = reduce.reduced(whole, Path(), None, passing)  # type: ignore[arg-type]
    names = [task["name"] for task in smaller.check.scenario["tasks"]]
    assert len(names) == tasks
    assert tasks == 1 or "its task" in names


def test_who_stops_it_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter([judge, stopped])
    monkeypatch.setattr(reduce, "judge", lambda *words: next(calls)(*words))
    monkeypatch.setattr(reduce, "_of", of)
    monkeypatch.setattr(reduce, "_machines", lambda _: [])
    tasks = [{"name": "its task"}, {"name": "other"}]
    run: Any = Run("with the bug", SimpleNamespace(scenario={"tasks": tasks}))
    with pytest.raises(Interrupted):
        reduce.reduced(run, Path(), cast(Any, None))


def stopped(*_: object) -> SimpleNamespace:
    raise Interrupted("stopped by SIGINT")


def test_what_is_left_names_schedulers_sources_from_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Their headers lie beside them, so they are not copied."""
    monkeypatch.chdir(tmp_path)
    where = tmp_path / "check.toml"
    for given, written in (
        (
            "NO_WA_IDLE; scx='a b/vt.bpf.c'; scx-sub bench=own.bpf.c",
            f"NO_WA_IDLE; scx='{tmp_path}/a b/vt.bpf.c'; scx-sub bench={tmp_path}/own.bpf.c",
        ),
        ("scx=simple; NO_WA_IDLE", "scx=simple; NO_WA_IDLE"),
    ):
        where.write_text("title = 'It fails'")
        scenario = {"duration": "1s", "tasks": [{"name": "a"}]}
        check = Check(title="It fails", machines=("smp4",), settings=given, scenario=scenario)
        asked = Asked(str(where), check, find_machine("smp4"), cast(Any, None), 1, scenario)
        reduce.write_check(asked, where, tmp_path)
        assert tomllib.loads(where.read_text())["settings"] == written
