"""Changing a recorded workload: part of its time, some of its tasks, more clients, two in one."""

import heapq
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial

from schedlab.base.errors import UsageError
from schedlab.lab.recording.workload import (
    ARRIVAL,
    BARRIER,
    DEVICE,
    GRID,
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
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
    closed,
    join_words,
)

MOST_TASKS = 10_000


@dataclass
class _Going:
    """A task on a machine with a CPU for everybody."""

    steps: list[tuple[str, int]]
    """Those of items stand after the step that took them."""
    at: int = 0
    time: int = 0
    next: int = 0
    wakes: deque[tuple[int, int]] = field(default_factory=deque)
    """The time and the waker of those that came and were not waited for yet."""
    waits: bool = False
    times: list[int] = field(default_factory=list)
    """When each step began."""
    wakers: dict[int, int] = field(default_factory=dict)
    """Of each wait that ended: who ended it."""
    ended: dict[int, int] = field(default_factory=dict)
    """Of each wait: when it was over."""


@dataclass
class _Lock:
    holder: int | None = None
    waiting: list[int] = field(default_factory=list)


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


@dataclass
class _Channel:
    """One direction of a pipe or connection, which is never full."""

    bytes: int = 0
    time: int = 0
    """When the last message was sent."""
    sender: int = 0
    receivers: list[int] = field(default_factory=list)
    """Tasks that wait for more."""


