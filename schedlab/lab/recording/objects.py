"""What tasks of a recording share: channels, locks, barriers and pools, as steps of a replay."""

from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import dataclass, fields

import numpy as np

from schedlab.lab.recording.calls import Calls, measured_calls
from schedlab.lab.recording.causes import CAUSES, ITEM, LOCK_HELD, MEETING, MESSAGE, TASK
from schedlab.lab.recording.cycles import Cycles
from schedlab.lab.recording.events import CHANNELS, Flags, Kind, Numbers, Stop
from schedlab.lab.recording.futexes import (
    CONTENDED,
    FutexCalls,
    Hold,
    Known,
    Objects,
    find_futex_calls,
    find_objects,
)
from schedlab.lab.recording.gates import addressed_tasks, find_gates
from schedlab.lab.recording.loops import Loops
from schedlab.lab.recording.messages import Transfers, arrived, find_transfers, whole_channels
from schedlab.lab.recording.pieces import Spans, find_spans, task_key
from schedlab.lab.recording.services import Row, Service, find_services
from schedlab.lab.recording.turns import Turns, find_turns
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import (
    BARRIER,
    LOCK,
    OPEN,
    PUT,
    RECEIVE,
    SEND,
    TAKE,
    UNLOCK,
    YIELD,
    Message,
)
from schedlab.lab.recording.yielding import Yielding

_BUSY = 0.5
"""Of the time from a lock's first hold to its last: what makes it a lock that is mostly held."""
_RARELY = 0.1
"""Of a task's waits, the part that may be for something else than locks."""
_AGAIN = 10
"""Times the work of a hold, up to which a task takes the lock again and again."""


@dataclass(frozen=True)
class Left:
    """What stays hand-overs, as tasks could wait for ever otherwise."""

    words: frozenset[int] = frozenset()
    """Futexes."""
    servers: frozenset[int] = frozenset()
    """Tasks."""
    apart: frozenset[int] = frozenset()
    """Futexes that stay locks; where no call shows when they are taken, it is after the task gave
    others back."""

    def and_more(self, more: "Left") -> "Left":
        """Return both."""
        return Left(self.words | more.words, self.servers | more.servers, self.apart | more.apart)

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return bool(self.words or self.servers or self.apart)


@dataclass
class Steps:
    """Words of tasks, and how much work each task had done before."""

    task: Numbers
    place: Numbers
    offset: Numbers
    letter: Numbers
    amount: Numbers

    def and_more(self, others: "Steps") -> "Steps":
        """Return them, and then others."""
        pairs = ((getattr(self, c.name), getattr(others, c.name)) for c in fields(self))
        return Steps(*(np.concatenate(pair) for pair in pairs))

    def sorted(self) -> "Steps":
        """Return them by task and then by place; at one place as they came."""
        order = np.argsort(task_key(self.task, self.place), kind="stable")
        return Steps(*(getattr(self, column.name)[order] for column in fields(self)))


def steps_of(rows: Sequence[Row]) -> Steps:
    """Return rows as steps."""
    task, place, offset, letter, amount = zip(*rows, strict=True) if rows else ((),) * 5
    letters = [ord(word) for word in letter]
    columns = (task, place, offset, letters, amount)
    return Steps(*(np.array(column, np.int64) for column in columns))


