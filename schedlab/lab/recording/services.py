"""Tasks that serve others: whoever asks is answered, in the order in which clients ask.

A trace shows the wake of a task that sleeps, and nothing of a wake of one that is awake. So of a
server's clients some wake it, and those that ask while it works do not. Replayed as wake after
wake, a server would answer its clients in the recorded order, whoever asks first. Its queue is
inferred instead: each request is an item that its client puts, and it holds what the server works
for it, and its answer.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np

from schedlab.lab.recording.causes import CAUSES, TASK
from schedlab.lab.recording.events import Flags, Numbers
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import PUT, TAKE

_COLLECTS = 0.1
"""Of the requests that wake a task, the part after which it may wait on without waking anybody.
With more of them it collects what others did, as one that joins threads, and does not serve."""
_SILENT = 0.1
"""Of the requests of an only client, the part that wakes nobody: with fewer of them the two take
turns, and a trace has all of their wakes."""
GOES_ON = 0.25
"""Of its work from turn to turn, the part that a task may do between its wake and its wait; with
room for two, it would be half of it at least."""
CALLS = 5_000
"""ns of work that the end of a call that wakes and the begin of one that waits may take, both being
traced."""

Row = tuple[int, int, int, str, int]
"""Task, place, work it had done, word, number."""


@dataclass
class Service:
    """What a server and its clients do instead of waiting for wakes and waking."""

    server: int
    rows: list[Row] = field(default_factory=list)
    """With the service's items as numbers, from 0."""
    asked: list[int] = field(default_factory=list)
    """Waits of the server that requests ended."""
    silent: set[int] = field(default_factory=set)
    """Items of clients that asked without waking the server."""
    count: int = -1
    """The number of requests; -1: each woke the server, or is silent."""

    @property
    def items(self) -> int:
        """Return the number of requests."""
        return len(self.asked) + len(self.silent) if self.count < 0 else self.count

    def takes_turns(self) -> bool:
        """Return whether nearly all requests wake the server, but the first, which may be old."""
        return len(self.silent) - 1 < _SILENT * self.items


def find_services(
    work: Worked, waits: Waits, free: Flags, word: Numbers, left: Collection[int]
) -> list[Service]:
    """Return the services of a recording, but those of tasks that are left out.

    Args:
        work: the trace.
        waits: all waits.
        free: of the waits, those that may be for requests and answers.
        word: of each wait, the futex; -1: it is at none.
        left: tasks.
    """
    return list(_Search(work, waits, free, word).services(left))


