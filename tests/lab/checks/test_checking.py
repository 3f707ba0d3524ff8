"""The order of the runs of checks, and verdicts that are there already; nothing is simulated."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.lab.checks import checking
from schedlab.lab.checks.checking import Checking, Options, Planned
from schedlab.lab.checks.run import Judged
from schedlab.machine.model import find_machine


def planned(check: str, seed: int) -> Planned:
    wanted: Any = SimpleNamespace(kernel=f"of-{check}", bug=False)
    named: Any = SimpleNamespace(name=check)
    return Planned(named, find_machine("smp4"), wanted, seed)


def made(monkeypatch: pytest.MonkeyPatch, folder: Path, *runs: Planned) -> Checking:
    """Return checks of runs that fail, and whose content is their seed."""
    one = Checking.__new__(Checking)
    one.options = Options(output=folder, jobs=1)
    one.planned = list(runs)
    one._processes = SimpleNamespace(stop=lambda: None)  # type: ignore[assignment]
    monkeypatch.setattr(one, "asked", lambda planned: planned)
    monkeypatch.setattr(checking, "key_of", lambda asked, _: str(asked.seed))
    monkeypatch.setattr(checking, "judge", lambda *_: Judged("failed", 0.1, ("why",)))
    return one


def test_a_verdict_that_is_there_takes_the_name_it_is_asked_by(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    list(made(monkeypatch, tmp_path, planned("first", 1)).run())
    [found] = made(monkeypatch, tmp_path, planned("second", 1)).run()
    assert (found.check, found.kernel, found.word) == ("second", "of-second", "failed")
    assert found.problems == ("why",)


def test_each_check_runs_once_before_any_runs_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = [planned(check, seed) for check in ("a", "b") for seed in (1, 2)]
    order = [(each.check, each.seed) for each in made(monkeypatch, tmp_path, *runs).run()]
    assert sorted(order[:2]) == [("a", 1), ("b", 1)]