class Shared:
    """What tasks share, and the calls by which they use it."""

    def __init__(self, work: Worked, waits: Waits, left: Left, cost: float | None) -> None:
        """Find it, but for what is left out; what waits were for is filled in.

        `cost` is that of a call that wakes a task; None: each wake is one of the recording's own.
        """
        self._work = work
        self.messages: list[Message] = []
        self.futexes, begun, ended = _known_calls(work)
        every, self.unmatched = _known_transfers(work)
        self._loops = (
            Loops(work, waits, every, self.futexes, left.servers) if cost is not None else None
        )
        transfers = self._loops.others if self._loops else every
        self.turns = self._turns(waits, transfers) if self._loops else []
        """Tasks that take turns."""
        in_turns = {task for pair in self.turns for task in pair.tasks}
        wakers = self._wakers(waits)
        woken = [(task, call) for _, task, call in wakers if task not in in_turns]
        known = Known(work.taken, begun, ended, woken, work.likes())
        self.objects: Objects = find_objects(self.futexes, known, left.words)
        self._keep_apart(left.apart)
        self.servers: list[int] = []
        """The tasks of the last pools, which serve others."""
        self.silent: set[int] = set()
        """Items that were put and taken without a call: nobody was woken."""
        self.pool_of: dict[int, int] = {}
        """Of each item, from 1."""
        yields = self._yields()
        self._yielding = Yielding(yields, self.objects.holds, self.futexes)
        rows = [*self._locks(), *self._barriers()]
        rows += [(*call, ord(YIELD), 0) for call in _columns(yields)]
        taken, more = self._pools(waits, wakers, rows)
        self.taken = list(zip(taken, self.pool_of.values(), strict=True))
        """The waits for items of pools that futexes feed, with the pools."""
        columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
        task, enter, exit_, letter, amount = columns or [np.zeros(0, np.int64)] * 5
        self.calls = self._all(transfers, (task, enter, exit_, letter, amount))
        before = self._taken_before(begun, ended)
        self.guessed = {(task, place) for task, place, *_ in before}
        """Where tasks took locks, each with its place, of which no call shows when."""
        self.more = steps_of([*before, *more])
        self.more = self.more.and_more(self._held_around(yields))
        tasks = self._alone_with_locks(waits)
        starts = [(start, hold) for start, hold in self._starts() if not self._apart(hold, left)]
        self._cycles = Cycles(work, self.futexes, (begun, ended), starts, tasks)
        self.guessed |= {(task, place) for task, place, *_ in self._cycles.rows}
        self.place, self.offset = waits.place.copy(), waits.offset.copy()
        self.rare = 0
        """Waits for locks that stay hand-overs, as these locks are free most of the time."""
        pooled = set(waits.task[np.array(taken, np.int64)].tolist())
        self._fill(waits, taken, transfers, self._rare(begun, ended, pooled))
        self.more = self.more.and_more(steps_of(self._cycles.rows))
        self.put_in = len(self._cycles.rows) // 2
        """Holds of locks that no call shows, of tasks that take them again and again."""
        self.gate = np.zeros(len(waits.task), np.int64)
        """Of each wait, from 1; 0: none."""
        if cost is not None:
            self._addressed = addressed_tasks(work, waits, self.futexes)
            self._serve(waits, left, in_turns)
            self._open(waits, cost)

    def _rare(self, begun: Numbers, ended: Numbers, pooled: Container[int]) -> set[tuple[int, int]]:
        """Return the task and the first place of waits for locks that are free most of the time.

        Most of the holds of such a lock are not seen. Nobody would wait for it in a replay, whose
        tasks are never quite as far as each other, unless a task takes it again and again. What is
        waited for within another hold is left out: a holder never waits for a hand-over; and so is
        what tasks of a pool wait for: whichever of them has an item cannot be handed over to.
        """
        free, again = self._mostly_free(begun, ended)
        often = free - self._yielding.locks - self._cycles.locks
        found = set()
        last: dict[tuple[int, int], Hold] = {}
        inside: dict[int, int] = {}
        for start, hold in sorted(self._starts(), key=lambda found: (found[1].task, found[0])):
            before = last.get((hold.lock, hold.task))
            last[hold.lock, hold.task] = hold
            nested = start < inside.get(hold.task, -1)
            if hold.release >= 0:
                until = max(inside.get(hold.task, -1), self._enter(hold))
                inside[hold.task] = until
            if hold.first < 0 or hold.lock not in often or nested:
                continue
            if hold.task in pooled:
                continue
            gap = int(begun[hold.first] - ended[before.release]) if before else -1
            if not 0 <= gap <= again[hold.lock]:
                found.add((hold.task, start))
        return found

    def _alone_with_locks(self, waits: Waits) -> set[int]:
        """Return the tasks that wait for hardly anything but locks, and make no other calls."""
        call = self.calls.around(waits.task, waits.place)
        there = np.maximum(call, 0)
        at_lock = (call >= 0) & (self.calls.letter[there] == ord(LOCK)) if len(self.calls) else call
        size = len(self._work.taken)
        every = np.bincount(waits.task, minlength=size)
        other = every - np.bincount(waits.task[at_lock > 0], minlength=size)
        mine = np.isin(self.calls.letter, np.array([ord(LOCK), ord(UNLOCK), ord(YIELD)]))
        busy = np.unique(self.calls.task[~mine])
        return set(np.flatnonzero(other <= np.maximum(_RARELY * every, 2)).tolist()) - {
            *busy.tolist()
        }

    def _apart(self, hold: Hold, left: Left) -> bool:
        return hold.lock in self._yielding.locks or self.objects.locks[hold.lock - 1] in left.apart

    def _starts(self) -> Iterator[tuple[int, Hold]]:
        """Yield all holds with the place where each began."""
        free = iter(self.more.place.tolist())
        for hold in self.objects.holds:
            yield int(self.futexes.enter[hold.first]) if hold.first >= 0 else next(free), hold

    def _mostly_free(self, begun: Numbers, ended: Numbers) -> tuple[set[int], dict[int, int]]:
        """Return locks that are free most of the time, and what work may be between two holds."""
        ns = self._work.events.ns
        since: dict[int, list[int]] = {}
        until: dict[int, list[int]] = {}
        work: dict[int, list[int]] = {}
        for hold in self.objects.holds:
            if hold.first < 0 or hold.release < 0 or self.futexes.exit[hold.last] == len(ns):
                continue
            since.setdefault(hold.lock, []).append(int(ns[self.futexes.exit[hold.last]]))
            until.setdefault(hold.lock, []).append(int(ns[self._enter(hold)]))
            work.setdefault(hold.lock, []).append(int(begun[hold.release] - ended[hold.last]))
        free = {
            lock
            for lock in since
            if sum(until[lock]) - sum(since[lock]) < _BUSY * (max(until[lock]) - min(since[lock]))
        }
        again = {lock: _AGAIN * max(int(np.median(every)), 1_000) for lock, every in work.items()}
        return free, again

    @property
    def sizes(self) -> list[int]:
        """Return how many tasks each barrier is for."""
        return self.objects.sizes

    def numbers(self) -> dict[str, int]:
        """Return how many objects of each kind there are."""
        channels = len({message.channel for message in self.messages})
        found = {"channels": channels, "locks": len(self.objects.locks)}
        found |= {"barriers": len(self.sizes), "pools": len(set(self.pool_of.values()))}
        return found | {"items": len(self.pool_of)}

    # ------------------------------------------------------------------ calls

    def _wakers(self, waits: Waits) -> list[tuple[int, int, int]]:
        """Return the waits that a futex's wake ended: number, task, and that call."""
        woken = np.flatnonzero(waits.waker >= 0)
        by = self._work.pieces.task[waits.waker[woken]]
        call = self.futexes.around(by, waits.waking[woken])
        if not len(self.futexes):
            return []
        wakes = (call >= 0) & ~self.futexes.waits[np.maximum(call, 0)]
        columns = (woken[wakes], waits.task[woken][wakes], call[wakes])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _turns(self, waits: Waits, transfers: Transfers) -> list[Turns]:
        """Return the tasks that take turns by what is neither a message nor a lock."""
        loops = self._loops.services if self._loops else []
        servers = np.array([service.server for service in loops], np.int64)
        free = ~self._by_message(waits, transfers) & ~np.isin(waits.task, servers)
        free &= ~waits.joins
        call = self.futexes.around(waits.task, waits.place)
        if len(self.futexes):
            there = np.maximum(call, 0)
            free &= (call < 0) | (self.futexes.value[there] != CONTENDED)
        return find_turns(self._work, waits, free)

    def _serve(self, waits: Waits, left: Left, in_turns: Set[int]) -> None:
        """Make requests to tasks that serve others items of a pool of each such task."""
        rows = []
        loops = self._loops.services if self._loops else []
        for service in loops:
            rows += self._add(service)
            waits.cause[np.array(service.asked, np.int64)] = list(CAUSES).index(ITEM)
        known = self._known_words(left)
        word = self.futexes.word_around(waits.task, waits.place)
        free = ((word < 0) | ~np.isin(word, known)) & ~waits.joins
        others = {*left.servers, *self.servers, *in_turns, *self._addressed}
        for service in find_services(self._work, waits, free, word, others):
            rows += self._add(service)
            waits.cause[np.array(service.asked)] = list(CAUSES).index(ITEM)
        rows += (row for pair in self.turns for row in pair.rows)
        self.more = self.more.and_more(steps_of(rows))

    def _add(self, service: Service) -> list[Row]:
        """Make a pool for a service, and return what its tasks do with the numbers of its items."""
        self.servers.append(service.server)
        pool = len(self.objects.pools) + len(self.servers)
        before = len(self.pool_of) + 1
        self.pool_of |= dict.fromkeys(range(before, before + service.items), pool)
        self.silent |= {before + item for item in service.silent}
        return [(*row[:4], before + row[4]) for row in service.rows]

    def _open(self, waits: Waits, cost: float) -> None:
        """Make a gate of each call that wakes several tasks."""
        gate = find_gates(self._work, waits, self.futexes, cost, self._addressed)
        own = np.flatnonzero(gate)
        own = own[np.argsort(task_key(gate[own], waits.waking[own]), kind="stable")]
        number, first, size = np.unique(gate[own], return_index=True, return_counts=True)
        enter, exit_ = waits.waking[own[first]], waits.waking[own[first + size - 1]]
        task = self._work.pieces.task[waits.waker[own[first]]]
        free = self.calls.around(task, enter) < 0
        self.gate = np.where(np.isin(gate, number[free]), gate, 0)
        columns = (task[free], enter[free], exit_[free])
        word = np.full(len(columns[0]), ord(OPEN))
        opened = measured_calls(self._work, *columns, word, number[free])
        self.calls = self.calls.and_more(opened)

    def _known_words(self, left: Left) -> Numbers:
        """Return the futexes of which it is known what they are, or that they are no requests."""
        known = {*self.objects.locks, *self.objects.barriers, *self.objects.pools, *left.words}
        return np.array(sorted(known), np.int64)

    def _call(self, task: int, first: int, last: int, letter: str, amount: int) -> tuple[int, ...]:
        calls = self.futexes
        return task, int(calls.enter[first]), int(calls.exit[last]), ord(letter), amount

    def _locks(self) -> list[tuple[int, ...]]:
        rows = []
        for hold in self.objects.holds:
            if hold.first >= 0:
                rows.append(self._call(hold.task, hold.first, hold.last, LOCK, hold.lock))
            if hold.release >= 0:
                rows.append(self._call(hold.task, hold.release, hold.release, UNLOCK, hold.lock))
        return rows

    def _barriers(self) -> list[tuple[int, ...]]:
        return [
            self._call(each.task, each.first, each.last, BARRIER, each.barrier)
            for each in self.objects.arrivals
        ]

    def _yields(self) -> Spans:
        work = self._work
        found = find_spans(work.events, work.pieces.lives, [Kind.YIELD], Kind.YIELD_DONE)
        seen = work.taken[found.task]
        return Spans(found.task[seen], found.enter[seen], found.exit[seen])

    def _held_around(self, yields: Spans) -> Steps:
        """Return where tasks took and gave back locks, which nobody waited for, around yields."""
        found = list(self._yielding.unseen(list(self._starts())))
        at = np.array([number for number, _ in found], np.int64)
        lock = np.array([lock for _, lock in found], np.int64)
        task, enter, exit_ = yields.task[at], yields.enter[at], yields.exit[at]
        ends = (self._work.worked(task, place) for place in (enter, exit_))
        words = np.repeat([ord(LOCK), ord(UNLOCK)], len(at))
        sides = (np.concatenate([enter, exit_]), np.concatenate([*ends]))
        return Steps(np.tile(task, 2), *sides, words, np.tile(lock, 2))

    def _pools(
        self,
        waits: Waits,
        wakers: Sequence[tuple[int, int, int]],
        rows: list[tuple[int, ...]],
    ) -> tuple[list[int], list[tuple[int, int, int, str, int]]]:
        """Add the calls of pools; return the waits for items, and those that began before."""
        calls = self.futexes
        number = {word: at for at, word in enumerate(self.objects.pools, 1)}
        number |= {word: number[of] for word, of in self.objects.second.items()}
        of_pools = [found for found in wakers if int(calls.word[found[2]]) in number]
        of_pools.sort(key=lambda found: int(waits.waking[found[0]]))
        taken, more = [], []
        put: set[int] = set()
        within = calls.around(waits.task, waits.place)
        for item, (wait, task, wake) in enumerate(of_pools, 1):
            pool = number[int(calls.word[wake])]
            self.pool_of[item] = pool
            if wake in put:  # one call woke several
                place = int(calls.enter[wake])
                waker = int(calls.task[wake])
                worked = int(self._work.worked(np.array([waker]), np.array([place]))[0])
                more.append((waker, place, worked, PUT, item))
            else:
                rows.append(self._call(int(calls.task[wake]), wake, wake, PUT, item))
            put.add(wake)
            own = int(within[wait])
            if own >= 0 and calls.word[own] == calls.word[wake]:
                rows.append(self._call(task, own, own, TAKE, item))
            else:
                place, offset = int(waits.place[wait]), int(waits.offset[wait])
                more.append((task, place, offset, TAKE, item))
            taken.append(wait)
        return taken, more

    def _all(self, transfers: Transfers, others: Sequence[Numbers]) -> Calls:
        work = self._work
        kinds = np.stack([transfers.kind, transfers.channel, transfers.bytes])
        each, number = np.unique(kinds, axis=1, return_inverse=True)
        self.messages = [
            Message(CHANNELS[kind], channel, size) for kind, channel, size in each.T.tolist()
        ]
        task, enter, exit_, letter, amount = (
            np.concatenate(pair)
            for pair in zip(
                (
                    *(transfers.task, transfers.enter, transfers.exit),
                    np.where(transfers.sends, ord(SEND), ord(RECEIVE)),
                    number.reshape(-1) + 1,
                ),
                others,
                strict=True,
            )
        )
        return measured_calls(work, task, enter, exit_, letter, amount)

    # ------------------------------------------------------------------ locks that were free

    def _keep_apart(self, words: Set[int]) -> None:
        """Let holds of these locks, of which no call shows the begin, begin after other releases.

        Not those which another task found taken before.
        """
        last: dict[int, int] = {}
        given = [hold for hold in self.objects.holds if hold.release >= 0] if words else []
        for hold in sorted(given, key=self._enter):
            at = last.get(hold.task, 0)
            own = hold.first < 0 and self.objects.locks[hold.lock - 1] in words
            if own and (hold.noticed < 0 or hold.noticed > at):
                hold.after = max(hold.after, at)
            last[hold.task] = self._enter(hold)

    def _taken_before(self, begun: Numbers, ended: Numbers) -> list[tuple[int, int, int, str, int]]:
        """Return where tasks took locks that were free, which no call shows.

        It was after the lock was free the last time and before another task found it taken. Between
        those a hold is as long as the same lock's holds that calls show, in the middle.
        """
        holds = self.objects.holds
        known: dict[int, list[int]] = {}
        for hold in holds:
            if hold.first >= 0 and hold.release >= 0:
                long = int(begun[hold.release] - ended[hold.last])
                known.setdefault(hold.lock, []).append(long)
        middle = {lock: int(np.median(every)) for lock, every in known.items()}
        return [
            self._taking(hold, int(begun[hold.release]), middle.get(hold.lock, 0))
            for hold in holds
            if hold.first < 0
        ]

    def _taking(self, hold: Hold, released: int, long: int) -> tuple[int, int, int, str, int]:
        work = self._work
        task = np.array([hold.task])
        if hold.lock in self._yielding.locks:
            place = self._yielding.last_before(hold)
            if place > hold.after:
                worked = int(work.worked(task, np.array([place]))[0])
                return hold.task, place, worked, LOCK, hold.lock
        free = int(work.worked(task, np.array([hold.after]))[0])
        start = max(released - long, work.began_block(hold.task, int(self._enter(hold))))
        noticed = released
        if hold.noticed >= 0:
            noticed = int(work.worked(task, np.array([hold.noticed]))[0])
        offset = max(free, min(start, noticed))
        latest = hold.noticed if hold.noticed >= 0 else self._enter(hold)
        call = int(self.calls.around(task, np.array([latest]))[0])
        if call >= 0:
            latest = int(self.calls.enter[call])
        place = max(work.place_of(hold.task, offset), hold.after + 1)
        if place >= latest or offset == noticed < released:
            place = work.last_run(hold.task, latest)
        return hold.task, max(place, 0), offset, LOCK, hold.lock

    def _enter(self, hold: Hold) -> int:
        return int(self.futexes.enter[hold.release])

    # ------------------------------------------------------------------ causes

    def _fill(
        self,
        waits: Waits,
        taken: Sequence[int],
        transfers: Transfers,
        rare: set[tuple[int, int]],
    ) -> None:
        order = list(CAUSES)
        waits.cause[self._by_message(waits, transfers)] = order.index(MESSAGE)
        call = self.calls.around(waits.task, waits.place)
        if len(self.calls):
            letter = np.where(call >= 0, self.calls.letter[np.maximum(call, 0)], 0)
            self._fill_locks(waits, call, np.flatnonzero(letter == ord(LOCK)), rare)
            waits.cause[letter == ord(BARRIER)] = order.index(MEETING)
        waits.cause[np.array(taken, np.int64)] = order.index(ITEM)

    def _fill_locks(
        self, waits: Waits, call: Numbers, which: Numbers, rare: set[tuple[int, int]]
    ) -> None:
        """Decide waits for locks anew, but keep rare ones: hand-overs before the lock is taken."""
        order = list(CAUSES)
        for wait in which.tolist():
            own = int(call[wait])
            place = int(self.calls.enter[own])
            by_task = waits.cause[wait] == order.index(TASK)
            if by_task and (int(waits.task[wait]), place) in rare:
                self.place[wait], self.offset[wait] = place, self.calls.began[own]
                self.rare += 1
            else:
                waits.cause[wait] = order.index(LOCK_HELD)

    def _by_message(self, waits: Waits, transfers: Transfers) -> Flags:
        """Return which waits were within a call, or ended as a message came for the task."""
        within = transfers.around(waits.task, waits.place) >= 0
        if not len(transfers):
            return within
        waker = self._work.pieces.task[np.maximum(waits.waker, 0)]
        sent = transfers.around(waker, np.maximum(waits.waking, 0))
        by_call = (waits.waker >= 0) & (sent >= 0)
        channel = transfers.channel[np.maximum(sent, 0)]
        receives = np.flatnonzero(~transfers.sends)
        readers = task_key(transfers.task[receives], transfers.channel[receives])
        reads = np.isin(task_key(waits.task, channel), np.unique(readers))
        found: Flags = within | (by_call & transfers.sends[np.maximum(sent, 0)] & reads)
        return found | arrived(waits, transfers)


