"""A recorded workload as it would go with a CPU for every task."""

import heapq
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from schedlab.lab.recording.workload import (
    ARRIVAL,
    BARRIER,
    DEVICE,
    GRID,
    JOIN,
    LOCK,
    OPEN,
    PASS,
    PUT,
    RECEIVE,
    SEND,
    SERVE,
    SLEEP,
    START,
    UNLOCK,
    WAIT,
    WAKE,
    Message,
    RecordedWorkload,
    join_words,
)

_CLEARLY = 0.1
"""Of a workload's time."""


@dataclass(slots=True)
class _Going:
    """A task on a machine with a CPU for everybody."""

    steps: list[tuple[str, int]]
    """Those of items stand after the step that took them."""
    slack: int
    """ns by which its timers end later."""
    at: int = 0
    time: int = 0
    next: int = 0
    wakes: deque[tuple[int, int]] = field(default_factory=deque)
    """The time and the waker of those that came and were not waited for yet."""
    waits: bool = False
    sends: bool = False
    """Its message is under way, but not all of it had room."""
    times: list[int] = field(default_factory=list)
    """When each step began."""
    wakers: dict[int, int] = field(default_factory=dict)
    """Of each wait that ended: who ended it."""
    ended: dict[int, int] = field(default_factory=dict)
    """Of each wait: when it was over."""
    took: dict[int, int] = field(default_factory=dict)
    """Of each step that took an item: which."""


@dataclass
class _Lock:
    holder: int | None = None
    waiting: deque[int] = field(default_factory=deque)
    """In the order in which they came, which is that in which they get it."""


@dataclass
class _Gate:
    opener: int | None = None
    waiting: list[int] = field(default_factory=list)


@dataclass
class _Pool:
    left: int
    """Items nobody has taken."""
    items: deque[int] = field(default_factory=deque)
    waiting: deque[int] = field(default_factory=deque)


_ROOM = {"pipe": 1 << 16, "packets": 1 << 16, "unix": 212_992, "udp": 212_992, "tcp": 4 << 20}
"""Bytes that may be under way at most: PIPE_DEF_BUFFERS pages, net.core.wmem_default, and the end
of net.ipv4.tcp_wmem. Small messages need more of it than their bytes, so that less fits."""


@dataclass
class _Channel:
    """One direction of a pipe or connection."""

    bytes: int = 0
    time: int = 0
    """When the last message was sent."""
    sender: int = 0
    receivers: list[int] = field(default_factory=list)
    """Tasks that wait for more."""
    senders: list[int] = field(default_factory=list)
    """Tasks that wait for room."""


