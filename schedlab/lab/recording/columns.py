"""Events as a reader finds them, in the order of the file, and their way into sorted columns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.base.errors import UsageError
from schedlab.lab.recording.events import DEFAULT_PRIORITY, Events, Flags, Kind, Numbers

EVENT = np.dtype(
    [
        *(("ns", "<i8"), ("cpu", "<i4"), ("current", "<i4")),
        *(("one", "<i4"), ("two", "<i4"), ("three", "<i4")),
        *(("kind", "i1"), ("context", "i1"), ("unused", "<i2")),
    ]
)
"""As tools/trace-text/trace-text.h has it."""
MOST_EVENTS = 60_000_000
"""About 4 GB of columns and what sorting them takes."""
_ENDED = -1
_FARTHEST = 86_400 * 10**9
"""ns from the middle of the trace."""
_EXACT = 1 << 53
"""Up to this a real number holds each ns; clocks of the day are beyond it."""
_FARTHEST_BACK = 100_000_000
"""ns that the clock of a CPU may go back: by more, sorting mixes up what came when."""
_APART = 1_000_000
"""ns that clocks of CPUs may be apart: up to that the file's order says what came first."""


@dataclass
class Columns:
    """What has been read so far."""

    pieces: list[NDArray[np.void]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    priorities: dict[int, int] = field(default_factory=dict)
    earlier: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    """Name and priority of each task that had a process number before the last one."""
    count: int = 0
    damaged: int = 0
    lost: int = 0
    first_damaged: str = ""
    notes: list[str] = field(default_factory=list)

    def begin_task(self, pid: int) -> None:
        """Keep what is known of the task that had a process number: another one has it now."""
        name, priority = self.names.pop(pid, ""), self.priorities.pop(pid, DEFAULT_PRIORITY)
        self.earlier.setdefault(pid, []).append((name, priority))

    def sorted(self) -> Events:
        """Return the events by time, with what is wrong about them; there is one at least.

        Raises:
            UsageError: the clock of a CPU goes back too far.
        """
        every = np.concatenate(self.pieces)
        self.pieces.clear()
        ns, cpu, current, one, two, three = (
            every[name].astype(np.int64) for name in ("ns", "cpu", "current", "one", "two", "three")
        )
        kind, context = every["kind"].copy(), every["context"].copy()
        del every
        notes = list(self.notes)
        if self.lost:
            notes.append(f"{self.lost:,} events were lost while it was recorded.")
        if self.damaged:
            notes.append(
                f"{self.damaged:,} lines are damaged, or have a CPU, a task or a time that cannot"
                f" be, and are left out; the first: {self.first_damaged.strip()}"
            )
        far = np.abs(ns - np.median(ns)) > _FARTHEST
        if np.any(far):
            notes.append(
                f"{np.count_nonzero(far):,} events are more than a day from the others by their"
                " clock, and left out."
            )
        alone = _alone(ns, cpu) & ~far
        if np.any(alone):
            notes.append(
                f"{np.count_nonzero(alone):,} events have a time far from those of the lines before"
                " and after them, and are left out."
            )
        if np.any(far | alone):
            columns = (ns, cpu, current, one, two, three, kind, context)
            ns, cpu, current, one, two, three, kind, context = (c[~(far | alone)] for c in columns)
        if int(ns.max()) > _EXACT:
            ns -= ns.min()
        back, farthest = _goes_back(ns, cpu)
        if back:
            notes.append(
                f"The clock of a CPU goes back {back:,} times, by {farthest / 1e6:,.3f} ms at most;"
                " its events were sorted."
            )
        if back or np.any(np.maximum.accumulate(ns) - ns > _APART):
            order = np.argsort(ns, kind="stable")
            in_order = (c[order] for c in (ns, cpu, kind, context, current, one, two, three))
            ns, cpu, kind, context, current, one, two, three = in_order
        _name_ended(kind, cpu, two, current)
        return Events(
            *(ns, cpu, kind, context, current, one, two, three),
            names=self.names,
            priorities=self.priorities,
            earlier=self.earlier,
            notes=notes,
        )


def _alone(ns: Numbers, cpu: Numbers) -> Flags:
    """Return which times are far from those of their CPU's neighbours, which fit each other."""
    found = np.zeros(len(ns), bool)
    if np.all(np.maximum.accumulate(ns) - ns <= _FARTHEST_BACK):
        return found  # of most traces: no time is so far after one that comes later
    order = np.argsort(cpu, kind="stable")
    at, of = ns[order], cpu[order]
    same = (of[1:-1] == of[:-2]) & (of[1:-1] == of[2:])
    step = at[2:] - at[:-2]
    fits = same & (step >= 0) & (step <= _FARTHEST_BACK)
    ahead = at[1:-1] - at[2:] > _FARTHEST_BACK
    behind = at[:-2] - at[1:-1] > _FARTHEST_BACK
    found[order[1:-1][fits & (ahead | behind)]] = True
    return found


def _name_ended(
    kind: NDArray[np.int8], cpu: Numbers, switched_to: Numbers, current: Numbers
) -> None:
    """Fill in the current task where the trace says that it has ended: the CPU's last one."""
    ended = np.flatnonzero(current == _ENDED)
    known = (current != _ENDED) | (kind == Kind.SWITCH)
    shows = np.flatnonzero(known & np.isin(cpu, np.unique(cpu[ended]))) if len(ended) else ended
    for one in np.unique(cpu[ended]):
        there = ended[cpu[ended] == one]
        lines = shows[cpu[shows] == one]
        before = np.searchsorted(lines, there) - 1
        last = lines[np.maximum(before, 0)] if len(lines) else before
        runs = np.where(kind[last] == Kind.SWITCH, switched_to[last], current[last])
        current[there] = np.where(before >= 0, runs, 0)


def _goes_back(ns: Numbers, cpu: Numbers) -> tuple[int, int]:
    """Return how often the clock of a CPU goes back in the file's order, and how far at most."""
    order = np.argsort(cpu, kind="stable")
    by = np.where(np.diff(cpu[order]) == 0, -np.diff(ns[order]), 0)
    farthest = int(by.max(initial=0))
    if farthest > _FARTHEST_BACK:
        at = order[int(by.argmax())]
        raise UsageError(
            f"the clock of CPU {cpu[at]} goes back by {farthest / 1e9:,.3f} s after"
            f" {ns[at] / 1e9:.6f} s: what came when is not known.\n"
            "  Cut the file there, or record with a clock that nobody sets (perf record -k"
            " CLOCK_MONOTONIC, ftrace's trace_clock `mono`)."
        )
    return int(np.count_nonzero(by > 0)), farthest
