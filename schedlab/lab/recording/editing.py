"""Changing a recorded workload: more clients, faster ones, two in one."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.benchmarks.replay import EDITS, GIVEN_TIME, given_time_of
from schedlab.lab.recording.workload import (
    ARRIVAL,
    BARRIER,
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
    WAKE,
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
    checked,
)

MOST_TASKS = 10_000
_SCALED = re.compile(r"clients x(\d{1,9}), rate x(\d+(?:\.\d+)?(?:e[+-]?\d\d)?)")
RATE_OF_1 = "rate x1"
"""How what `scaled` says ends, if nothing comes faster."""
_TIMED = (SLEEP, GRID, ARRIVAL)
_SAME = ("kernel", "machine", "cpus", "probe")
"""What a merged workload says of its recordings, where all say the same."""


def scale(workload: RecordedWorkload, clients: int, rate: float) -> RecordedWorkload:
    """Return so many copies of all tasks, side by side; what comes by time comes faster by `rate`.

    Raises:
        UsageError: there would be too many tasks, or times longer than a file may have.
    """
    if clients * len(workload.tasks) > MOST_TASKS:
        raise UsageError(
            f"{clients} times {len(workload.tasks)} tasks are more than {MOST_TASKS:,}."
        )
    if not timed(workload):
        rate = 1.0
    fast = workload.edited(_faster(rate)) if rate != 1 else workload
    fast = replace(fast, tasks=[_begun_faster(task, rate) for task in fast.tasks])
    before = _SCALED.fullmatch(str(workload.recorded.get("scaled", "")))
    clients_in_all = clients * (int(before[1]) if before else 1)
    rate_in_all = rate * (float(before[2]) if before else 1.0)
    scaled = f"clients x{clients_in_all}, rate x{rate_in_all:g}"
    waits = _waits([workload.recorded] * clients)
    recorded = {**workload.recorded, **waits, "scaled": scaled}
    return checked(replace(_side_by_side([fast] * clients), recorded=recorded))


def timed(workload: RecordedWorkload) -> bool:
    """Return whether anything comes by time, which a rate changes."""
    return any(task.delay for task in workload.tasks) or any(
        letter in _TIMED for _, steps in workload.named_steps(*_TIMED) for letter, _ in steps
    )


def _faster(rate: float) -> Callable[[str, int], tuple[str, int]]:
    def edit(letter: str, number: int) -> tuple[str, int]:
        return letter, max(1, round(number / rate)) if letter in _TIMED else number

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
    last = dict.fromkeys(("task", "channel", "lock", "gate", "pool", "process"), 0)
    for workload in workloads:
        more = dict.fromkeys((WAKE, START, JOIN), last["task"])
        more |= dict.fromkeys((LOCK, UNLOCK), last["lock"])
        more |= dict.fromkeys((PASS, OPEN), last["gate"])
        more |= dict.fromkeys((SEND, RECEIVE), len(messages))
        more |= {BARRIER: len(barriers), PUT: len(items), SERVE: last["pool"]}
        moved = workload.edited(partial(_moved, more))
        own = moved.tasks if len(workloads) == 1 else map(_anywhere, moved.tasks)
        tasks += [_renumbered(task, last["task"], last["process"]) for task in own]
        messages += [replace(m, channel=m.channel + last["channel"]) for m in moved.messages]
        barriers += moved.barriers
        items += [replace(item, pool=item.pool + last["pool"]) for item in moved.items]
        last["task"] += max((task.id for task in workload.tasks), default=0)
        last["channel"] += max((message.channel for message in workload.messages), default=0)
        last["lock"] += workload.highest(LOCK)
        last["gate"] += workload.highest(PASS, OPEN)
        last["process"] += max((task.process for task in workload.tasks), default=0)
        last["pool"] += max((item.pool for item in workload.items), default=0)
    return RecordedWorkload(tasks, {}, messages, barriers, items)


def _renumbered(task: RecordedTask, tasks: int, processes: int) -> RecordedTask:
    """Return a task behind so many others, of a process behind so many."""
    settings = dict(task.settings)
    if task.process:
        settings["process"] = task.process + processes
    return replace(task, id=task.id + tasks, settings=settings)


def _anywhere(task: RecordedTask) -> RecordedTask:
    """Return a task without its first CPU: together with others it would share that CPU."""
    return replace(task, settings={k: v for k, v in task.settings.items() if k != "first_cpu"})


def _moved(more: Mapping[str, int], letter: str, number: int) -> tuple[str, int]:
    return letter, number + more.get(letter, 0)


def merge(workloads: Sequence[RecordedWorkload]) -> RecordedWorkload:
    """Return all workloads as one, begun together; UsageError if there would be too many tasks."""
    number = sum(len(workload.tasks) for workload in workloads)
    if number > MOST_TASKS:
        raise UsageError(f"together they have {number:,} tasks, more than {MOST_TASKS:,}.")
    sources = [_source(workload.recorded) for workload in workloads]
    seconds = max((float(w.recorded.get("seconds", 0)) for w in workloads), default=0.0)
    notes = [str(note) for w in workloads for note in w.recorded.get("notes", [])]
    given = list(dict.fromkeys(name for w in workloads for name in given_time_of(w.recorded)))
    recorded = {
        "source": " + ".join(sources),
        "seconds": seconds,
        **_said_by_all([workload.recorded for workload in workloads]),
        **_waits([workload.recorded for workload in workloads]),
        **({GIVEN_TIME: given} if given else {}),
        "notes": list(dict.fromkeys(notes)),
    }
    return replace(_side_by_side(workloads), recorded=recorded)


def _source(recorded: Mapping[str, Any]) -> str:
    """Return where a workload is from, and how it was changed since."""
    edits = [f"{key} {recorded[key]}" for key in EDITS if recorded.get(key)]
    source = str(recorded.get("source", ""))
    return f"{source} ({'; '.join(edits)})" if edits else source


def _said_by_all(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = every[0] if every else {}
    return {
        key: first[key]
        for key in _SAME
        if key in first and all(about.get(key) == first[key] for about in every)
    }


def _waits(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the waits of all together; nothing where one does not say how long they were."""
    if not all(about.get("waits") and "waited" in about for about in every):
        return {}
    whole = sum(float(about["waited"]) for about in every)
    counts: dict[str, int] = {}
    long: dict[str, float] = {}
    for about in every:
        for cause, found in about["waits"].items():
            counts[cause] = counts.get(cause, 0) + found["count"]
            long[cause] = long.get(cause, 0.0) + found["share_of_time"] * about["waited"]
    waits = {
        cause: {"count": counts[cause], "share_of_time": round(long[cause] / (whole or 1), 4)}
        for cause in counts
    }
    return {"waited": round(whole, 9), "waits": waits}
