"""The kinds of targets: each name is of one kind, and each kind's module makes its target."""

import importlib
import re
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.plan.targets import IMPORTED, SIM, TARGETS, TargetKind, kind_of, split
from schedlab.settings.setting import PLACES
from schedlab.targets.choice import find_system, find_target

SOURCES = Path(__file__).parents[2] / "schedlab"
every_kind = pytest.mark.parametrize("kind", TARGETS, ids=lambda kind: kind.name)


@every_kind
def test_a_name_is_split_as_it_was_made(kind: TargetKind) -> None:
    which = "a:b" if kind.takes else ""
    assert split(kind.target(which)) == (kind, which)
    assert kind.place in PLACES


@every_kind
def test_its_module_makes_targets_of_it(kind: TargetKind) -> None:
    module = importlib.import_module(f"schedlab.targets.{kind.module}")
    assert callable(module.named)
    assert hasattr(module, "system") != kind.created
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    assert kind in [getattr(each, "kind", None) for each in classes]


@every_kind
def test_a_name_that_is_not_complete_is_refused(kind: TargetKind) -> None:
    wrong = f"{kind.name}:" if kind.takes else f"{kind.name}:x"
    with pytest.raises(UsageError, match="no target is called") as refused:
        find_target(wrong)
    for other in TARGETS:
        assert other.syntax in str(refused.value)


@pytest.mark.parametrize("name", ["", "hosts", "imported", "imported:x", ":"])
def test_what_cannot_be_run_is_refused(name: str) -> None:
    for find in (find_target, find_system):
        with pytest.raises(UsageError, match="no target is called"):
            find(name)
    assert kind_of(name) not in TARGETS


@every_kind
def test_nothing_is_switched_on_what_is_created_for_a_run(kind: TargetKind) -> None:
    if kind.created:
        with pytest.raises(UsageError, match="created for each run"):
            find_system(kind.target("x"))


@every_kind
def test_a_machine_is_for_those_that_show_one(kind: TargetKind) -> None:
    if not kind.shows_machine:
        with pytest.raises(UsageError, match="only the target vm:KERNEL takes a machine"):
            find_target(kind.target("x"), "smp4")


def test_a_simulated_target_is_of_its_kind() -> None:
    target = find_target("sim:smp4")
    assert (target.kind, target.name) == (SIM, "sim:smp4")


def test_imported_results_cannot_be_run_again() -> None:
    assert kind_of("imported") is IMPORTED


def test_nobody_else_takes_the_name_of_a_target_apart() -> None:
    names = "|".join(kind.name for kind in (*TARGETS, IMPORTED))
    asked = re.compile(rf"startswith\(\"({names}):|removeprefix\(\"({names}):|target\.partition")
    for source in SOURCES.rglob("*.py"):
        if source.name != "targets.py":
            assert not asked.search(source.read_text()), source
