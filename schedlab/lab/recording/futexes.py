"""Futexes that a trace shows: which of them are locks, which barriers, and which feed a pool.

A program takes and gives a lock without a call unless somebody waits, so a trace has the contended
part alone. That suffices to tell what a futex is:

- **a lock**: a task waits while the word is 2, as the locks of glibc and Rust do, and whoever has
  waited wakes the next before it waits again;
- **a barrier**: each of the same tasks comes as often as the others, and whoever comes last, not
  always the same one, wakes all;
- **a pool's queue**: each wake is for one of several tasks, whichever is there, so that they do not
  all come equally often.

What is none of these keeps its hand-overs from task to task.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from schedlab.lab.recording.events import FUTEX_IS_PRIVATE, Events, Flags, Kind, Numbers
from schedlab.lab.recording.families import processes_of
from schedlab.lab.recording.pieces import Lives, Spans, task_key

CONTENDED = 2
"""The value of a lock's word that somebody waits for."""
_RETRY = 20_000
"""ns of work after a wait up to which the next wait belongs to the same attempt to take a lock."""
_ODD = 0.1
"""Of a lock's waits, the part that may end without a release, as where events were lost."""
_NEXT = 4
"""Bytes from a futex to the next: glibc's condition variables use two in turns."""
_BROADCASTS = 0.1
"""Of the wakes of a pool's word, the part that may be for all: as it is told to end."""
_MANY = 8
"""Wakes of each task of a pool, from which on they may all be woken equally often."""
_UNKNOWN = -(1 << 30)
"""The result of a call that the trace shows no end of."""


@dataclass
class FutexCalls(Spans):
    """Waits and wakes."""

    waits: Flags
    word: Numbers
    """Numbers from 0, one for each futex."""
    value: Numbers
    """Of a wait, what the word has to be; of a wake, how many at most."""
    result: Numbers
    above: Numbers
    """Of a word at a multiple of 8: the word 4 bytes above, of the same process; -1: none."""

    def word_around(self, task: Numbers, place: Numbers) -> Numbers:
        """Return the word of the call that a task is in at a place; -1: it is in none."""
        call = self.around(task, place)
        return np.where(call >= 0, self.word[np.maximum(call, 0)], -1) if len(self) else call


def find_futex_calls(events: Events, lives: Lives) -> FutexCalls:
    """Return the waits and wakes of a trace."""
    kinds = (Kind.FUTEX_WAIT, Kind.FUTEX_WAKE, Kind.FUTEX_DONE)
    place = np.flatnonzero(np.isin(events.kind, np.array(kinds)))
    task = lives.task(events.current[place], place)
    place, task = place[task >= 0], task[task >= 0]
    order = np.argsort(task_key(task, place), kind="stable")
    place, task = place[order], task[order]
    kind = events.kind[place]
    opens = np.flatnonzero(kind != int(Kind.FUTEX_DONE))
    after = np.minimum(opens + 1, len(place) - 1)
    ended = (after > opens) & (task[after] == task[opens])
    ended &= kind[after] == int(Kind.FUTEX_DONE)
    enter, done = place[opens], place[after]
    two = events.two[enter]
    lower = events.one[enter] & 0xFFFFFFFF
    address = (two & (FUTEX_IS_PRIVATE - 1)) << 32 | lower
    private = (two & FUTEX_IS_PRIVATE) != 0
    process = np.where(private, _processes(events, lives)[task[opens]], 0)
    places, word = np.unique(np.stack([process, address]), axis=1, return_inverse=True)
    of_process, at = places
    pair = (np.diff(of_process) == 0) & (np.diff(at) == _NEXT) & (at[:-1] % (2 * _NEXT) == 0)
    return FutexCalls(
        task[opens],
        enter,
        np.where(ended, done, len(events)),
        kind[opens] == int(Kind.FUTEX_WAIT),
        word.reshape(-1).astype(np.int64),
        events.three[enter],
        np.where(ended, events.one[done], _UNKNOWN),
        np.append(np.where(pair, np.arange(1, len(pair) + 1), -1), -1)[word.reshape(-1)],
    )


