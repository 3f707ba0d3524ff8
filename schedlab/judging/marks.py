"""Which published rows calibrated a machine, and which are left to validate it.

A machine file names, figure by figure, the rows that were looked at to set it. Those rows are
calibration: that the simulator agrees with them shows nothing. Every other row is validation.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from schedlab.judging.reference import all_references, find_reference
from schedlab.machine.model import Machine, find_machine, known_machines

Mark = Literal["calibration", "validation"]


def mark_of(document: str, label: str, metric: str, machine: Machine | None = None) -> Mark:
    """Return the mark of a published row: calibration if any machine has a figure set by it.

    Args:
        document: the name of its file under published/, or the file.
        label: the row's label.
        metric: what its table is about. A figure names the rows of a label in all tables
            (`DOCUMENT/LABEL`) or in those about one metric (`DOCUMENT/LABEL/METRIC`).
        machine: one that does not come with schedlab, to be asked as well.
    """
    return "calibration" if figures_set_by(document, label, metric, machine) else "validation"


def figures_set_by(
    document: str, label: str, metric: str, machine: Machine | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the figures that were set by looking at a row, as pairs of machine and key."""
    row = f"{Path(document).stem}/{label}"
    found: list[tuple[str, str]] = []
    for name in (row, f"{row}/{metric}"):
        found += rows_of_machines().get(name, ())
        if machine:
            found += [(machine.name, key) for key, e in machine.ledger.items() if name in e.rows]
    return tuple(dict.fromkeys(found))


def rows_not_published(machine: Machine) -> list[tuple[str, str]]:
    """Return what a machine's file names in `rows` and no file of published/ has, by key."""
    published = {
        named
        for document in all_references()
        for table in find_reference(document).table
        for label, _, _ in table.rows
        for named in (f"{document}/{label}", f"{document}/{label}/{table.metric}")
    }
    return [
        (key, row)
        for key, entry in machine.ledger.items()
        for row in entry.rows
        if row not in published
    ]


@cache
def rows_of_machines() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the rows that set a figure of the machines that come along, as files name them."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in known_machines():
        for key, entry in find_machine(name).ledger.items():
            for row in entry.rows:
                found.setdefault(row, []).append((name, key))
    return {row: tuple(figures) for row, figures in found.items()}
