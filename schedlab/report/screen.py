"""Building blocks of what is printed on a terminal: sentences, lists, sections, tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedlab.base.printable import printable
from schedlab.report.wording import wrapped


def new_table(*names: str) -> Table:
    """Begin a table with columns of names."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def add_figures(table: Table, *headings: str) -> None:
    """Add columns of figures."""
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)


def bullets(console: Console, lines: Sequence[str], most: int | None = None) -> None:
    """Print a list, or the beginning of it."""
    shown = lines[:most]
    for line in shown:
        for part in wrapped(line, console.width, "- ", "  "):
            say(console, part)
    if len(lines) > len(shown):
        say(console, f"- and {len(lines) - len(shown):,} more")


def section(console: Console, heading: str) -> None:
    """Begin a part."""
    console.print()
    say(console, heading, "bold")


def say(console: Console, text: str, style: str = "") -> None:
    """Print a line."""
    console.print(Text(printable(text), style))