class IdealRun:
    """The workload as it would go with a CPU for every task: no task ever waits for a CPU."""

    def __init__(self, workload: RecordedWorkload) -> None:
        self._all = {task.id: _Going(list(task.steps())) for task in workload.tasks}
        self._ready: list[tuple[int, int]] = []
        self._messages = workload.messages
        self._channels: dict[int, _Channel] = {}
        self._locks: dict[int, _Lock] = {}
        self._sizes = workload.barriers
        self._arrived: dict[int, list[int]] = {}
        self._workload = workload
        pools = [item.pool for item in workload.items]
        self._pools = {pool: _Pool(pools.count(pool)) for pool in set(pools)}
        self._taker: dict[int, int] = {}
        """Of each item: the task that took it."""
        self._gates: dict[int, _Gate] = {}
        self._waits_at = {
            LOCK: self._lock,
            BARRIER: self._arrive,
            SERVE: self._serve,
            PASS: self._pass,
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

    def stuck(self) -> Iterator[tuple[int, str]]:
        """Yield tasks that wait for ever, and the word at which they do."""
        for task_id, task in self._all.items():
            if task.times and task.at < len(task.steps):
                yield task_id, join_words([task.steps[task.at]])

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
            self._send(self._messages[number - 1], task.time, task_id)
        elif letter == RECEIVE:
            if not self._receive(self._messages[number - 1], task, task_id):
                return
        elif letter == START and number in self._all:
            heapq.heappush(self._ready, (task.time, number))
        elif letter == GRID:
            task.next = (task.next or task.time) + number
            task.next += max(0, task.time - task.next) // number * number
            task.time = max(task.time, task.next)
        elif letter == ARRIVAL:
            task.time = max(task.time, number)
        elif letter in ("", SLEEP, DEVICE):
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
        for waiting in lock.waiting:
            heapq.heappush(self._ready, (time, waiting))
        lock.waiting.clear()

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
        task.ended[task.at] = task.time
        words = list(self._workload.item_steps(item))
        task.steps[task.at + 1 : task.at + 1] = [*words, (SERVE, number)]
        if not pool.left:
            for waiting in pool.waiting:
                heapq.heappush(self._ready, (task.time, waiting))
            pool.waiting.clear()
        return True

    def _send(self, message: Message, time: int, sender: int) -> None:
        channel = self._channels.setdefault(message.channel, _Channel())
        channel.bytes += message.bytes
        channel.time, channel.sender = time, sender
        for receiver in channel.receivers:
            heapq.heappush(self._ready, (time, receiver))
        channel.receivers.clear()

    def _receive(self, message: Message, task: _Going, task_id: int) -> bool:
        """Receive a message; False: it is not there yet."""
        channel = self._channels.setdefault(message.channel, _Channel())
        if channel.bytes < message.bytes:
            channel.receivers.append(task_id)
            return False
        channel.bytes -= message.bytes
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


def trim(
    workload: RecordedWorkload, seconds: float | None, patterns: Sequence[str]
) -> RecordedWorkload:
    """Return the beginning of a workload, or some of its tasks.

    The cut is at one moment of the ideal run, so that no task waits for what was cut off. What a
    task that goes had woken arrives from outside at that moment. Items of pools stay with the tasks
    that take them in the ideal run.

    Raises:
        UsageError: no task is left.
    """
    run = IdealRun(workload)
    if workload.items:
        workload = run.frozen()
        run = IdealRun(workload)
    kept = {
        task.id: task
        for task in workload.tasks
        if not patterns or any(fnmatch(task.name, pattern) for pattern in patterns)
    }
    limit = run.ns + 1 if seconds is None else int(seconds * 1e9)
    cut = _cut_channels(workload, kept)

    def is_cut(message: int) -> bool:
        return workload.messages[message - 1].channel in cut

    tasks = []
    for task in kept.values():
        steps = []
        for at, ((letter, number), time) in enumerate(
            zip(task.steps(), run.times(task.id), strict=False)
        ):
            if time >= limit:
                break
            step: tuple[str, int] | None = (letter, number)
            if letter == "":
                step = (letter, min(number, limit - time))
            elif letter in (WAKE, START) and number not in kept:
                step = None
            elif letter in (WAIT, PASS, RECEIVE):
                wake = run.wake_of(task.id, at)
                if not wake or wake[1] >= limit:
                    break
                if is_cut(number) if letter == RECEIVE else wake[0] not in kept:
                    step = (ARRIVAL, wake[1])
            elif letter == SEND and is_cut(number):
                step = None
            elif letter in (LOCK, BARRIER) and (run.ended(task.id, at) or 0) >= limit:
                break
            if step:
                steps.append(step)
        cut_off = replace(task, words=join_words(closed(steps)))
        tasks.append(_started(cut_off, workload, kept, run))
    if not any(task.words for task in tasks):
        names = sorted({task.name for task in workload.tasks})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        raise UsageError(f"no task is left. The recording has: {shown}")
    recorded = {**workload.recorded, "trimmed": _words(seconds, patterns)}
    return replace(workload, tasks=tasks, recorded=recorded, barriers=_sizes(workload, tasks))


def _sizes(workload: RecordedWorkload, tasks: Sequence[RecordedTask]) -> list[int]:
    """Return for how many tasks each barrier is now."""
    sizes = [0] * len(workload.barriers)
    for task in tasks:
        for number in {number for letter, number in task.steps() if letter == BARRIER}:
            sizes[number - 1] += 1
    return [max(size, 1) for size in sizes]


def _cut_channels(workload: RecordedWorkload, kept: Container[int]) -> set[int]:
    """Return the channels that a task which goes sends to or receives from."""
    return {
        workload.messages[number - 1].channel
        for task in workload.tasks
        if task.id not in kept
        for letter, number in task.steps()
        if letter in (SEND, RECEIVE)
    }


def _words(seconds: float | None, patterns: Sequence[str]) -> str:
    parts = [f"first {seconds:g} s"] if seconds is not None else []
    return ", ".join([*parts, *([f"tasks {' '.join(patterns)}"] if patterns else [])])


def _started(
    task: RecordedTask,
    workload: RecordedWorkload,
    kept: dict[int, RecordedTask],
    run: IdealRun,
) -> RecordedTask:
    """Start a task by itself if the task that started it is gone."""
    if task.settings.get("instance", 1):
        return task
    starters = (
        other.id in kept
        for other in workload.tasks
        for letter, number in other.steps()
        if letter == START and number == task.id
    )
    if next(starters, False):
        return task
    begins = (run.times(task.id) or [0])[0]
    settings = {key: value for key, value in task.settings.items() if key != "instance"}
    return replace(task, settings={**settings, "delay": begins // 1000})


def scale(workload: RecordedWorkload, clients: int, rate: float) -> RecordedWorkload:
    """Return so many copies of all tasks, side by side; what comes by time comes faster by `rate`.

    Raises:
        UsageError: there would be too many tasks.
    """
    if clients * len(workload.tasks) > MOST_TASKS:
        raise UsageError(
            f"{clients} times {len(workload.tasks)} tasks are more than {MOST_TASKS:,}."
        )
    fast = workload.edited(_faster(rate)) if rate != 1 else workload
    fast = replace(fast, tasks=[_begun_faster(task, rate) for task in fast.tasks])
    recorded = {**workload.recorded, "scaled": f"clients x{clients}, rate x{rate:g}"}
    return replace(_side_by_side([fast] * clients), recorded=recorded)


def _faster(rate: float) -> Callable[[str, int], tuple[str, int]]:
    def edit(letter: str, number: int) -> tuple[str, int]:
        timed = letter in (SLEEP, GRID, ARRIVAL)
        return letter, max(1, round(number / rate)) if timed else number

    return edit


def _begun_faster(task: RecordedTask, rate: float) -> RecordedTask:
    """Return a task that comes earlier, if it came from outside at a time."""
    if not task.delay:
        return task
    return replace(task, settings={**task.settings, "delay": round(task.delay / rate)})


def _side_by_side(workloads: Sequence[RecordedWorkload]) -> RecordedWorkload:
    """Return all of them, with numbers of their own: they share nothing."""
    tasks: list[RecordedTask] = []
    messages: list[Message] = []
    barriers: list[int] = []
    items: list[Item] = []
    last = dict.fromkeys(("task", "channel", "lock", "gate", "pool"), 0)
    for workload in workloads:
        more = dict.fromkeys((WAKE, START), last["task"])
        more |= dict.fromkeys((LOCK, UNLOCK), last["lock"])
        more |= dict.fromkeys((PASS, OPEN), last["gate"])
        more |= dict.fromkeys((SEND, RECEIVE), len(messages))
        more |= {BARRIER: len(barriers), PUT: len(items), SERVE: last["pool"]}
        moved = workload.edited(partial(_moved, more))
        tasks += [replace(task, id=task.id + last["task"]) for task in moved.tasks]
        messages += [replace(m, channel=m.channel + last["channel"]) for m in moved.messages]
        barriers += moved.barriers
        items += [replace(item, pool=item.pool + last["pool"]) for item in moved.items]
        last["task"] += max((task.id for task in workload.tasks), default=0)
        last["channel"] += max((message.channel for message in workload.messages), default=0)
        last["lock"] += workload.highest(LOCK)
        last["gate"] += workload.highest(PASS, OPEN)
        last["pool"] += max((item.pool for item in workload.items), default=0)
    return RecordedWorkload(tasks, {}, messages, barriers, items)


def _moved(more: Mapping[str, int], letter: str, number: int) -> tuple[str, int]:
    return letter, number + more.get(letter, 0)


def merge(workloads: Sequence[RecordedWorkload]) -> RecordedWorkload:
    """Return all workloads as one, begun together; UsageError if there would be too many tasks."""
    number = sum(len(workload.tasks) for workload in workloads)
    if number > MOST_TASKS:
        raise UsageError(f"together they have {number:,} tasks, more than {MOST_TASKS:,}.")
    sources = [str(workload.recorded.get("source", "")) for workload in workloads]
    seconds = max((float(w.recorded.get("seconds", 0)) for w in workloads), default=0.0)
    notes = [str(note) for w in workloads for note in w.recorded.get("notes", [])]
    recorded = {
        "source": " + ".join(sources),
        "seconds": seconds,
        "notes": list(dict.fromkeys(notes)),
    }
    return replace(_side_by_side(workloads), recorded=recorded)
