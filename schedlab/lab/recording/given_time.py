"""Tasks that work for a given time: how much each does depends on when it has a CPU.

A replay repeats the amounts. Of tasks of one name that came and went together, and slept equally
long, but did unequal work, some waited longer for CPUs: what each did is not the program's. So it
is with tasks that end at one moment without waiting for each other, as clients of a server.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.lab.recording.events import Kind, Numbers
from schedlab.lab.recording.showing import group_of
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked

_TOGETHER = 0.05
"""Of the time from the first one's begin to the last one's end, the part within which all begin,
and within which all end."""
_FOR_CPUS = 0.05
"""Of the same time, the part for which they wait for CPUs at least, in the mean."""
_ASLEEP = 0.5
"""Of the difference in work, how much less one may sleep than another: it did not work instead."""
_MOMENT = 0.002
"""Of the same time, the part within which tasks end at one moment."""
_EACH_OTHER = 0.05
"""Of their waits, the part that others of them may end."""
_WORKS = 0.1
"""Of the most that a task of the name works, the part from which on another one belongs to them."""
_UNEQUAL = 1.1
"""How often the mean the one that works most does at least: by as much it would end late."""
_MOST_NAMES = 3


@dataclass(frozen=True)
class GivenTime:
    """Tasks of one name that did as much as they came to."""

    name: str
    tasks: int
    least: float
    """Seconds that the one worked that did least."""
    mean: float
    most: float

    def __str__(self) -> str:
        """Return the name and the amounts."""
        return f"{self.name} ({self.tasks} tasks, {self.least:.3g} to {self.most:.3g} s)"


def for_a_given_time(work: Worked, waits: Waits) -> list[GivenTime]:
    """Return the tasks that work for a given time, by their name."""
    pieces, number = work.pieces, len(work.names)
    worked = np.bincount(pieces.task, weights=work.spent, minlength=number)
    long = np.maximum(waits.ended - waits.began, 0)
    asleep = np.bincount(waits.task, weights=long, minlength=number)
    since = np.full(number, np.iinfo(np.int64).max)
    until = np.zeros(number, np.int64)
    np.minimum.at(since, pieces.task, pieces.since)
    np.maximum.at(until, pieces.task, pieces.until)
    groups: dict[str, list[int]] = {}
    for task in np.flatnonzero(work.taken & (worked > 0)).tolist():
        groups.setdefault(group_of(work.names[task]), []).append(task)
    found = []
    for name, every in groups.items():
        own = np.array(every)
        own = own[worked[own] >= _WORKS * worked[own].max()]
        span = int(until[own].max() - since[own].min())
        first, last = (np.ptp(column[own]) / span for column in (since, until))
        ready = np.mean(until[own] - since[own] - asleep[own] - worked[own])
        least, mean, most = (float(f(worked[own])) / 1e9 for f in (np.min, np.mean, np.max))
        together = max(first, last) <= _TOGETHER and ready >= _FOR_CPUS * span
        if not together or most < _UNEQUAL * mean:
            continue
        alike = np.ptp(asleep[own]) <= _ASLEEP * np.ptp(worked[own])
        if alike or (last <= _MOMENT and _end_by_themselves(work, waits, own)):
            found.append(GivenTime(name, len(own), least, mean, most))
    return sorted(found, key=lambda group: group.mean - group.most)


def _end_by_themselves(work: Worked, waits: Waits, own: Numbers) -> bool:
    """Return whether a trace shows the end of all of these tasks, and they end no others' waits."""
    exits = work.events.of(Kind.EXIT)
    ended = work.pieces.lives.task(work.events.one[exits], exits)
    theirs = np.isin(waits.task, own)
    by = np.where(waits.waker >= 0, work.pieces.task[np.maximum(waits.waker, 0)], -1)
    each_other = np.count_nonzero(theirs & np.isin(by, own))
    few = each_other <= _EACH_OTHER * np.count_nonzero(theirs)
    return bool(few and np.all(np.isin(own, ended)))


def about_given_time(found: Sequence[GivenTime]) -> str:
    """Return a note on them."""
    more = f" and {len(found) - _MOST_NAMES} more" if found[_MOST_NAMES:] else ""
    return (
        "Tasks of one name came and ended together, and did unequal work:"
        f" {', '.join(map(str, found[:_MOST_NAMES]))}{more}. They worked for a given time,"
        " their own or the recording's, and a replay repeats what each did: those with most end"
        " late, with CPUs idle. So its time is not comparable with the recorded one; work_rate is."
    )
