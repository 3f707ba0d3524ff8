"""The plans of the score measure for as long as a load takes to settle, and look more than once."""

import re

import pytest

from schedlab.lab.accuracy import record
from schedlab.lab.accuracy.published import Work, works
from schedlab.machine.model import Machine, find_machine

SETTLING = 0.79
"""Seconds, the median of the score's settled runs (docs/internals/engine.md)."""
LENGTHS = {"Netperf": "length", "Tbench": "time"}
"""Of loads that are measured for a time and are settled before it: the parameter that says it."""


@pytest.mark.parametrize("work", works(""), ids=lambda work: work.plan_name)
def test_a_settled_plan_measures_as_long_as_it_settles_and_looks_twice(work: Work) -> None:
    if work.plan.cold:
        return
    assert work.plan.blocks.looks[-1] >= 2 * work.plan.blocks.looks[0] >= 12
    for entry in work.plan.model_dump()["benchmark"]:
        if name := LENGTHS.get(entry["name"]):
            ms = re.fullmatch(r"(\d+)ms", entry["simulated"][name])
            assert ms, entry
            assert int(ms[1]) >= SETTLING * 1000, entry


@pytest.mark.parametrize(("figure", "counts"), [("bpf_op", False), ("futex", True)])
def test_what_a_sched_ext_scheduler_takes_is_no_input_of_a_row(
    figure: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = works("group-util-kunpeng")[0]
    before = record.inputs_of(work)

    def changed(name: str) -> Machine:
        machine = find_machine(name)
        cycles = {**machine.cycles, figure: machine.cycles[figure] + 1}
        return machine.model_copy(update={"cycles": cycles})

    monkeypatch.setattr(record, "find_machine", changed)
    assert (record.inputs_of(work) != before) is counts
