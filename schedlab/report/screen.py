"""Building blocks of what is printed on a terminal: sentences, lists, sections, tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedlab.base.printable import printable
from schedlab.report.wording import columns, wrapped

_INDENT = "  "


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


def print_rows(
    console: Console,
    headings: Sequence[str],
    rows: Sequence[Sequence[Text]],
    names: int = 1,
    last_is_word: bool = False,
) -> None:
    """Print a table without breaking a word, whatever the width.

    The first cells name a row, the others are figures. Names that leave too little room for the
    figures stand on a line above them; figures too many for a line are named one by one.
    """
    if not rows:
        return
    head = [Text(printable(heading), "dim") for heading in headings]
    widths = [max(columns(row[i].plain) for row in (head, *rows)) for i in range(len(headings))]
    whole, figures = sum(widths) + len(widths) - 1, sum(widths[names:]) + len(widths[names:]) - 1
    is_left = [i < names or (last_is_word and i == len(widths) - 1) for i in range(len(widths))]
    if whole <= console.width:
        for row in (head, *rows):
            console.print(_line(row, widths, is_left))
        return
    fits = figures + len(_INDENT) <= console.width
    if fits:
        console.print(_line(head[names:], widths[names:], is_left[names:], _INDENT))
    for row in rows:
        for part in wrapped(", ".join(cell.plain for cell in row[:names]), console.width):
            say(console, part)
        if fits:
            console.print(_line(row[names:], widths[names:], is_left[names:], _INDENT))
            continue
        named = (f"{h} {cell.plain}" for h, cell in zip(headings[names:], row[names:], strict=True))
        for part in wrapped(", ".join(named), console.width, _INDENT):
            say(console, part)


def _line(
    cells: Sequence[Text], widths: Sequence[int], is_left: Sequence[bool], indent: str = ""
) -> Text:
    line = Text(indent)
    for place, (cell, width, left) in enumerate(zip(cells, widths, is_left, strict=True)):
        gap = " " * (width - columns(cell.plain))
        line.append(" " if place else "").append("" if left else gap).append_text(cell)
        line.append(gap if left and place < len(widths) - 1 else "")
    return line


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
