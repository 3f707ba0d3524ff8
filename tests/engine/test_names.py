"""Names that the engine shares with machine files, results and the manual: one list for each."""

from __future__ import annotations

import re

from schedlab.counters.engine_names import engine_names
from schedlab.counters.simulated import ENTRIES, FUNCTIONS
from tests.helpers.engine import described
from tests.helpers.engine.simulator import ROOT, Simulator


def test_results_have_the_names_of_the_lists(sim: Simulator) -> None:
    result = sim(
        "smp4", {"duration": "10ms", "tasks": [{"name": "t", "program": [{"run": "1ms"}]}]}
    )
    assert tuple(result["kernel_time_ns"]) == ENTRIES != ()
    assert tuple(result["functions"]) == FUNCTIONS != ()
    paid = {f"cost:{name}" for name in engine_names("PAID")}
    assert {name for name in result["counters"] if name.startswith("cost:")} == paid != set()


def test_machines_have_every_cost() -> None:
    lines = {f"line_{name}" for name in engine_names("DISTANCES")[1:]}
    sockets = {f"{name}_{end}" for name in engine_names("PROTOCOLS") for end in ("send", "receive")}
    costs = {*engine_names("COST_TIMES"), *engine_names("COST_NUMBERS"), *lines, *sockets}
    assert set(described.machine("smp4")["cost"]) == costs


def test_the_manual_lists_every_mechanism() -> None:
    manual = (ROOT / "docs/internals/engine.md").read_text()
    listed = re.search(r"^\| `ablate` \| mechanisms switched off: (.*) \|$", manual, re.MULTILINE)
    assert listed is not None
    assert tuple(listed[1].split(", ")) == engine_names("MECHANISMS")
