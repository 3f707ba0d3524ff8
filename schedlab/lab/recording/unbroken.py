"""The text of `perf script` with one line for each event: names of tasks may have line breaks.

perf prints names as they are. A line that does not begin as an event does belongs to the event
before it if that one is not complete, and otherwise to the name with which the next one begins.
"""

import re
from collections.abc import Iterable, Iterator

EVENT_BEGINS = rb"[^\n]{16,}? +-?\d{1,9} +\[\d{3,6}\] +(?:[^\s\d]\S{3,8} )?(\d+\.\d{9}): "
"""Task, its number, CPU and time (a group), as perf pads them; before the time flags of ftrace
(ring.py)."""
LOST = re.compile(rb"CPU:\d+ \[(?:LOST \d{1,18} EVENTS|EVENTS DROPPED)\]")
"""A line in which trace-cmd says how many events were lost: it belongs to no event."""
_BEGINS = re.compile(EVENT_BEGINS)
_WHOLE = re.compile(rb"(?:" + EVENT_BEGINS + rb"[^\n]*(?:\n|\Z))*+")
_NAMING = re.compile(
    EVENT_BEGINS
    + rb" *\w+:(?:sched_switch|sched_waking|sched_wakeup_new|sched_process_\w+|task_newtask): "
)
_COMPLETE = re.compile(
    rb" (?:\w*prio|target_cpu|success|group_dead|child_pid|old_pid|oom_score_adj)=\S+\s*\Z"
)
_BREAK = b"?"
"""Stands for the line break."""
_LONGEST = 4096
"""bytes of an event; longer ones are not put together."""


def unbroken(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of whole lines, each of them a whole event."""
    rest = b""
    for piece in pieces:
        whole, newline, begun = piece.rpartition(b"\n")
        if not newline:
            rest += piece
            continue
        done, newline, last = _joined(rest + whole).rpartition(b"\n")
        if newline:
            yield done + newline
        rest = last + b"\n" + begun
    if rest:
        yield _joined(rest.removesuffix(b"\n")) + b"\n"


def _joined(text: bytes) -> bytes:
    found = _WHOLE.match(text)
    if found and found.end() == len(text):
        return text
    lines: list[bytes] = []
    before = None
    for line in text.split(b"\n"):
        if LOST.fullmatch(line):
            lines += [line] if before is None else [before, line]
            before = None
            continue
        if before is not None and not _BEGINS.match(line):
            line = before + _BREAK + line
            before = None
        elif before is not None:
            lines.append(before)
            before = None
        if _BEGINS.match(line):
            open_yet = _NAMING.match(line) and not _COMPLETE.search(line)
        else:
            open_yet = True
        if open_yet and len(line) <= _LONGEST:
            before = line
        else:
            lines.append(line)
    return b"\n".join(lines if before is None else [*lines, before])
