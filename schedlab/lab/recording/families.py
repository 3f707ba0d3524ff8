"""Who started whom in a trace, by lives of process numbers: what was set, and who belongs together.

A process number may be used again; a task begins with what was set for the task that forked it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from schedlab.lab.recording.events import Events, Flags, Kind
from schedlab.lab.recording.pieces import Lives
from schedlab.lab.recording.setup import Setup, TaskSetup

_KTHREADD, _KTHREADD_PID = "kthreadd", 2
_IS_THREAD = 0x10000
"""CLONE_THREAD"""


def settings_of(events: Events, lives: Lives) -> list[TaskSetup | None]:
    """Return what was set for each task, as far as it was seen: of itself, or of who forked it."""
    setup = events.setup
    if not setup:
        return [None] * len(lives.pid)
    known = {_seen_life(setup, lives, pid): own for pid, own in setup.tasks.items()}
    for parent, child in _forks(events, lives):
        if child not in known and parent in known:
            known[child] = known[parent]
    return [known.get(key) for key in lives.key.tolist()]


def family_of(events: Events, lives: Lives, roots: Sequence[int]) -> Flags:
    """Return which tasks are of these process numbers, or were started by them."""
    setup = events.setup
    family = {_seen_life(setup, lives, pid) if setup else lives.first(pid) for pid in roots}
    for parent, child in _forks(events, lives):
        if parent in family:
            family.add(child)
    return np.isin(lives.key, np.array(sorted(family), np.int64))


def processes_of(events: Events, lives: Lives) -> dict[int, int]:
    """Return of each life the life of its process, as far as it is known.

    The set-up says it of tasks that were there at a look at the host, and the flags of clone() of
    others; a task of which neither is seen counts as a thread of the one that started it.
    """
    setup = events.setup
    known: dict[int, int] = {}
    if setup:
        known = {
            _seen_life(setup, lives, pid): _seen_life(setup, lives, own.process)
            for pid, own in setup.tasks.items()
            if own.process
        }
    made = events.of(Kind.NEW_TASK)
    places: dict[int, list[int]] = {}
    for place, pid in zip(made.tolist(), events.one[made].tolist(), strict=True):
        places.setdefault(pid, []).append(place)
    forks = events.of(Kind.FORK)
    for place, (parent, child) in zip(forks.tolist(), _forks(events, lives), strict=True):
        if child in known:
            continue
        own = places.get(lives.number_of(child)[0], [])
        last = bisect_left(own, place) - 1
        if last >= 0 and not events.two[own[last]] & _IS_THREAD:
            known[child] = child
        elif parent in known:
            known[child] = known[parent]
    return known


def of_kernel(events: Events, lives: Lives, by_name: Callable[[str], bool]) -> dict[int, bool]:
    """Return of each life of which it is known whether it is a thread of the kernel's own.

    A host says so of each task. Of others it is known by who forked them: programs fork programs,
    and kthreadd threads of the kernel's own. What such a thread forks may be either.

    Args:
        events: the trace.
        lives: the lives of its process numbers.
        by_name: whether a name is that of such a thread, of those of which nothing else is known.
    """
    setup = events.setup
    known: dict[int, bool] = {}
    if setup:
        known = {
            _seen_life(setup, lives, pid): own.kernel
            for pid, own in setup.tasks.items()
            if own.kernel is not None
        }
        known |= {_seen_life(setup, lives, pid): False for pid in setup.command}
    for parent, child in _forks(events, lives):
        name, _ = events.known(*lives.number_of(parent))
        if parent == lives.first(_KTHREADD_PID) and name == _KTHREADD:
            known.setdefault(child, True)
        elif not known.get(parent, by_name(name)):
            known.setdefault(child, False)
    return known


def unseen_changes(events: Events, lives: Lives, taken: Flags) -> int:
    """Return how many calls of chosen tasks set CPUs or clamps that nobody looked at afterwards."""
    places = events.of(Kind.SETS)
    if not events.setup or not len(places):
        return 0
    calls = lives.task(events.current[places], places)
    own = (calls >= 0) & taken[calls]
    whose = np.where(events.one[places] > 0, events.one[places], events.current[places])
    seen = np.isin(whose, np.array(events.setup.came or (), np.int64))
    return int(np.count_nonzero(own & ~seen))


def _seen_life(setup: Setup, lives: Lives, pid: int) -> int:
    """Return the life that was looked at: the first one before the trace, the last one after it."""
    first = lives.first(pid)
    if setup.came is None:
        return first if np.any(lives.key == first) else lives.last(pid)
    return lives.last(pid) if pid in setup.came else first


def _forks(events: Events, lives: Lives) -> Iterator[tuple[int, int]]:
    """Yield the lives of parents and children in order."""
    forks = events.of(Kind.FORK)
    parents, children = (lives.keys(pids[forks], forks) for pids in (events.one, events.two))
    return zip(parents.tolist(), children.tolist(), strict=True)
