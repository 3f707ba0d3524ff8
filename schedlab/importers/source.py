"""A published text as it comes out of mail clients and browsers, in plain lines."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from schedlab.errors import UsageError

_SPACES = "\u00a0\u2007\u2009\u202f"
_GROUPING = re.compile(rf"(?<=\d)[{_SPACES}](?=\d{{3}}(?!\d))")
_OTHER_SPACE = re.compile(rf"[{_SPACES}\u200b\ufeff]")
_QUOTE = re.compile(r"(?:[ \t]{0,1}>)+[ \t]?")


@dataclass(frozen=True)
class Line:
    """A line, with its number in the file."""

    number: int
    text: str


class Source:
    """A file to import."""

    def __init__(self, path: Path, text: str) -> None:
        """Take a text; line ends, odd spaces and the quoting of mails are made uniform."""
        self.path = path
        self.text = text
        self._lines = [_plain(i, raw) for i, raw in enumerate(text.splitlines(), 1)]

    @classmethod
    def read(cls, path: Path) -> "Source":
        """Read a file; UsageError where it is no text."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise UsageError(
                f"{path}:{line}: is no text in UTF-8 ({error.reason})."
                f"\n  If it is text of another encoding: iconv -t utf-8 {path}"
            ) from error
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise UsageError(f"{path}:{line}: is no text; it holds zero bytes.")
        return cls(path, text)

    @property
    def depths(self) -> list[int]:
        """How deep lines are quoted, the least first."""
        return sorted({depth for depth, _ in self._lines})

    def lines(self, depth: int = 0) -> list[Line]:
        """Give every line; one that is quoted more or less deeply is empty."""
        return [line if at == depth else Line(line.number, "") for at, line in self._lines]

    def refuse(self, line: int, why: str) -> NoReturn:
        """Say what is wrong where."""
        raise UsageError(f"{self.path}:{line}: {why}")


def _plain(number: int, raw: str) -> tuple[int, Line]:
    text = _OTHER_SPACE.sub(" ", _GROUPING.sub(",", raw)).rstrip()
    quote = _QUOTE.match(text)
    depth = quote[0].count(">") if quote else 0
    return depth, Line(number, text[quote.end() :] if quote else text)
