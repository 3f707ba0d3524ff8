"""A published text as it comes out of mail clients and browsers, in plain lines."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from schedlab.base.errors import UsageError, reading
from schedlab.importers.bounds import (
    LONGEST_NAME,
    LONGEST_NUMBER,
    LONGEST_TEXT,
    MOST_BYTES,
    MOST_LINES,
)

_SPACES = "\u00a0\u2007\u2009\u202f"
_GROUPING = re.compile(rf"(?<=\d)[{_SPACES}](?=\d{{3}}(?!\d))")
_OTHER_SPACE = re.compile(rf"[{_SPACES}\u200b\ufeff]")
_LONG_NUMBER = re.compile(rf"\d{{{LONGEST_NUMBER + 1}}}")
_QUOTE = re.compile(r"(?:[ \t]{0,1}>)+[ \t]?")


@dataclass(frozen=True)
class Line:
    """A line, with its number in the file."""

    number: int
    text: str


class Source:
    """A file to import."""

    def __init__(self, path: Path, content: bytes, text: str) -> None:
        """Take a file's text; line ends, odd spaces and the quoting of mails are made uniform."""
        self.path = path
        self.content = content
        self.text = text
        raw = text.splitlines()
        self._lines = [_plain(i, line) for i, line in enumerate(raw, 1)]
        self._widths = [len(line.rstrip()) for line in raw]

    @classmethod
    def read(cls, path: Path) -> "Source":
        """Read a file; UsageError where it is not a text, or too large a one."""
        with reading(path), path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES or content.count(b"\n") > MOST_LINES:
            raise UsageError(
                f"{path}: is too large to import: more than {MOST_BYTES >> 20} MiB or"
                f" {MOST_LINES:,} lines.\n  Import it in parts."
            )
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise UsageError(
                f"{path}:{line}: is not text in UTF-8 ({error.reason})."
                f"\n  If it is text of another encoding: iconv -t utf-8 {path}"
            ) from error
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise UsageError(f"{path}:{line}: is not text; it holds zero bytes.")
        if number := _LONG_NUMBER.search(text):
            line = text.count("\n", 0, number.start()) + 1
            raise UsageError(f"{path}:{line}: has a number of more than {LONGEST_NUMBER} digits.")
        return cls(path, content, text)

    @property
    def name(self) -> str:
        """The file's name, to quote: bytes in it that are not UTF-8 are written out."""
        return self.path.name.encode(errors="backslashreplace").decode()

    @property
    def depths(self) -> list[int]:
        """How deep lines are quoted, the least first."""
        return sorted({depth for depth, _ in self._lines})

    def lines(self, depth: int = 0) -> list[Line]:
        """Return every line; one that is quoted more or less deeply is empty."""
        return [line if at == depth else Line(line.number, "") for at, line in self._lines]

    def width_of(self, number: int) -> int:
        """Return the characters of a line with its quoting, without spaces at its end."""
        return self._widths[number - 1]

    def rows(self, depth: int = 0) -> list[Line]:
        """Return the lines for a reader of tables; UsageError where one is too long for that."""
        lines = self.lines(depth)
        for line in lines:
            if len(line.text) > LONGEST_TEXT:
                self.refuse(line.number, f"is longer than {LONGEST_TEXT:,} characters.")
        return lines

    def with_rests(self, depth: int) -> list[Line]:
        """Return the lines of a depth, and those less deep that may be what was broken off them."""
        return [line if at <= depth else Line(line.number, "") for at, line in self._lines]

    def line_of(self, text: str) -> int:
        """Return the line in which a text stands first; the first line if it is in none."""
        at = self.text.find(text)
        return self.text.count("\n", 0, max(at, 0)) + 1

    def refuse(self, line: int | None, why: str) -> NoReturn:
        """Raise the error, with file and line."""
        place = self.path if line is None else f"{self.path}:{line}"
        shown = why if len(why) <= LONGEST_NAME else f"{why[: LONGEST_NAME - 3]}..."
        raise UsageError(f"{place}: {shown}")


def _plain(number: int, raw: str) -> tuple[int, Line]:
    text = _OTHER_SPACE.sub(" ", _GROUPING.sub(",", raw)).rstrip()
    quote = _QUOTE.match(text)
    depth = quote[0].count(">") if quote else 0
    return depth, Line(number, text[quote.end() :] if quote else text)
