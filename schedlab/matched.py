"""Published rows that a result repeats, each beside its outcome."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schedlab.analysis import Outcome
from schedlab.machine import Machine
from schedlab.marks import Mark, mark_of
from schedlab.reference import Reference, Table, mean

NOTABLE = 0.05
"""A published change from this on is expected to be seen again."""


@dataclass(frozen=True)
class Matched:
    """A published row, and what was found for it."""

    table: Table
    label: str
    outcome: Outcome
    base: float
    """The baseline's published figure, for the published parameters."""
    change: float
    """The published change, positive is better."""
    mark: Mark


def matched(
    document: str,
    published: Reference,
    target: str,
    outcomes: Iterable[Outcome],
    machine: Machine | None = None,
) -> Iterator[Matched]:
    """Yield the rows of a document that outcomes on a target repeat.

    Args:
        document: the name of its file under published/, or the file.
        published: what the file says.
        target: what the result was measured or simulated on.
        outcomes: the result's.
        machine: one that does not come with schedlab, whose figures rows may have set as well.
    """
    found = {(o.case.label, o.metric.name, o.variant): o for o in outcomes}
    for table in published.table:
        if table.target != target:
            continue
        for label, base, other in table.rows:
            outcome = found.get((label, table.metric, table.variant))
            if outcome is None:
                continue
            change = mean(other) / mean(base) - 1
            better = -change if outcome.metric.better == "lower" else change
            mark = mark_of(document, label, machine)
            yield Matched(table, label, outcome, mean(base), better, mark)
