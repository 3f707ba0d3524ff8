"""Our mails as clients quote them: with lines broken that had no room beside the quoting."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.importers.reading import read_publication
from schedlab.importers.source import Source

REPORTS = Path(__file__).parents[1] / "data" / "report"


def quoted(text: str, room: int, quotes_rest: bool) -> str:
    lines = []
    for line in text.splitlines():
        whole = f"> {line}"
        while len(whole) > room:
            at = whole.rindex(" ", 3, room + 1)
            lines.append(whole[:at])
            whole = ("> " if quotes_rest else "") + whole[at:].lstrip()
        lines.append(whole)
    return "On Monday somebody wrote:\n" + "\n".join(lines) + "\n\nThis looks good.\n"


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
