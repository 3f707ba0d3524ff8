"""Tasks that take turns: each lets the next one go on, and then waits for the one before.

A trace shows the wake of a task that sleeps. Of tasks that take turns on one CPU, the one that is
woken may run before the other has come to its wait; by the time the other runs again its turn has
come, and it never sleeps. So some of the turns leave no wait, and no wake, in a trace: a replay of
the others alone would let the tasks run at once. As each task gives once and waits once in every
turn, what is missing is known: a wait between two gives, and a give between two waits.

Of three tasks or more a turn may leave nothing at two of them at once. But they are seen to run one
after another: where the trace has no wait of the next one for the one before, both are put in.

A task that fills a buffer of several places wakes and waits likewise, but goes on after a wake: it
waits only if the buffer is full. So where waits are seen to come later than that, none is put in.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from schedlab.lab.recording.causes import CAUSES, TASK
from schedlab.lab.recording.events import Flags, Numbers
from schedlab.lab.recording.services import CALLS, GOES_ON, Row
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import WAIT, WAKE

_FEWEST = 8
"""Wakes of each task, from which on they may be taken to take turns."""
_OTHERS = 0.05
"""Of a task's waits, the part that other tasks than the one before it may end."""
_AT_ONCE = 0.25
"""Of what the one of two works that works less, the part during which both may run."""
_OF_A_TURN = 0.25
"""Of what a task of a ring usually works in its turn, the part from which on it is one."""
_IN_ORDER = 0.95
"""The part of the turns of three tasks or more that come in the ring's order."""
_MOST = 8
"""Tasks that take turns with each other."""


@dataclass
class Turns:
    """Tasks that take turns, in the order in which they do."""

    tasks: tuple[int, ...]
    rows: list[Row] = field(default_factory=list)
    """The waits and wakes that the trace does not show."""
    unsure: int = 0
    """How many waits would have been put in, if the tasks did not go on after they wake others."""


@dataclass(frozen=True)
class _Token:
    """A give or a wait of one task, in the order of its steps."""

    place: int
    offset: int
    seen: int
    """The wait that it is, or that it ended; -1: the trace does not show it."""
    until: int = 0
    """Of a wait that the trace does not show: the place of the give after it; its own is that of
    the give before."""


@dataclass
class _Side:
    """What a task does for the next one, and for want of the one before."""

    gives: list[_Token] = field(default_factory=list)
    waits: list[_Token] = field(default_factory=list)
    after: int = 0
    """ns of work between gives and the waits that follow, but for what the call itself may take."""
    whole: int = 0
    """And from the waits or gives before to these waits."""

    @property
    def goes_on(self) -> bool:
        """Return whether the task may do more than to wait, once it has let the next one go on."""
        return self.after > GOES_ON * self.whole

    def both(self) -> Iterator[tuple[int, list[_Token]]]:
        """Yield the gives, and then the waits; of one place gives come first."""
        yield 0, self.gives
        yield 1, self.waits