class IdealRun:
    """The workload as it would go with a CPU for every task: no task ever waits for a CPU.

    Timers take as long as they do by default (TIMER_SLACK).
    """

    def __init__(self, workload: RecordedWorkload) -> None:
        self._all = {task.id: _Going(list(task.steps()), task.slack) for task in workload.tasks}
        self._ready: list[tuple[int, int]] = []
        self._messages = workload.messages
        self._channels: dict[int, _Channel] = {}
        self._locks: dict[int, _Lock] = {}
        self._sizes = workload.barriers
        self._arrived: dict[int, list[int]] = {}
        self._workload = workload
        left = Counter(item.pool for item in workload.items)
        self._pools = {pool: _Pool(number) for pool, number in left.items()}
        self._taker: dict[int, int] = {}
        """Of each item: the task that took it."""
        self._gates: dict[int, _Gate] = {}
        self._ended: dict[int, int] = {}
        """When tasks ended."""
        self._joiners: dict[int, list[int]] = {}
        """Of each task: those that wait for its end."""
        self._waits_at = {
            LOCK: self._lock,
            BARRIER: self._arrive,
            SERVE: self._serve,
            PASS: self._pass,
            JOIN: self._join,
        }
        for task in workload.tasks:
            if task.settings.get("instance", 1):
                delay = task.delay * 1000
                heapq.heappush(self._ready, (delay, task.id))
        self.ns = 0
        while self._ready:
            time, task_id = heapq.heappop(self._ready)
            self._go(time, task_id)

    def times(self, task_id: int) -> list[int]:
        """Return when each step of a task began, ns; shorter where it never came to its end."""
        return self._all[task_id].times

    def wake_of(self, task_id: int, step: int) -> tuple[int, int] | None:
        """Return who ended a wait, for a wake or a message, and when; None where nobody did."""
        going = self._all[task_id]
        return (going.wakers[step], going.ended[step]) if step in going.wakers else None

    def ended(self, task_id: int, step: int) -> int | None:
        """Return when a step at which a task may wait was over; None where it never was."""
        return self._all[task_id].ended.get(step)

    def steps(self, task_id: int) -> Sequence[tuple[str, int]]:
        """Return the steps of a task; those of an item follow the step that took it."""
        return self._all[task_id].steps

    def taken(self, task_id: int, step: int) -> int:
        """Return the item that a step took; 0: none."""
        return self._all[task_id].took.get(step, 0)

    def stuck(self) -> Iterator[tuple[int, str]]:
        """Yield tasks that wait for ever, and the word at which they do."""
        for task_id, task in self._all.items():
            if task.times and task.at < len(task.steps):
                yield task_id, join_words([task.steps[task.at]])

    def unstarted(self) -> Iterator[int]:
        """Yield tasks that no other task starts."""
        return (task_id for task_id, task in self._all.items() if not task.times and task.steps)

    def frozen(self) -> RecordedWorkload:
        """Return the workload with each item's work in the task that took it."""

        def step(letter: str, number: int) -> tuple[str, int]:
            return (WAKE, self._taker[number]) if letter == PUT else (letter, number)

        tasks = [
            replace(
                task,
                words=join_words(
                    (WAIT, 0) if letter == SERVE else step(letter, number)
                    for at, (letter, number) in enumerate(self._all[task.id].steps)
                    if letter != SERVE or at in self._all[task.id].ended
                ),
            )
            for task in self._workload.tasks
        ]
        return replace(self._workload, tasks=tasks, items=())

    def _go(self, time: int, task_id: int) -> None:
        """Advance by one step, so that steps of all tasks come in the order of time."""
        task = self._all[task_id]
        task.time = max(task.time, time)
        self.ns = max(self.ns, task.time)
        if task.at == len(task.steps):
            self._ended.setdefault(task_id, task.time)
            for waiting in self._joiners.pop(task_id, ()):
                heapq.heappush(self._ready, (task.time, waiting))
            return
        letter, number = task.steps[task.at]
        if len(task.times) == task.at:
            task.times.append(task.time)
        if letter == WAIT:
            if not task.wakes:
                task.waits = True
                return
            when, waker = task.wakes.popleft()
            task.wakers[task.at] = waker
            task.time = max(task.time, when)
            task.ended[task.at] = task.time
        elif letter in self._waits_at:
            if not self._waits_at[letter](number, task, task_id):
                return
        elif letter == OPEN:
            self._open(number, task.time, task_id)
        elif letter == UNLOCK:
            self._unlock(number, task.time, task_id)
        elif letter == PUT:
            self._put(number, task.time)
        elif letter == WAKE:
            self._wake(number, task.time, task_id)
        elif letter == SEND:
            if not self._send(self._messages[number - 1], task, task_id):
                return
        elif letter == RECEIVE:
            if not self._receive(self._messages[number - 1], task, task_id):
                return
        elif letter == START and number in self._all:
            heapq.heappush(self._ready, (task.time, number))
        elif letter == GRID:
            task.next = (task.next or task.time) + number
            task.next += max(0, task.time - task.next) // number * number
            task.time = task.ended[task.at] = max(task.time, task.next + task.slack)
        elif letter == ARRIVAL:
            task.time = max(task.time, number + task.slack)
        elif letter in (SLEEP, DEVICE):
            task.time += number + task.slack
        elif not letter:
            task.time += number
        task.at += 1
        heapq.heappush(self._ready, (task.time, task_id))

    def _lock(self, number: int, task: _Going, task_id: int) -> bool:
        lock = self._locks.setdefault(number, _Lock())
        if lock.holder is not None:
            lock.waiting.append(task_id)
            return False
        lock.holder = task_id
        task.ended[task.at] = task.time
        return True

    def _unlock(self, number: int, time: int, task_id: int) -> None:
        lock = self._locks.setdefault(number, _Lock())
        if lock.holder != task_id:
            return
        lock.holder = None
        if lock.waiting:
            heapq.heappush(self._ready, (time, lock.waiting.popleft()))

    def _arrive(self, number: int, task: _Going, task_id: int) -> bool:
        """Meet the others; the last one lets all go on."""
        arrived = self._arrived.setdefault(number, [])
        if len(arrived) + 1 < self._sizes[number - 1]:
            arrived.append(task_id)
            return False
        task.ended[task.at] = task.time
        for other in arrived:
            going = self._all[other]
            going.time = going.ended[going.at] = task.time
            going.at += 1
            heapq.heappush(self._ready, (task.time, other))
        arrived.clear()
        return True

    def _pass(self, number: int, task: _Going, task_id: int) -> bool:
        gate = self._gates.setdefault(number, _Gate())
        if gate.opener is None:
            gate.waiting.append(task_id)
            return False
        task.wakers[task.at] = gate.opener
        task.ended[task.at] = task.time
        return True

    def _join(self, number: int, task: _Going, task_id: int) -> bool:
        if number not in self._ended:
            self._joiners.setdefault(number, []).append(task_id)
            return False
        task.wakers[task.at] = number
        task.ended[task.at] = task.time
        return True

    def _open(self, number: int, time: int, task_id: int) -> None:
        gate = self._gates.setdefault(number, _Gate())
        gate.opener = task_id
        for waiting in gate.waiting:
            heapq.heappush(self._ready, (time, waiting))
        gate.waiting.clear()

    def _put(self, item: int, time: int) -> None:
        pool = self._pools[self._workload.items[item - 1].pool]
        pool.items.append(item)
        if pool.waiting:
            heapq.heappush(self._ready, (time, pool.waiting.popleft()))

    def _serve(self, number: int, task: _Going, task_id: int) -> bool:
        """Take an item, whose words follow; False: there is none yet."""
        pool = self._pools[number]
        if not pool.left:
            return True
        if not pool.items:
            pool.waiting.append(task_id)
            return False
        item = pool.items.popleft()
        pool.left -= 1
        self._taker[item] = task_id
        task.took[task.at] = item
        task.ended[task.at] = task.time
        words = list(self._workload.item_steps(item))
        task.steps[task.at + 1 : task.at + 1] = [*words, (SERVE, number)]
        if not pool.left:
            for waiting in pool.waiting:
                heapq.heappush(self._ready, (task.time, waiting))
            pool.waiting.clear()
        return True

    def _send(self, message: Message, task: _Going, sender: int) -> bool:
        """Send a message; False: there is no room for all of it yet."""
        channel = self._channels.setdefault(message.channel, _Channel())
        if not task.sends:
            channel.bytes += message.bytes
            channel.time, channel.sender = task.time, sender
            for receiver in channel.receivers:
                heapq.heappush(self._ready, (task.time, receiver))
            channel.receivers.clear()
        task.sends = channel.bytes > _ROOM[message.kind]
        if task.sends:
            channel.senders.append(sender)
        return not task.sends

    def _receive(self, message: Message, task: _Going, task_id: int) -> bool:
        """Receive a message; False: it is not there yet."""
        channel = self._channels.setdefault(message.channel, _Channel())
        if channel.bytes < message.bytes:
            channel.receivers.append(task_id)
            return False
        channel.bytes -= message.bytes
        for sender in channel.senders:
            heapq.heappush(self._ready, (task.time, sender))
        channel.senders.clear()
        task.wakers[task.at] = channel.sender
        task.ended[task.at] = task.time
        return True

    def _wake(self, number: int, time: int, waker: int) -> None:
        other = self._all.get(number)
        if not other:
            return
        other.wakes.append((time, waker))
        if other.waits:
            other.waits = False
            heapq.heappush(self._ready, (time, number))


def other_length(recorded: RecordedWorkload, drawn: RecordedWorkload) -> str:
    """Return a note if drawn times make a workload clearly longer or shorter; else nothing."""
    before, after = (IdealRun(each).ns for each in (recorded, drawn))
    if abs(after - before) <= _CLEARLY * before:
        return ""
    return (
        f"Summarised, with a CPU for each task it takes {after / 1e9:.3g} s, as recorded"
        f" {before / 1e9:.3g} s: each time is drawn from its distribution, so that the long pieces"
        " are in other places. Do not compare its time with that of the recording."
    )
