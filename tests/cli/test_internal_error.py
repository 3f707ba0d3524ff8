"""An error that nobody expected: one message that cannot act, and the traceback kept or shown."""

import re
import sys
import tempfile
from pathlib import Path

import pytest

import schedlab.cli
from schedlab.cli.internal_error import TRACEBACK

HOSTILE = "\x1b]0;pwn\x07\x9b2J " + "x" * 5000


def fail(**_: object) -> None:
    raise ValueError(HOSTILE)


@pytest.mark.parametrize("asked", [True, False])
def test_it_is_one_message_and_a_traceback(
    asked: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(TRACEBACK, "1" if asked else "0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(schedlab.cli.schedlab, "main", fail)
    with pytest.raises(SystemExit) as end:
        schedlab.cli.main()
    assert end.value.code == 2
    err = capsys.readouterr().err
    start = r"schedlab: internal error: ValueError: \\x1b\]0;pwn\\x07\\x9b2J xx"
    assert re.search(start, err) and "Report it to" in err
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", err)
    files = list(tmp_path.glob("schedlab-error-*.txt"))
    assert ("Traceback" in err, len(files)) == (asked, not asked)
    for file in files:
        assert str(file) in err and len(err) < 700
        assert "Traceback" in file.read_text() and "\x1b" not in file.read_text()


def test_tests_fail_on_it(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(schedlab.cli.schedlab, "main", fail)
    monkeypatch.setattr(sys, "argv", ["schedlab"])
    with pytest.raises(AssertionError, match="Traceback"):
        request.getfixturevalue("cli")("list", "suites")
