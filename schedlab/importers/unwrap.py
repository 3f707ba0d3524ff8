"""Lines of a mail of schedlab's own that a mail client broke, put together again.

A client that wraps what it quotes breaks lines which are too long for it with the quoting before
them, and quotes what is left of a line or does not; the quoting may be gone again. So a line goes
on where the next one begins at the left, would have had no room beside it, and does not look like
the start of one of our lines.
"""

import re
from collections.abc import Sequence

from schedlab.importers.source import Line, Source
from schedlab.importers.tables.table import VERDICT
from schedlab.report.plain import WIDTH

_BEGINS = re.compile(r"[ \t>]|- |o |~ |\$ |\*\*\* |Test:|.*, (?:higher|lower) is better$|$")
"""How lines of our mails begin that never go on from another one."""
_ROW = re.compile(r"[^ ].*:(?:$| +[\d.,]+ +[\d.,]+ +[-+\d])")
"""How a row begins; it goes on until its verdict, whatever room there was."""
_WHOLE = re.compile(rf"Test: .* verdict|~ .* ~|.* (?:\[[^\]]*\]|-) +[\d/+]+ +{VERDICT}")
"""A head or a row with its verdict."""

_GAP = 2
"""Spaces between two words of a line, at most: columns have no more before a word."""


def unbroken(source: Source, depth: int) -> list[Line]:
    """Return the lines for a reader of our mails, those put together that a client broke."""
    lines = source.rows(depth)
    widths = {line.number: source.width_of(line.number) for line in lines if line.text}
    room = max(widths.values(), default=0)
    quoting = max((widths[line.number] - len(line.text) for line in lines if line.text), default=0)
    if quoting and room >= WIDTH + quoting:
        return lines
    found = list(lines)
    unquoted = source.rows(0)
    last = 0  # the line that may go on, as an index
    for at in range(1, len(lines)):
        rest = lines[at].text or unquoted[at].text
        if _goes_on(source, lines, last, at, rest, room) and not _WHOLE.fullmatch(found[last].text):
            found[last] = Line(found[last].number, f"{found[last].text} {rest}")
            found[at] = Line(found[at].number, "")
        elif found[at].text or not unquoted[at].text:
            last = at
    return _closed_up(found, lines, unquoted)


def _goes_on(
    source: Source, lines: Sequence[Line], last: int, at: int, rest: str, room: int
) -> bool:
    before = lines[last].text
    if not before or not rest or _BEGINS.match(rest):
        return False
    if before.startswith("  ") and _ROW.match(rest):
        return False
    if before.startswith("Test:") or _ROW.match(before):
        return True
    return source.width_of(lines[at - 1].number) + _GAP + len(rest.split()[0]) > room


def _closed_up(
    found: Sequence[Line], lines: Sequence[Line], unquoted: Sequence[Line]
) -> list[Line]:
    """Leave out what is empty because it went to the line before it."""
    return [
        line
        for line, was, other in zip(found, lines, unquoted, strict=True)
        if line.text or not (was.text or other.text)
    ]
