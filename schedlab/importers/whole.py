"""Whether every row of one of schedlab's own texts was read, however a mail client broke its lines.

A client may break and join lines, but it keeps the words and their order. So the rows that a text
has are counted in its words, and each has to be among those that were read.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NoReturn

from schedlab.importers.number import PATTERN
from schedlab.importers.source import Line, Source
from schedlab.importers.tables.table import VERDICT

_FIGURE = rf"(?:{PATTERN}|-)"
_INTERVAL = r"(?:\[[^\]]*\]|-)"
_COUNTS = r"[\d/+]+"
_MAIL = re.compile(rf"(?<=\s)({_FIGURE}) ({_FIGURE}) (\S+) {_INTERVAL} {_COUNTS} {VERDICT}(?!\S)")
_MAIL_HEAD = " pct interval n verdict"
_OTHERS = (
    # of a terminal, whose tables of sweeps repeat figures without the mark
    re.compile(
        rf"(?<=\s)({_FIGURE}) ({_FIGURE}) (\S+) {_INTERVAL} {_COUNTS} [^\w\s] {VERDICT}(?!\S)"
    ),
    # of a narrow terminal
    re.compile(
        rf"(?<=\s)({_FIGURE}), \S+ ({_FIGURE}), % better (\S+), interval, % {_INTERVAL},"
        rf" [a-z]+ {_COUNTS}, verdict [^\w\s] {VERDICT}(?!\S)"
    ),
    # of a summary
    re.compile(
        rf"\bwent from ({PATTERN}) to ({PATTERN}) [^:]{{0,60}}: ({PATTERN}) % (?:better|worse)\b"
    ),
)
_HEADING = re.compile(r"~ \S.*")
_SHOWN = 5

Figures = tuple[str, str, str]
"""Base, other and change of a row, as printed."""


def unread(lines: Sequence[Line], read: Iterable[Figures]) -> list[Line]:
    """Return where rows begin that are in a text and not among those that were read.

    If all were, return the headings of benchmarks that are broken.
    """
    left = Counter(read)
    words = [f" {' '.join(line.text.split())}" if line.text.strip() else "" for line in lines]
    starts = [0, *accumulate(map(len, words))][:-1]
    text = "".join(words)
    found = []
    for pattern in (_MAIL,) if _MAIL_HEAD in text else _OTHERS:
        for row in pattern.finditer(text):
            figures = (row[1], row[2], row[3])
            if left[figures]:
                left[figures] -= 1
            else:
                found.append(lines[bisect_right(starts, row.start()) - 1])
    broken = [at for at in lines if _HEADING.fullmatch(at.text) and not at.text.endswith(" ~")]
    return sorted(found or broken, key=lambda line: line.number)


def refuse_unread(source: Source, found: Sequence[Line], rows: int) -> NoReturn:
    """Raise a UsageError that names the lines of a text which cannot be read as rows."""
    numbers = ", ".join(str(line.number) for line in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    source.refuse(
        found[0].number,
        f"its lines were broken or joined, and {len(found)} of {rows + len(found)} rows cannot be"
        f" read (line {numbers}{more}).\n  Save the text as it was written, or import the JSON or"
        " HTML of the report.",
    )