def _processes(events: Events, lives: Lives) -> Numbers:
    """Return the number of the process of each task; 0: it is not known."""
    known = processes_of(events, lives)
    return np.array([known.get(key, -1) + 1 for key in lives.key.tolist()], np.int64)


@dataclass
class Hold:
    """From taking a lock to giving it back, by the numbers of calls."""

    lock: int
    task: int
    first: int
    """The first wait for it; -1: it was free, so that no call shows when it was taken."""
    last: int
    """The last wait for it."""
    release: int
    """The wake; -1: the trace ends before."""
    noticed: int = -1
    """Of one that was free: the place where another task found it taken; -1: none did."""
    after: int = 0
    """And where it was free the last time."""


@dataclass
class Arrival:
    """A task's arrival at a barrier."""

    barrier: int
    task: int
    first: int
    last: int


@dataclass
class Objects:
    """What the futexes of a trace are."""

    holds: list[Hold] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Of the barriers: how many tasks."""
    pools: list[int] = field(default_factory=list)
    """Words that feed pools."""
    second: dict[int, int] = field(default_factory=dict)
    """Of those that feed the pool of another word: that one."""
    locks: list[int] = field(default_factory=list)
    """Words that are locks."""
    barriers: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """What is known of the tasks' calls beside the calls themselves."""

    taken: Flags
    begun: Numbers
    """ns of work that its task had done as a call began."""
    ended: Numbers
    woken: Sequence[tuple[int, int]]
    """For each wait that a wake ended: the task that waited, and the call that woke it."""
    likes: Sequence[Hashable]
    """Of each task: its name without numbers and what is set for it, alike for tasks of a pool."""


def find_objects(calls: FutexCalls, known: Known, left: Collection[int]) -> Objects:
    """Return what each futex is; those that are left out stay hand-overs."""
    found = Objects()
    order = np.argsort(calls.word, kind="stable")
    _, first = np.unique(calls.word[order], return_index=True)
    sleepers: dict[int, Counter[int]] = {}
    givers: dict[int, set[int]] = {}
    for task, call in known.woken:
        word = int(calls.word[call])
        sleepers.setdefault(word, Counter())[task] += 1
        givers.setdefault(word, set()).add(int(calls.task[call]))
    queues: dict[int, Counter[int]] = {}
    above = dict(zip(calls.word.tolist(), calls.above.tolist(), strict=True))
    for own in np.split(order, first[1:]) if len(order) else ():
        word = int(calls.word[own[0]])
        if word in left or not np.all(known.taken[calls.task[own]]):
            continue
        waits = calls.waits[own]
        if np.all(calls.value[own][~waits] == 1):
            holds = _holds(calls, known, own, len(found.locks) + 1)
            if holds:
                found.locks.append(word)
                found.holds += holds
            else:
                queues[word] = sleepers.get(word, Counter())
        elif np.all(calls.value[own][~waits] > 1):
            arrivals = _arrivals(calls, own, len(found.barriers) + 1)
            if arrivals:
                found.barriers.append(word)
                found.arrivals += arrivals
                found.sizes.append(len({arrival.task for arrival in arrivals}))
        elif np.count_nonzero(calls.value[own][~waits] > 1) <= _BROADCASTS * np.count_nonzero(
            ~waits
        ):
            queues[word] = sleepers.get(word, Counter())
    turns = {word for word in queues if _take_turns(sleepers.get(word, ()), givers.get(word, ()))}
    addressed = {word for word in queues if givers.get(word, set()) & sleepers.get(word, {}).keys()}
    _find_pools({w: queues[w] for w in queues if w not in turns}, above, addressed, known, found)
    return found


def _take_turns(woken: Collection[int], givers: Collection[int]) -> bool:
    """Return whether two tasks wake each other."""
    return len(woken) == 2 and set(givers) <= set(woken)


