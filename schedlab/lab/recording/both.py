"""Recording by both: perf has the switches, with what was counted between them, ftrace the rest."""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.lab.recording.perf import PerfRecorder
from schedlab.lab.recording.ring import RingRecorder
from schedlab.lab.recording.unbroken import EVENT_BEGINS

_LINE = re.compile(EVENT_BEGINS)
_ENOUGH = 1 << 16
"""Lines of a piece."""


@dataclass(frozen=True)
class BothRecorder:
    """Of one system; both clocks are CLOCK_MONOTONIC."""

    ring: RingRecorder
    perf: PerfRecorder

    name = "ftrace"

    def argv(self, run: Sequence[str], place: str) -> tuple[str, ...]:
        """Return the command that records while another one runs, into a folder."""
        return self.perf.argv(self.ring.argv(run, place), place)

    def wrote(self, folder: Path) -> bool:
        """Return whether there are events of both in the folder."""
        return self.ring.wrote(folder) and self.perf.wrote(folder)

    def text(self, folder: Path) -> Iterator[bytes]:
        """Yield pieces of what was recorded, by time; perf begins before ftrace, and ends later."""
        ours = _timed(self.ring.text(folder), True)
        theirs = _timed(self.perf.text(folder), False)
        begun = False
        kept: list[bytes] = []
        after: list[bytes] = []
        for _, of_ring, line in heapq.merge(ours, theirs, key=lambda found: found[0]):
            begun = begun or of_ring
            if of_ring:
                kept += [*after, line]
                after.clear()
            elif begun:
                after.append(line)
            if len(kept) > _ENOUGH:
                yield b"\n".join([*kept, b""])
                kept.clear()
        yield b"\n".join([*kept, b""])


def _timed(pieces: Iterable[bytes], of_ring: bool) -> Iterator[tuple[float, bool, bytes]]:
    """Yield lines with their time; one that has none has that of the line before."""
    time = 0.0
    for piece in pieces:
        for line in piece.split(b"\n"):
            if found := _LINE.match(line):
                time = float(found[1])
            if line:
                yield time, of_ring, line
