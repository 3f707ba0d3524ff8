"""Recording by perf, which counts instructions from switch to switch where the processor can."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.system import System
from schedlab.base.system.process import TAG, Launch
from schedlab.lab.recording.reading import perf_text
from schedlab.lab.recording.tracepoints import SWITCH, Tracepoints

PROGRAMS = ("perf",)
COUNTED = ("instructions", "cycles")
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"
_DATA = "perf.data"


@dataclass(frozen=True)
class PerfRecorder:
    """Of one system."""

    points: Tracepoints
    kib: int
    """Of each CPU's buffer."""
    counters: Sequence[str]
    """What is counted from switch to switch."""

    name = "perf"

    def argv(self, run: Sequence[str], place: str) -> tuple[str, ...]:
        """Return the command that records while another one runs, into a folder."""
        others = self.points.events[1:]
        events = [_counting(self.counters) if self.counters else SWITCH, *others]
        chosen = [word for event in events for word in ("-e", event)]
        perf = ("perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", f"{self.kib}K")
        return (*perf, *chosen, "-o", f"{place}/{_DATA}", "--", *run)

    def wrote(self, folder: Path) -> bool:
        """Return whether perf has written its file into the folder."""
        data = folder / _DATA
        return data.exists() and data.stat().st_size > 0

    def text(self, folder: Path) -> Iterator[bytes]:
        """Yield pieces of what perf prints of it."""
        return perf_text(folder / _DATA)


def lacking(system: System) -> str:
    """Return what perf lacks there, and how to get it; empty if it has all."""
    if system.which("perf") is None:
        return "perf is needed to record.\n  Install: apt-get install linux-perf"
    level = system.read_or(_PARANOID, "")
    if not system.is_root() and re.fullmatch(r"\d+", level):
        return (
            f"perf may not record all tasks: kernel.perf_event_paranoid is {level}; without root it"
            " has to be -1.\n  Record as root (sudo schedlab record ...), or let root set it:"
            " sysctl kernel.perf_event_paranoid=-1"
        )
    return ""


def can_count(system: System, counters: Sequence[str], own: Path, tag: str) -> bool:
    """Return whether perf can count from switch to switch here; virtual machines often cannot."""
    if not counters:
        return False
    where = system.place(own / "counts.data")
    argv = ("perf", "record", "-q", "-a", "-e", _counting(counters), "-o", where, "--", "true")
    launch = Launch(argv, own / "counts.out", own / "counts.err", env={TAG: tag})
    return system.execute(launch).status == 0


def _counting(counters: Sequence[str]) -> str:
    """Return the event of a switch, which reads the counters of its CPU."""
    return f"{{{','.join((SWITCH, *counters))}}}:S"
