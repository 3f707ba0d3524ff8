"""Changing a recorded workload: more clients, faster ones, two in one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from schedlab.base.errors import UsageError
from schedlab.lab.recording.workload import (
    ARRIVAL,
    BARRIER,
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
    WAKE,
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
)

MOST_TASKS = 10_000


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
