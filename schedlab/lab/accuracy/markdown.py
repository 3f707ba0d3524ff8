"""Tables of the accuracy pages, in Markdown."""

from collections.abc import Iterable


def table_row(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def percent(ratio: float) -> str:
    """Return a change in percent, with its sign."""
    return f"{100 * ratio or 0.0:+.1f}"