def find_turns(work: Worked, waits: Waits, free: Flags) -> list[Turns]:
    """Return the tasks that take turns.

    Args:
        work: the trace.
        waits: all waits.
        free: of the waits, those of which it is not known otherwise what they were for.
    """
    own = np.flatnonzero(free & (waits.cause == list(CAUSES).index(TASK)))
    by = work.pieces.task[waits.waker[own]]
    wakers: dict[int, Counter[int]] = {}
    for task, waker in zip(waits.task[own].tolist(), by.tolist(), strict=True):
        wakers.setdefault(task, Counter())[waker] += 1
    found = []
    for tasks in _circles({task: _only(counts) for task, counts in wakers.items()}):
        after = [*tasks[1:], tasks[0]]
        if all(_both_run(work, *pair) <= _AT_ONCE for pair in combinations(tasks, 2)):
            if len(tasks) > 2 and (ran := _one_after_another(work, tasks)):
                found.append(Turns(tasks, _untold(work, waits, (own, by), tasks, ran)))
                continue
            around = zip([tasks[-1], *tasks[:-1]], tasks, after, strict=True)
            sides = [_side(work, waits, own, by, three) for three in around]
            rows = _unseen(work, tasks, sides)
            unsure = any(side.goes_on for side in sides)
            found.append(Turns(tasks, [], len(rows) // 2) if unsure else Turns(tasks, rows))
    return found


def _circles(before: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """Yield tasks of which each is woken by the one before it alone, the first by the last."""
    for start in sorted(before):
        around = [start]
        while len(around) <= _MOST and before.get(around[-1], -1) not in (-1, start):
            around.append(before[around[-1]])
        closes = before.get(around[-1], -1) == start and len(around) > 1
        if closes and len(around) <= _MOST and start == min(around):
            yield tuple(reversed(around))


def _only(counts: Counter[int]) -> int:
    """Return the task that ends another one's waits; -1: there are several, or it seldom does."""
    other, number = counts.most_common(1)[0]
    enough = number >= _FEWEST and number >= (1 - _OTHERS) * counts.total()
    return other if enough else -1


def _both_run(work: Worked, one: int, two: int) -> float:
    """Return for which part of the time that one of two tasks runs the other one runs, too."""
    pieces = work.pieces
    first, second = (np.flatnonzero(pieces.task == task) for task in (one, two))
    long = pieces.until - pieces.since
    ends = np.stack([pieces.since[second], pieces.until[second]], axis=1).reshape(-1)
    ran = np.concatenate([[0], np.cumsum(long[second])])
    ran = np.repeat(ran, 2)[1:-1]
    both = np.interp(pieces.until[first], ends, ran) - np.interp(pieces.since[first], ends, ran)
    less = min(int(long[first].sum()), int(long[second].sum()))
    return float(both.sum()) / max(less, 1)


@dataclass
class _Run:
    """What a task works in its turn: one or more of its pieces, from the first to the last."""

    task: int
    """Its place among those that take turns."""
    first: int
    last: int
    work: int


def _one_after_another(work: Worked, tasks: Sequence[int]) -> list[_Run]:
    """Return what tasks did one after another in the ring's order; empty: they did not.

    Short pieces in between are what a task does on its way to its wait.
    """
    pieces = work.pieces
    own = np.flatnonzero(np.isin(pieces.task, tasks) & (work.spent > CALLS))
    own = own[np.argsort(pieces.since[own], kind="stable")]
    place = {task: at for at, task in enumerate(tasks)}
    columns = (own, pieces.task[own], work.spent[own])
    runs = [
        _Run(place[task], piece, piece, spent)
        for piece, task, spent in zip(*(c.tolist() for c in columns), strict=True)
    ]
    runs = _joined(runs)
    usual = [
        float(np.median([run.work for run in runs if run.task == at] or [0]))
        for at in range(len(tasks))
    ]
    runs = _joined([run for run in runs if run.work >= _OF_A_TURN * usual[run.task]])
    fits = sum(b.task == (a.task + 1) % len(tasks) for a, b in pairwise(runs))
    return runs if len(runs) > _FEWEST and fits >= _IN_ORDER * (len(runs) - 1) else []


def _joined(runs: Sequence[_Run]) -> list[_Run]:
    """Return runs with those of one task after another as one."""
    found: list[_Run] = []
    for run in runs:
        if found and found[-1].task == run.task:
            before = found[-1]
            found[-1] = _Run(run.task, before.first, run.last, before.work + run.work)
        else:
            found.append(run)
    return found


def _untold(
    work: Worked,
    waits: Waits,
    ended: tuple[Numbers, Numbers],
    tasks: Sequence[int],
    runs: Sequence[_Run],
) -> list[Row]:
    """Return the waits and wakes between turns of which the trace shows none.

    Args:
        work: the trace.
        waits: all waits.
        ended: those that other tasks ended, and by which.
        tasks: the ring.
        runs: its turns.
    """
    pieces, (own, by) = work.pieces, ended
    told = []
    steps: list[list[tuple[int, int]]] = [[] for _ in tasks]
    for at, task in enumerate(tasks):
        seen = own[(waits.task[own] == task) & (by == tasks[at - 1])]
        told.append(np.sort(waits.ended[seen]))
        steps[at] += ((place, 1) for place in waits.place[seen].tolist())
        steps[at - 1] += ((place, 0) for place in waits.waking[seen].tolist())
    rows: list[Row] = []
    for a, b in pairwise(runs):
        if b.task != (a.task + 1) % len(tasks):
            continue
        between = np.array([pieces.since[a.first], pieces.since[b.first]])
        low, high = np.searchsorted(told[b.task], between, "right").tolist()
        if low < high:
            continue
        gave, end = int(work.before[a.last] + work.spent[a.last]), int(pieces.end[a.last])
        rows.append((tasks[a.task], end, gave, WAKE, tasks[b.task]))
        begin = int(pieces.begin[b.first])
        rows.append((tasks[b.task], begin, int(work.before[b.first]), WAIT, 0))
        steps[a.task].append((end, 0))
        steps[b.task].append((begin, 1))
    return rows if _come_to_an_end([sorted(every) for every in steps]) else []


def _side(
    work: Worked, waits: Waits, own: Numbers, by: Numbers, three: tuple[int, int, int]
) -> _Side:
    """Return what a task between two others does, with what has to be between."""
    last, task, following = three
    waited = own[(waits.task[own] == task) & (by == last)]
    gave = own[(waits.task[own] == following) & (by == task)]
    worked = work.offset(waits.waker[gave], waits.waking[gave])
    columns = (waits.waking[gave], worked, gave)
    steps = [(_Token(*row), True) for row in zip(*(c.tolist() for c in columns), strict=True)]
    columns = (waits.place[waited], waits.offset[waited], waited)
    steps += [(_Token(*row), False) for row in zip(*(c.tolist() for c in columns), strict=True)]
    steps.sort(key=lambda step: step[0].place)
    found = _Side()
    before: tuple[_Token, bool] | None = None
    earlier = 0
    for token, gives in steps:
        if before and gives and before[1]:
            found.waits.append(_Token(before[0].place, before[0].offset, -1, token.place))
        elif before and not gives and not before[1]:
            found.gives.append(_Token(token.place, token.offset, -1))
        elif before and not gives:
            found.after += max(token.offset - before[0].offset - CALLS, 0)
            found.whole += token.offset - earlier
        (found.gives if gives else found.waits).append(token)
        earlier = before[0].offset if before else 0
        before = token, gives
    return found


def _unseen(work: Worked, tasks: Sequence[int], sides: Sequence[_Side]) -> list[Row]:
    """Return the waits and wakes that are missing, as far as they belong together.

    A wait comes as soon as the task before has given, so that all is in the order of the trace.
    """
    rows: list[Row] = []
    steps = [
        [(token.place, waits) for waits, every in side.both() for token in every if token.seen >= 0]
        for side in sides
    ]
    for at, task in enumerate(tasks):
        for wait, give in _together(sides[at].waits, sides[at - 1].gives):
            place = give.place
            if not wait.place < place < wait.until:
                continue
            worked = int(work.worked(np.array([task]), np.array([place]))[0])
            rows.append((task, place, worked, WAIT, 0))
            rows.append((tasks[at - 1], place, give.offset, WAKE, task))
            steps[at].append((place, 1))
            steps[at - 1].append((place, 0))
    return rows if _come_to_an_end([sorted(own) for own in steps]) else []


def _come_to_an_end(steps: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """Return whether no task waits for a wake that comes after what itself has to give before."""
    at, given = [0] * len(steps), [0] * len(steps)
    moved = True
    while moved:
        moved = False
        for own, every in enumerate(steps):
            while at[own] < len(every):
                waits = every[at[own]][1]
                if waits and not given[own]:
                    break
                if waits:
                    given[own] -= 1
                else:
                    given[(own + 1) % len(steps)] += 1
                at[own] += 1
                moved = True
    return all(done == len(every) for done, every in zip(at, steps, strict=True))


def _together(waits: Sequence[_Token], gives: Sequence[_Token]) -> Iterator[tuple[_Token, _Token]]:
    """Yield unseen waits with the gives that ended them: between the same ones that are seen."""
    parts = [_by_seen(tokens) for tokens in (waits, gives)]
    for seen, unseen in parts[0].items():
        yield from zip(unseen, parts[1].get(seen, ()), strict=False)


def _by_seen(tokens: Sequence[_Token]) -> dict[int, list[_Token]]:
    """Return unseen tokens by the last one before that is seen."""
    found: dict[int, list[_Token]] = {}
    last = -1
    for token in tokens:
        if token.seen >= 0:
            last = token.seen
        else:
            found.setdefault(last, []).append(token)
    return found