class _Search:
    """The wakes of tasks by tasks, by the waiting task and by the waking one."""

    def __init__(self, work: Worked, waits: Waits, free: Flags, word: Numbers) -> None:
        self._work, self._waits = work, waits
        self._word = word.tolist()
        by_task = np.flatnonzero(free & (waits.cause == list(CAUSES).index(TASK)))
        by_task = by_task[np.argsort(waits.waking[by_task], kind="stable")]
        by = work.pieces.task[waits.waker[by_task]]
        self._waker = dict(zip(by_task.tolist(), by.tolist(), strict=True))
        self._of: dict[int, list[int]] = {}
        """Of each task: its waits that a task ended."""
        self._ends: dict[int, list[int]] = {}
        """Of each task: the waits that it ended."""
        for wait, task, waker in zip(
            by_task.tolist(), waits.task[by_task].tolist(), by.tolist(), strict=True
        ):
            self._of.setdefault(task, []).append(wait)
            self._ends.setdefault(waker, []).append(wait)
        self._place, self._waking = waits.place.tolist(), waits.waking.tolist()
        self._task = waits.task.tolist()
        woke = work.offset(waits.waker[by_task], waits.waking[by_task])
        self._woke = dict(zip(by_task.tolist(), woke.tolist(), strict=True))
        """Of each such wait: what the waker had worked."""

    def _partners(self) -> dict[int, set[int]]:
        """Return for each task those that it wakes and that wake it.

        Those that wait at one futex wait for what it stands for, and not for each other's answers.
        """
        at: dict[tuple[int, int], set[int]] = {}
        for task, every in self._of.items():
            for wait in every:
                at.setdefault((task, self._waker[wait]), set()).add(self._word[wait])
        found: dict[int, set[int]] = {}
        for (task, other), words in at.items():
            if (other, task) in at and not (words & at[other, task]) - {-1}:
                found.setdefault(task, set()).add(other)
        return found

    def services(self, left: Collection[int]) -> Iterator[Service]:
        """Yield services, of the task with most clients first; a server is not a client later."""
        partners = self._partners()
        servers: set[int] = set()
        for task in sorted(partners, key=lambda task: (-len(partners[task]), task)):
            clients = self._answered(task, partners[task] - servers)
            if task in left or not clients:
                continue
            service = self._service(task, clients)
            if service and (len(clients) > 1 or self._serves_one(service, *clients)):
                servers.add(task)
                yield service

    def _serves_one(self, service: Service, client: int) -> bool:
        """Return whether a task serves an only client: one that waits as soon as it has asked.

        A client that works on has put something into a buffer between both, or taken it out.
        """
        after = whole = 0
        asked = [self._woke[wait] for wait in service.asked if self._waker[wait] == client]
        stopped = [int(self._waits.offset[wait]) for wait in self._of[client]]
        before = 0
        for offset in stopped:
            last = bisect_left(asked, offset + 1) - 1
            if last >= 0 and asked[last] >= before:
                after += max(offset - asked[last] - CALLS, 0)
                whole += offset - before
            before = offset
        return not service.takes_turns() and after <= GOES_ON * whole

    def _service(self, server: int, clients: set[int]) -> Service | None:
        """Return what a task does as a server; nothing if it collects what others did."""
        asks = self._of[server]
        begins = [self._place[wait] for wait in asks]
        ends = [self._waking[wait] for wait in asks]
        wakes = [self._waking[wait] for wait in self._ends[server]]
        found = Service(server, asked=asks)
        requests: dict[int, list[int]] = {}
        for item, wait in enumerate(asks):
            found.rows += self._asked(wait, item)
            requests.setdefault(self._waker[wait], []).append(item)
        answered: list[tuple[int, int, int]] = []
        resumed: dict[int, int] = {}
        late = 0
        for at, answer in enumerate(self._ends[server]):
            client, stopped = self._task[answer], self._place[answer]
            if client not in clients:
                continue
            before = resumed.get(client, -1)
            resumed[client] = self._waking[answer]
            own = requests.get(client, [])
            last = bisect_left(own, stopped, key=ends.__getitem__) - 1
            item = own[last] if last >= 0 and ends[own[last]] > before else -1
            if item < 0:
                asleep = bisect_left(begins, stopped) - 1
                if asleep >= 0 and ends[asleep] > stopped and begins[asleep] <= before:
                    continue
                item = found.items
                found.silent.add(item)
                row = (client, stopped, int(self._waits.offset[answer]), PUT, item)
                found.rows.append(row)
                answered.append((at, stopped + 1, item))
            elif item != bisect_left(ends, wakes[at]) - 1:
                until = begins[item + 1] if item + 1 < len(begins) else len(self._work.events)
                late += bisect_left(wakes, ends[item]) == bisect_left(wakes, until)
            else:
                answered.append((at, 0, item))
        found.rows += self._works(server, wakes, answered)
        return found if late <= _COLLECTS * len(asks) else None

    def _answered(self, server: int, clients: set[int]) -> set[int]:
        """Return the clients that were answered after they had woken the server."""
        first: dict[int, int] = {}
        for wait in self._of[server]:
            first.setdefault(self._waker[wait], self._waking[wait])
        last = {self._task[answer]: self._place[answer] for answer in self._ends[server]}
        return {client for client in clients if first[client] < last[client]}

    def _asked(self, wait: int, item: int) -> Iterator[Row]:
        """Yield what the client and the server do where a request wakes the server."""
        yield self._waker[wait], self._waking[wait], self._woke[wait], PUT, item
        yield self._task[wait], self._place[wait], int(self._waits.offset[wait]), TAKE, item

    def _works(
        self, server: int, wakes: list[int], answered: list[tuple[int, int, int]]
    ) -> Iterator[Row]:
        """Yield where the server began to work for each answer.

        That is after its last wait, what it did for others, its last fork, and the request.
        """
        columns = zip(*answered, strict=True) if answered else ((),) * 3
        at, asked, item = (np.array(column, np.int64) for column in columns)
        ended = np.array(wakes, np.int64)
        task = np.full(len(at), server)
        place = self._work.block_begins(task, ended[at])
        place = np.maximum(np.maximum(place, asked), np.where(at, ended[at - 1] + 1, 0))
        place = self._work.after_forks(task, place, ended[at])
        worked = self._work.worked(task, place)
        for row in zip(place.tolist(), worked.tolist(), item.tolist(), strict=True):
            yield server, row[0], row[1], TAKE, row[2]
