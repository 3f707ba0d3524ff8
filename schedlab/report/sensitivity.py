"""What a simulated change depends on: the figure of the machine it goes with best."""

import math

from schedlab.base.words import plural
from schedlab.judging.analysis import Outcome, RunTable, counted_runs
from schedlab.judging.sensitivity import FEWEST_BLOCKS, Dependence, claimed, strongest
from schedlab.machine.figures import brief
from schedlab.machine.ledger import at
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.ledger_table import span
from schedlab.report.wording import points


def sensitivity(report: Report) -> Exhibit | None:
    """Return the table; None where nothing was drawn, or no two runs differ."""
    if not any(record.draws for record in report.records):
        return None
    outcomes = _tested(report)
    if not outcomes:
        return None
    few = sum(outcome.verdict.n[0] < FEWEST_BLOCKS for outcome in outcomes)
    rows = [_cells(report, outcome, found) for outcome, found in dependences(report)]
    notes = [
        f"Each block drew {plural(_drawn(report), 'figure')} of the machine from their ranges, the"
        " same for all variants, so the intervals hold over these ranges. A result is shown with"
        " the figure that its changes follow best from block to block (Spearman's correlation), if"
        " that is more than chance would find among so many figures."
    ]
    if few:
        notes.append(
            f"{plural(few, 'result')}: not enough blocks to say ({FEWEST_BLOCKS} at least)."
        )
    if none := len(outcomes) - few - len(rows):
        notes.append(f"{plural(none, 'result')}: no figure stands out.")
    title = "What the changes depend on"
    if not rows:
        return Exhibit(title, tuple(notes), ("",), ())
    headings = ("Benchmark", "Variant", "Figure", "Value", "Range", "Correlation")
    halves = ("Change where low (%)", "Change where high (%)")
    return Exhibit(title, tuple(notes), (*headings, *halves), tuple(rows), names=3)


def dependences(report: Report) -> list[tuple[Outcome, Dependence]]:
    """List the results that go with a figure of the machine, each with that figure."""
    outcomes = _tested(report)
    table = counted_runs(report.store)
    found = [_dependence(report, table, outcome) for outcome in outcomes]
    named = claimed(found, report.design.alpha)
    return [
        (outcome, each)
        for outcome, each, stands_out in zip(outcomes, found, named, strict=True)
        if each and stands_out
    ]


def _tested(report: Report) -> list[Outcome]:
    return [o for o in report.analysis.outcomes if o.verdict.word != "no effect"]


def _drawn(report: Report) -> int:
    """Count the figures that were drawn for themselves."""
    ledger = report.store.machine.ledger
    keys = {key for record in report.records for key in record.draws}
    return sum(not (key in ledger and ledger[key].moves_with) for key in keys)


def _dependence(report: Report, table: RunTable, outcome: Outcome) -> Dependence | None:
    ledger = report.store.machine.ledger
    base = table.measured(outcome.case.label, report.baseline)
    other = table.measured(outcome.case.label, outcome.variant)
    name = outcome.metric.name
    changes = {
        block: math.log(other[block].metrics[name] / base[block].metrics[name])
        for block in base.keys() & other.keys()
        if name in base[block].metrics and name in other[block].metrics
    }
    draws = {
        block: {
            key: position
            for key, position in base[block].draws.items()
            if not (key in ledger and ledger[key].moves_with)
        }
        for block in changes
    }
    return strongest(changes, draws)


def _cells(report: Report, outcome: Outcome, found: Dependence) -> tuple[str, ...]:
    machine = report.store.machine
    entry = machine.ledger.get(found.figure)
    turn = -1 if outcome.metric.better == "lower" else 1
    value = at(machine.model_dump(mode="json"), found.figure) if entry else ""
    return (
        report.name_of(outcome),
        outcome.variant,
        found.figure,
        brief(value),
        span(entry.range) if entry else "",
        f"{turn * found.correlation:+.2f}",
        points(turn * found.low),
        points(turn * found.high),
    )
