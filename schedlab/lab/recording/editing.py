"""Changing a recorded workload: part of its time, some of its tasks, more clients, two in one."""

import heapq
from collections import deque
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch

from schedlab.base.errors import UsageError
from schedlab.lab.recording.workload import (
    ARRIVAL,
    DEVICE,
    GRID,
    RECEIVE,
    SEND,
    SLEEP,
    START,
    WAIT,
    WAKE,
    Message,
    RecordedTask,
    RecordedWorkload,
)

MOST_TASKS = 10_000


@dataclass
class _Going:
    """A task on a machine with a CPU for everybody."""

    steps: Sequence[tuple[str, int]]
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
        for task in workload.tasks:
            if task.settings.get("instance", 1):
                delay = int(task.settings.get("delay", 0)) * 1000
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

    def _go(self, time: int, task_id: int) -> None:
        """Advance by one step, so that steps of all tasks come in the order of time."""
        task = self._all[task_id]
        task.time = max(task.time, time)
        if task.at == len(task.steps):
            self.ns = max(self.ns, task.time)
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
    task that goes had woken arrives from outside at that moment.

    Raises:
        UsageError: no task is left.
    """
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
            elif letter in (WAIT, RECEIVE):
                wake = run.wake_of(task.id, at)
                if not wake or wake[1] >= limit:
                    break
                if wake[0] not in kept if letter == WAIT else is_cut(number):
                    step = (ARRIVAL, wake[1])
            elif letter == SEND and is_cut(number):
                step = None
            if step:
                steps.append(step)
        tasks.append(_started(_with(task, steps), workload, kept, run))
    if not any(task.words for task in tasks):
        names = sorted({task.name for task in workload.tasks})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        raise UsageError(f"no task is left. The recording has: {shown}")
    recorded = {**workload.recorded, "trimmed": _words(seconds, patterns)}
    return RecordedWorkload(tasks, recorded, workload.messages)


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


def _with(task: RecordedTask, steps: list[tuple[str, int]]) -> RecordedTask:
    left = iter(steps)
    return task.edited(lambda _letter, _number: next(left, None))


def scale(workload: RecordedWorkload, clients: int, rate: float) -> RecordedWorkload:
    """Return so many copies of all tasks, side by side; what comes by time comes faster by `rate`.

    Raises:
        UsageError: there would be too many tasks.
    """
    if clients * len(workload.tasks) > MOST_TASKS:
        raise UsageError(
            f"{clients} times {len(workload.tasks)} tasks are more than {MOST_TASKS:,}."
        )
    fast = replace(workload, tasks=[_faster(task, rate) for task in workload.tasks])
    recorded = {**workload.recorded, "scaled": f"clients x{clients}, rate x{rate:g}"}
    return replace(_side_by_side([fast] * clients), recorded=recorded)


def _faster(task: RecordedTask, rate: float) -> RecordedTask:
    def edit(letter: str, number: int) -> tuple[str, int]:
        timed = letter in (SLEEP, GRID, ARRIVAL)
        return letter, max(1, round(number / rate)) if timed else number

    return task if rate == 1 else task.edited(edit)


def _side_by_side(workloads: Sequence[RecordedWorkload]) -> RecordedWorkload:
    """Return all tasks and messages, with numbers of their own: they share nothing."""
    tasks: list[RecordedTask] = []
    messages: list[Message] = []
    for workload in workloads:
        by = max((task.id for task in tasks), default=0)
        tasks.extend(_moved(task, by, len(messages)) for task in workload.tasks)
        channels = max((message.channel for message in messages), default=0)
        messages.extend(
            replace(message, channel=message.channel + channels) for message in workload.messages
        )
    return RecordedWorkload(tasks, {}, messages)


def _moved(task: RecordedTask, by: int, messages: int) -> RecordedTask:
    def edit(letter: str, number: int) -> tuple[str, int]:
        if letter in (SEND, RECEIVE):
            return letter, number + messages
        return letter, number + by if letter in (WAKE, START) else number

    return replace(task.edited(edit), id=task.id + by) if by or messages else task


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