def _columns(spans: Spans) -> Iterator[tuple[int, int, int]]:
    """Yield the task, the beginning and the end of each."""
    yield from zip(spans.task.tolist(), spans.enter.tolist(), spans.exit.tolist(), strict=True)


def _known_calls(work: Worked) -> tuple[FutexCalls, Numbers, Numbers]:
    """Return the futex calls of tasks that are known to run, and the work done before and after."""
    every = find_futex_calls(work.events, work.pieces.lives)
    piece = work.running(every.enter)
    seen = (piece >= 0) & (work.pieces.task[np.maximum(piece, 0)] == every.task)
    kept = FutexCalls(*(getattr(every, column.name)[seen] for column in fields(every)))
    begun = work.worked(kept.task, kept.enter)
    return kept, begun, work.worked(kept.task, kept.exit)


def _known_transfers(work: Worked) -> tuple[Transfers, int]:
    """Return calls that send or receive, over channels whose both ends are known.

    The number is that of calls over such channels that are left out.
    """
    found = find_transfers(work.events, work.pieces.lives)
    begins, ends = work.running(found.enter), work.running(found.exit)
    owner = work.pieces.task
    seen = (begins >= 0) & (ends >= 0)
    seen &= (owner[begins] == found.task) & (owner[ends] == found.task)
    ends = task_key(owner, work.pieces.end)
    after = np.searchsorted(ends, task_key(found.task, found.enter), "right")
    after = np.minimum(after, len(ends) - 1)
    slept = (ends[after] < task_key(found.task, found.exit)) & (
        work.pieces.stop[after] == int(Stop.SLEEP)
    )
    return whole_channels(found, seen, np.where(slept, work.pieces.end[after], -1), work.taken)
