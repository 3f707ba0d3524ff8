"""A screen: lines of styled words of some width, which a file takes plain, a terminal in colour."""

from collections.abc import Sequence
from typing import NamedTuple

from schedlab.base.printable import printable
from schedlab.report.wording import columns, wrapped

_INDENT = "  "


class Styled(NamedTuple):
    """A text with a style such as `bold red`; none if it is plain."""

    text: str
    style: str = ""


class Screen:
    """Lines that are at most `width` columns wide."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[list[Styled]] = []

    @property
    def plain(self) -> str:
        """Return the text without styles."""
        lines = ("".join(part.text for part in line).rstrip() for line in self.lines)
        return "".join(f"{line}\n" for line in lines)

    def say(self, text: str, style: str = "") -> None:
        """Add a sentence."""
        self.lines += [[Styled(part, style)] for part in wrapped(text, self.width)]

    def section(self, heading: str) -> None:
        """Begin a part."""
        self.lines.append([])
        self.say(heading, "bold")

    def bullets(self, lines: Sequence[str], most: int | None = None) -> None:
        """Add a list, or the beginning of it."""
        shown = lines[:most]
        for line in shown:
            self.lines += [[Styled(part)] for part in wrapped(line, self.width, "- ", "  ")]
        if len(lines) > len(shown):
            self.say(f"- and {len(lines) - len(shown):,} more")

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Styled]],
        names: int = 1,
        last_is_word: bool = False,
    ) -> None:
        """Add a table without breaking a word, whatever the width.

        The first cells name a row, the others are figures. Names that leave too little room for the
        figures stand on a line above them; figures too many for a line are named one by one.
        """
        if not rows:
            return
        head = [Styled(heading, "dim") for heading in headings]
        rows = [[Styled(printable(text), style) for text, style in row] for row in (head, *rows)]
        widths = [max(columns(cell.text) for cell in cells) for cells in zip(*rows, strict=True)]
        is_left = [i < names or (last_is_word and i == len(widths) - 1) for i in range(len(widths))]
        if sum(widths) + len(widths) - 1 <= self.width:
            self.lines += [_line(row, widths, is_left) for row in rows]
            return
        figures = sum(widths[names:]) + len(widths[names:]) - 1
        fits = figures + len(_INDENT) <= self.width
        if fits:
            self.lines.append(_line(rows[0][names:], widths[names:], is_left[names:], _INDENT))
        for row in rows[1:]:
            self.say(", ".join(cell.text for cell in row[:names]))
            if fits:
                self.lines.append(_line(row[names:], widths[names:], is_left[names:], _INDENT))
                continue
            pairs = zip(rows[0][names:], row[names:], strict=True)
            named = ", ".join(f"{heading.text} {cell.text}" for heading, cell in pairs)
            self.lines += [[Styled(part)] for part in wrapped(named, self.width, _INDENT)]


def _line(
    cells: Sequence[Styled], widths: Sequence[int], is_left: Sequence[bool], indent: str = ""
) -> list[Styled]:
    line = [Styled(indent)]
    for place, (cell, width, left) in enumerate(zip(cells, widths, is_left, strict=True)):
        gap = " " * (width - columns(cell.text))
        line.append(Styled((" " if place else "") + ("" if left else gap)))
        line.append(cell)
        line.append(Styled(gap if left and place < len(widths) - 1 else ""))
    return line
