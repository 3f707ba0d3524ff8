"""The plans of the score measure for as long as a load takes to settle, and look more than once."""

import re

import pytest

from schedlab.cli.published import STUDY
from schedlab.lab.accuracy import published, record
from schedlab.lab.accuracy.published import Work, benchmarks, costs_of, works
from schedlab.machine.ledger import Entry
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.plan import BenchmarkEntry, find_plan, find_suite
from schedlab.plan.targets import split

SETTLING = 0.79
"""Seconds, the median of the score's settled runs (docs/internals/engine.md)."""
LENGTHS = {"Netperf": "length", "Tbench": "time"}
"""Of loads that are measured for a time and are settled before it: the parameter that says it."""


@pytest.mark.parametrize("work", works(""), ids=lambda work: work.plan_name)
def test_a_settled_plan_measures_as_long_as_it_settles_and_looks_twice(work: Work) -> None:
    if work.plan.cold:
        return
    assert work.plan.blocks.looks[-1] >= 2 * work.plan.blocks.looks[0] >= 12
    for entry in benchmarks(work.plan):
        if isinstance(entry, BenchmarkEntry) and (name := LENGTHS.get(entry.name)):
            ms = re.fullmatch(r"(\d+)ms", str(entry.simulated[name]))
            assert ms, entry
            assert int(ms[1]) >= SETTLING * 1000, entry


@pytest.mark.parametrize(
    ("figure", "value", "counts"),
    [("bpf_op", 7, False), ("futex", 7, True), ("futex", None, True), ("came_in_later", 7, False)],
)
def test_a_cost_that_cannot_have_acted_is_no_input_of_a_row(
    figure: str, value: int | None, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = works("group-util-kunpeng")[0]
    costs = costs_of(find_machine("kunpeng-920-6426-2p"))
    before = record.inputs_of(work, costs)

    def changed(name: str) -> Machine:
        machine = find_machine(name)
        cycles = {key: cycles for key, cycles in machine.cycles.items() if key != figure}
        new = cycles if value is None else {**cycles, figure: value}
        entry = Entry.model_validate({"range": [5, 9], "source": "estimate"})
        ledger = {**machine.ledger, f"cycles.{figure}": entry} if value else machine.ledger
        return machine.model_copy(update={"cycles": new, "ledger": ledger})

    monkeypatch.setattr(record, "find_machine", changed)
    assert (record.inputs_of(work, costs) != before) is counts


def test_every_recorded_row_counts() -> None:
    """Who changes a machine, a plan or a published table removes the rows that are of the old."""
    found = {
        work.plan_name: (work, work.plan.cases(find_machine(split(work.plan.target)[1])))
        for work in works("")
    }
    left_out: list[str] = []
    kept, _ = record.Record.of(STUDY).kept(found, left_out.append)
    assert not left_out
    assert sum(len(part.rows) for each in kept.values() for part in each.parts) >= 207


def test_what_a_plan_has_from_its_suite_is_part_of_what_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = find_plan("ilb-util-epyc-settled")[0]
    before = (published.what_is_asked(plan), published.design(plan))
    suite, where = find_suite("epyc-settled")
    shorter = suite.benchmark[0].model_copy(update={"simulated": {"runtime": "10s"}})
    fewer = suite.benchmark[1:]
    suites = {"shorter": (shorter, *fewer), "fewer": fewer}
    found = {}
    for name, entries in suites.items():
        changed = suite.model_copy(update={"benchmark": entries})
        monkeypatch.setattr(published, "find_suite", lambda _, changed=changed: (changed, where))
        found[name] = (published.what_is_asked(plan), published.design(plan))
    assert found["shorter"][0] == before[0]  # how long is measured is the design's
    assert found["shorter"][1] != before[1]
    assert found["fewer"][0] != before[0]