def _find_pools(
    queues: dict[int, Counter[int]],
    above: dict[int, int],
    addressed: Collection[int],
    known: Known,
    found: Objects,
) -> None:
    """Add the pools among words that may feed one; two of one condition variable feed one pool.

    At those that are `addressed`, tasks wake each other, and whom may be agreed on.
    """
    for word in sorted(queues):
        upper = above.get(word, -1)
        if word in found.second:
            continue
        both = {word, upper}
        if upper in queues and _are_a_pool(
            queues[word] + queues[upper], bool(both & set(addressed)), known
        ):
            found.pools += [word, upper]
            found.second[upper] = word
        elif _are_a_pool(queues[word], word in addressed, known):
            found.pools.append(word)


def _are_a_pool(woken: Counter[int], addressed: bool, known: Known) -> bool:
    """Return whether tasks, by how often they were woken, are alike and not in turns.

    Tasks that are woken equally often, by others and many times, are only in the order in which
    they came to wait.
    """
    alike = len({known.likes[task] for task in woken}) == 1
    by_others = len(woken) > 1 and not addressed and min(woken.values()) >= _MANY
    return alike and (by_others or len(set(woken.values())) > 1)


def _holds(calls: FutexCalls, known: Known, own: Numbers, lock: int) -> list[Hold]:
    """Return the holds of a lock, or nothing if the futex is not a lock."""
    waits = calls.waits[own]
    if not np.any(calls.result[own][waits] == 0) or not np.any(~waits):
        return []
    if np.any(calls.value[own][waits] != CONTENDED):
        return []
    found: list[Hold] = []
    slow = odd = 0
    for task, of_task in _by_task(calls, own):
        open_: Hold | None = None
        for call in of_task:
            if not calls.waits[call]:
                if open_:
                    open_.release = call
                else:
                    found.append(Hold(lock, task, -1, -1, call))
                open_ = None
            elif open_ and known.begun[call] - known.ended[open_.last] <= _RETRY:
                open_.last = call
            else:
                if open_:
                    odd += 1
                    found.pop()
                slow += 1
                open_ = Hold(lock, task, call, call, -1)
                found.append(open_)
        if open_ and calls.result[open_.last] == _UNKNOWN:
            found.pop()
    released = sum(hold.first >= 0 and hold.release >= 0 for hold in found)
    if odd > _ODD * slow or not released or 2 * released < slow:
        return []
    _notice(calls, own, found)
    return found


def _notice(calls: FutexCalls, own: Numbers, holds: Sequence[Hold]) -> None:
    """Find where others noticed that a lock which was free had been taken."""
    waits = own[calls.waits[own]]
    waits = waits[np.argsort(calls.enter[waits], kind="stable")]
    entered, waiter = calls.enter[waits], calls.task[waits]
    releases = np.sort(calls.enter[own[~calls.waits[own]]])
    for hold in holds:
        if hold.first >= 0:
            continue
        until = calls.enter[hold.release]
        at = int(np.searchsorted(releases, until, "left")) - 1
        hold.after = int(releases[at]) if at >= 0 else 0
        low, high = np.searchsorted(entered, [hold.after, until], "left")
        others = np.flatnonzero(waiter[low:high] != hold.task)
        if len(others):
            hold.noticed = int(entered[low + others[0]])


def _arrivals(calls: FutexCalls, own: Numbers, barrier: int) -> list[Arrival]:
    """Return who arrived at a barrier, or nothing if the futex is none."""
    wakes = own[~calls.waits[own]]
    if len(wakes) < 2 or len(set(calls.task[wakes].tolist())) < 2:
        return []
    found: list[Arrival] = []
    counts = set()
    for task, of_task in _by_task(calls, own):
        before = len(found)
        value = None
        for call in of_task:
            again = calls.waits[call] and value is not None and calls.value[call] == value
            if again:
                found[-1].last = call
            else:
                found.append(Arrival(barrier, task, call, call))
            value = int(calls.value[call]) if calls.waits[call] else None
        counts.add(len(found) - before)
    rounds = {len(wakes)}
    return found if counts == rounds and len(found) > len(wakes) else []


def _by_task(calls: FutexCalls, own: Numbers) -> Iterator[tuple[int, list[int]]]:
    """Yield the calls of each task, which are in order."""
    task = calls.task[own]
    _, first = np.unique(task, return_index=True)
    for part in np.split(own, first[1:]):
        yield int(calls.task[part[0]]), part.tolist()
