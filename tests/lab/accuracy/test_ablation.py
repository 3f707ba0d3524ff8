"""The ablation of the score: what each part takes away, and the row that says what it did."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from schedlab.benchmarks.model import Model
from schedlab.lab.accuracy.published import works
from schedlab.machine.model import find_machine
from schedlab.settings.variant import Variant
from schedlab.targets import sim
from tests.lab.accuracy.test_scoring import ROW

SCRIPT = Path(__file__).parents[3] / "benchmarks/predictions/ablation.py"


@pytest.fixture(scope="module")
def ablation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ablation", SCRIPT)
    assert spec and spec.loader
    module = sys.modules["ablation"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked() -> tuple[object, object]:
    """Return the scenario and the machine that a run on the EPYC is asked for."""
    model = Model({"kind": "hackbench"}, {})
    machine = find_machine("epyc-7713-2p-nps1")
    return sim.scenario(model, Variant(name="v"), 1.0), sim.description(machine)


def test_each_part_changes_a_plan_or_what_is_asked(ablation: ModuleType) -> None:
    before = asked()
    for part in ablation.PARTS:
        with ablation.taken_away(part):
            changes_run = asked() != before
        assert changes_run != (part.plan is not ablation.same), part.name
    assert asked() == before


def test_a_plan_without_a_part_is_left_out(ablation: ModuleType) -> None:
    parts = {part.name: part for part in ablation.PARTS}
    [hikey], [numa] = works("spread-llc-hikey"), works("numa-affinity-epyc")
    assert ablation.changed(hikey, parts["boost"], ()) is None
    assert ablation.changed(numa, parts["boost"], ()).plan == numa.plan
    assert ablation.changed(numa, parts["setup"], ()) is None
    bare = ablation.changed(hikey, parts["setup"], ()).plan
    assert bare.variant != hikey.plan.variant
    assert ablation.changed(hikey, parts["cold"], ()).plan.cold
    [tests] = works("wakelist-idle-xeon")
    some = ablation.changed(tests, parts["draws"], ("schbench-2-8", "other")).plan
    assert (some.only, some.exact) == (("schbench-2-8",), True)


def test_a_row_compares_the_same_rows(ablation: ModuleType) -> None:
    rows = [
        replace(ROW, simulated=-0.1, verdict="worse", low=-0.2, high=-0.05),
        replace(ROW, label="b", cold=True),
        replace(ROW, label="c", mark="calibration", verdict="can't tell"),
    ]
    whole = {row.key: replace(row, simulated=0.1, verdict="better") for row in rows}
    cells = ablation.line("x", "words", rows, whole).split(" | ")
    right, wrong = cells[3], cells[4]
    assert (cells[2], right, wrong) == ("2", "1 (2)", "1 (0)")
    assert cells[10:] == ["1 of 2", "0", "1", "20.0 |"]
    [moved] = ablation.verdicts("x", rows, whole)
    assert moved.startswith("| x | a-plan: hackbench-1, time | +20.0 | +10.0")
    assert moved.endswith("-10.0 (-20.0 to -5.0): wrong |")
