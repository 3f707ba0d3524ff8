"""Rows of figures with a change behind each, as printed: found, and mended where a mail broke them.

A row is a name and as many `4.99 (0.00 pct)` or `4.99 (  0.00%)` as its table has columns. Mail
clients break long rows in two; a name too long for its column stands on the line above.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.importers.number import PATTERN
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context

_CELL = re.compile(
    rf"(?<![\w.,+-])(?P<figure><?{PATTERN})\s*(?P<unit>[A-Za-zµμ][A-Za-z/µμ]*)?\s*(?P<star>[(*=])\s*"
    rf"(?P<change>{PATTERN}|[-+]?(?:nan|inf)|-)\s*(?:pct|%)\s*[)*=],?"
)
_CUT = re.compile(rf"\S.*?:?\s+{PATTERN}(?:\s*[(*].*)?")

_NO_FIGURES = re.compile(r"(?:.*\s)?-,?\s+-,?\s+can't tell")
"""A row of our own shape lkml without figures, or the end of one."""

_OWN_ROW = "Gmean "
"""What a row of our own shape mmtests begins with."""

_BROKEN_NAME = " " * 6
"""What the further lines of a long name begin with in our own shape mmtests."""


@dataclass
class PrintedRow:
    """A row as it is printed."""

    line: int
    name: str
    cells: list[re.Match[str]]
    behind: str


def next_text(lines: Sequence[Line], at: int) -> int:
    """Find the next line that is not empty."""
    at += 1
    while at < len(lines) and not lines[at].text.strip():
        at += 1
    return at


def cells_of(lines: Sequence[Line], at: int) -> list[re.Match[str]]:
    """Return the figures with a change that a line has."""
    return list(_CELL.finditer(lines[at].text)) if at < len(lines) else []


def is_row(lines: Sequence[Line], at: int) -> bool:
    """Return whether a line is a row with its name."""
    return len(cells_of(lines, at)) > 1 and not _cell_at_start(lines[at].text)


def first_cells(lines: Sequence[Line], at: int) -> list[re.Match[str]]:
    """Return the cells of the first row, whose name or end may be on a line of its own."""
    here, behind = cells_of(lines, at), cells_of(lines, at + 1)
    if len(here) > 1:
        return here
    broken = list(_CELL.finditer(" ".join(line.text for line in lines[at : at + 2])))
    return broken if not here or len(behind) < 2 or _cell_at_start(lines[at + 1].text) else here


def begins(lines: Sequence[Line], at: int) -> bool:
    """Return whether a row begins in a line."""
    if at >= len(lines) or not lines[at].text.strip():
        return False
    if is_row(lines, at):
        return True
    own = len(cells_of(lines, at)) == 1 or bool(_CUT.fullmatch(lines[at].text.strip()))
    continued = at + 1 < len(lines) and len(first_cells(lines, at)) > 1
    return continued and (own or _cell_at_start(lines[at + 1].text))


def _cell_at_start(text: str) -> bool:
    found = _CELL.search(text)
    return bool(found and not text[: found.start()].strip())


def printed_rows(context: Context, lines: Sequence[Line], at: int) -> tuple[list[PrintedRow], int]:
    """Collect the rows, those that a mail client broke in parts put together again."""
    block: list[Line] = []
    while at < len(lines) and lines[at].text.strip():
        block.append(lines[at])
        at += 1
    wanted = len(context.columns)
    rows: list[PrintedRow] = []
    name: list[str] = []
    i = 0
    while i < len(block):
        line, text = block[i], block[i].text.strip()
        i += 1
        found = list(_CELL.finditer(text))
        indented = line.text.startswith(" ")
        if not found and (not _CUT.fullmatch(text) or (context.is_own and indented)):
            if context.is_own and _NO_FIGURES.fullmatch(text):
                name = []
            elif context.is_own and line.text.startswith(_OWN_ROW):
                name = [text]  # what stood above was a row without figures
            elif not indented or (name and line.text.startswith(_BROKEN_NAME)):
                name.append(text)
            continue
        begun = bool(found)
        while len(found) < wanted and i < len(block):
            joined = f"{text} {block[i].text.strip()}"
            more = list(_CELL.finditer(joined))
            if not len(found) < len(more) <= wanted or is_row(block, i):
                break
            text, found = joined, more
            i += 1
        if context.is_own:  # a name may look like figures; those of the row come last
            found = found[-wanted:]
        if len(found) != wanted:
            context.source.refuse(
                line.number,
                f"the row is incomplete, or two rows are merged: it has {len(found)} figures with a"
                f" change, the head names {wanted} columns: '{text[:60]}'.",
            )
        before = text[: found[0].start()].strip()
        if not begun or not before:
            before = " ".join([*name, before]).strip()
        if not before:
            context.source.refuse(line.number, f"the row has no name: '{text[:60]}'.")
        rows.append(PrintedRow(line.number, before, found, text[found[-1].end() :].strip()))
        name = []
    if name and name[-1].endswith(":"):
        context.source.refuse(block[-1].number, f"the row is cut off: '{name[-1]}'.")
    return rows, at
