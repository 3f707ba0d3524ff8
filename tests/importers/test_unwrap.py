"""Our mails as clients quote them: with lines broken that had no room beside the quoting."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.importers.reading import read_publication
from schedlab.importers.source import Source

REPORTS = Path(__file__).parents[1] / "data" / "report"


def broken(text: str, room: int, quotes_rest: bool, quote: str = "> ") -> list[str]:
    lines = []
    for line in text.splitlines():
        whole = f"{quote}{line}"
        while len(whole) > room:
            at = whole.rindex(" ", 3, room + 1)
            lines.append(whole[:at])
            whole = (quote if quotes_rest else "") + whole[at:].lstrip()
        lines.append(whole)
    return lines


def quoted(text: str, room: int, quotes_rest: bool) -> str:
    lines = "\n".join(broken(text, room, quotes_rest))
    return f"On Monday somebody wrote:\n{lines}\n\nThis looks good.\n"


def unquoted(text: str, room: int) -> str:
    """Break a text as if it were quoted, and take the quoting away again."""
    lines = [line.removeprefix("> ") for line in broken(text, room, quotes_rest=False)]
    return "\n".join(lines) + "\n"


def reflowed(text: str, room: int) -> str:
    """Fill paragraphs as `fmt` does, which joins rows of tables."""
    return "\n\n".join(textwrap.fill(part, room) for part in text.split("\n\n")) + "\n"


def read(path: Path, text: str) -> dict[tuple[str, str], dict[str, float]]:
    path.write_text(text)
    publication = read_publication(Source.read(path))
    return {(run.key.case, run.key.variant): run.metrics for run in publication.records}


@pytest.mark.parametrize("quotes_rest", [True, False])
@pytest.mark.parametrize("name", ["lkml", "summary"])
def test_a_mail_that_a_client_broke_is_read_whole(
    tmp_path: Path, name: str, quotes_rest: bool
) -> None:
    text = (REPORTS / f"{name}.txt").read_text()
    whole = read(tmp_path / "mail.txt", text)
    assert whole
    for room in (60, 66, 70, 72, 74):
        assert read(tmp_path / "mail.txt", quoted(text, room, quotes_rest)) == whole, room


def test_spaces_at_the_ends_of_lines_say_nothing(tmp_path: Path) -> None:
    text = (REPORTS / "lkml.txt").read_text()
    spaced = "".join(f"{line}   \r\n" for line in text.splitlines())
    assert read(tmp_path / "mail.txt", spaced) == read(tmp_path / "mail.txt", text)


@pytest.mark.parametrize("name", ["lkml", "summary", "terminal"])
def test_a_text_that_was_quoted_broken_and_unquoted_is_read_whole_or_refused(
    tmp_path: Path, name: str
) -> None:
    """A mail and a summary are read; of a terminal's text too little tells where lines begin."""
    text = (REPORTS / f"{name}.txt").read_text()
    whole = read(tmp_path / "mail.txt", text)
    for room in (60, 66, 70, 72, 74, 80, 90):
        try:
            assert read(tmp_path / "mail.txt", unquoted(text, room)) == whole, room
        except UsageError as error:
            assert name == "terminal", room
            assert "rows cannot be read (line " in str(error)


@pytest.mark.parametrize("name", ["lkml", "summary", "terminal"])
def test_a_text_filled_anew_is_read_whole_or_refused_with_its_lines(
    tmp_path: Path, name: str
) -> None:
    text = (REPORTS / f"{name}.txt").read_text()
    whole = read(tmp_path / "mail.txt", text)
    for room in (60, 72, 100):
        try:
            assert read(tmp_path / "mail.txt", reflowed(text, room)) == whole, room
        except UsageError as error:
            assert str(error).startswith(f"{tmp_path / 'mail.txt'}:"), room


def test_a_row_that_was_joined_with_another_is_named(tmp_path: Path) -> None:
    text = (REPORTS / "summary.txt").read_text()
    joined = text.replace("\n- SysBenchMemory", " - SysBenchMemory")
    with pytest.raises(UsageError, match=r"mail.txt:\d+: .* 1 of 5 rows .* \(line \d+\)"):
        read(tmp_path / "mail.txt", joined)
