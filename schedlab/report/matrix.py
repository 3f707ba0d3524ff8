"""Several results as a matrix: a row for each benchmark, a column for each machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.judging.analysis import Outcome
from schedlab.report.content import Report
from schedlab.report.several import places, tables, tally
from schedlab.report.wording import CLAIMED, points


@dataclass(frozen=True)
class Row:
    """A metric of a benchmark on each machine; None where it was not run."""

    name: str
    cells: tuple[Outcome | None, ...]


@dataclass(frozen=True)
class Matrix:
    """What a variant did to each benchmark on each machine."""

    variant: str
    baseline: str
    machines: tuple[str, ...]
    rows: tuple[Row, ...]
    sentence: str
    """What to see in it."""


def matrices(reports: Sequence[Report]) -> list[Matrix]:
    """Return a matrix for each variant that several results have of a benchmark.

    Metrics beside a benchmark's first have a row where a change of them is claimed.
    """
    found = places(reports)
    machines = tuple(place.label for place in found)
    rows: dict[str, list[Row]] = {}
    for heading, of in tables(found) if len(found) > 1 else ():
        for table in of:
            outcomes = {name: outcome for name, _, outcome in table.rows}
            is_first = table.title == of[0].title
            if is_first or any(o.verdict.word in CLAIMED for o in outcomes.values()):
                name = heading if is_first else f"{heading} {table.title}"
                cells = tuple(outcomes.get(machine) for machine in machines)
                rows.setdefault(table.variant, []).append(Row(name, cells))
    return [
        Matrix(
            variant,
            reports[0].baseline,
            machines,
            tuple(those),
            _sentence(reports, variant, machines, those),
        )
        for variant, those in rows.items()
        if any(sum(cell is not None for cell in row.cells) > 1 for row in those)
    ]


def _sentence(
    reports: Sequence[Report], variant: str, machines: Sequence[str], rows: Sequence[Row]
) -> str:
    """Count the verdicts and name the largest change that is claimed."""
    claimed = [
        (abs(cell.verdict.effect or 0.0), row.name, machine, cell)
        for row in rows
        for machine, cell in zip(machines, row.cells, strict=True)
        if cell and cell.verdict.word in CLAIMED
    ]
    said = f"{variant} against {reports[0].baseline}: {tally(reports, variant)}"
    if not claimed:
        return f"{said}."
    _, name, machine, cell = max(claimed, key=lambda each: each[0])
    change = points(cell.verdict.effect_better)
    return f"{said}; most of all {name} on {machine}, {change} %."
