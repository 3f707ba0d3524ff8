"""Tables of the accuracy pages, in Markdown."""

from collections.abc import Iterable


def table_row(cells: Iterable[str]) -> str:
    """Return a row of a table, with each `|` in a cell escaped."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def percent(ratio: float) -> str:
    """Return a change in percent, with its sign."""
    return f"{100 * ratio or 0.0:+.1f}"
