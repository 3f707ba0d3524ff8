"""What is quoted of a server that failed: the line that says why, though many follow it."""

import pytest

from schedlab.targets.last_words import last_words

CRASH = """\
LOG:  database system is ready to accept connections
LOG:  server process (PID 71) was terminated by signal 11: Segmentation fault
DETAIL:  Failed process was running: SELECT abalance FROM pgbench_accounts WHERE aid = 7;
LOG:  terminating any other active server processes
LOG:  all server processes terminated; reinitializing
LOG:  database system was interrupted; last known up at 2026-11-27
LOG:  redo done at 0/1900028
"""
FULL = """\
ERROR:  relation "x" does not exist
ERROR:  could not extend file "base/5/16401": No space left on device
HINT:  Check free disk space.
ERROR:  could not extend file "base/5/16402": No space left on device
HINT:  Check free disk space.
CONTEXT:  COPY pgbench_accounts, line 3
"""
MARIADB = """\
[Note] InnoDB: Starting
[ERROR] InnoDB: The log file is corrupted
[Note] a
[Note] b
[Note] c
"""


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        (CRASH, "LOG:  server process (PID 71) was terminated by signal 11", 4),
        (FULL, 'ERROR:  could not extend file "base/5/16401": No space left', 4),
        (MARIADB, "[ERROR] InnoDB: The log file is corrupted", 4),
        ("a\n\nb\nc\nd\n", "b", 3),
        ("PANIC: x\ny\n", "PANIC: x", 2),
    ],
)
def test_the_line_that_says_why_comes_first(text: str, first: str, count: int) -> None:
    lines = last_words(text).split(" | ")
    assert lines[0].startswith(first)
    assert len(lines) == count
    assert lines[-1] == text.splitlines()[-1]


def test_of_one_line_it_is_that_one() -> None:
    assert last_words(FULL, lines=1).endswith('16401": No space left on device')
    assert last_words("a\nb\n", lines=1) == "b"
    assert last_words(" \n\n") == ""
