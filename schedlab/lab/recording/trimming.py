"""Part of a recorded workload: its beginning, or some of its tasks."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.base.words import listing, plural
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.workload import (
    ARRIVAL,
    BARRIER,
    DEVICE,
    GRID,
    JOIN,
    LOCK,
    PASS,
    PUT,
    RECEIVE,
    SEND,
    SERVE,
    SLEEP,
    START,
    TAKE,
    WAIT,
    WAKE,
    RecordedTask,
    RecordedWorkload,
    closed,
    join_words,
)

_COUNTS = ("events", "waited", "waits", "objects", "counted")
"""Of the whole recording."""
Steps = list[tuple[str, int]]


def trim(
    workload: RecordedWorkload, seconds: float | None, patterns: Sequence[str]
) -> RecordedWorkload:
    """Return the beginning of a workload, or some of its tasks.

    The cut is at one moment of the ideal run, so that no task waits for what was cut off. What a
    task that goes had woken arrives from outside at that moment. If tasks of a pool go and others
    stay, its items stay with the tasks that take them in the ideal run.

    Raises:
        UsageError: no task is left.
    """
    run = IdealRun(workload)
    kept = {
        task.id: task
        for task in workload.tasks
        if not patterns or any(fnmatch(task.name, pattern) for pattern in patterns)
    }
    if workload.items and not _pools_are_whole(workload, run, kept):
        workload = run.frozen()
        run = IdealRun(workload)
        kept = {task.id: task for task in workload.tasks if task.id in kept}
    limit = run.ns + 1 if seconds is None else int(seconds * 1e9)
    cut = _cut_channels(workload, run, kept)

    def is_cut(message: int) -> bool:
        return workload.messages[message - 1].channel in cut

    found: dict[int, Steps] = {}
    for task in kept:
        steps = found[task] = []
        slack = kept[task].slack
        for at, ((letter, number), time) in enumerate(
            zip(run.steps(task), run.times(task), strict=False)
        ):
            if time >= limit:
                break
            step: tuple[str, int] | None = (letter, number)
            if not letter:
                step = (letter, min(number, limit - time))
            elif letter in (SLEEP, DEVICE):
                step = (letter, min(number, max(limit - time - slack, 0)))
            elif letter == ARRIVAL:
                step = (letter, min(number, max(limit - slack, 0)))
            elif letter == GRID and (run.ended(task, at) or 0) > limit:
                step = (SLEEP, max(limit - time - slack, 0))
            elif letter in (WAKE, START) and number not in kept:
                step = None
            elif letter in (WAIT, PASS, RECEIVE, JOIN):
                wake = run.wake_of(task, at)
                if not wake or wake[1] >= limit:
                    break
                if is_cut(number) if letter == RECEIVE else wake[0] not in kept:
                    step = (ARRIVAL, wake[1])
            elif letter == SEND and is_cut(number):
                step = None
            elif letter in (LOCK, BARRIER, SERVE) and (run.ended(task, at) or 0) >= limit:
                break
            elif letter == SERVE and (item := run.taken(task, at)):
                step = (TAKE, item)
            if step:
                steps.append(step)
    made = _with_items(workload, found)
    tasks = [_started(task, workload, kept, run) for task in made.tasks]
    tasks = [task if task.words else _at_once(task) for task in tasks]
    if not any(task.words for task in tasks):
        names = sorted({task.name for task in workload.tasks})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        raise UsageError(f"no task is left. The recording has: {shown}")
    recorded = _provenance(workload.recorded, seconds, patterns)
    return replace(made, tasks=tasks, recorded=recorded, barriers=_sizes(made))


def kept(whole: RecordedWorkload, made: RecordedWorkload) -> str:
    """Return how much of a workload is left in a trimmed one."""
    tasks, of = (sum(bool(task.words) for task in each.tasks) for each in (made, whole))
    parts = [f"{tasks:,} of {plural(of, 'task')}"]
    if made.items:  # otherwise they may be work of tasks now
        parts.append(f"{len(made.items):,} of {plural(len(whole.items), 'item')}")
    worked, all_of_it = (each.work() / 1e9 for each in (made, whole))
    return listing([*parts, f"{worked:.3g} of {all_of_it:.3g} s of work"])


def _pools_are_whole(
    workload: RecordedWorkload, run: IdealRun, kept: Mapping[int, RecordedTask]
) -> bool:
    """Return whether of each pool all tasks that put and take items are kept, or none of them."""
    users: dict[int, set[bool]] = {}
    for task in workload.tasks:
        for letter, number in run.steps(task.id):
            if letter in (PUT, SERVE):
                pool = workload.items[number - 1].pool if letter == PUT else number
                users.setdefault(pool, set()).add(task.id in kept)
    return all(len(each) == 1 for each in users.values())


def _with_items(workload: RecordedWorkload, found: Mapping[int, Steps]) -> RecordedWorkload:
    """Return the workload with these steps of tasks, in which those of items follow their TAKE."""
    own: dict[int, Steps] = {}
    items: dict[int, Steps] = {}
    for task, steps in found.items():
        part = own[task] = []
        serves: set[int] = set()
        for letter, number in steps:
            if letter == SERVE:
                part = own[task]
            elif letter != TAKE:
                part.append((letter, number))
                continue
            pool = number if letter == SERVE else workload.items[number - 1].pool
            if pool not in serves:
                own[task].append((SERVE, pool))
                serves.add(pool)
            if letter == TAKE:
                part = items[number] = []
    new = {number: at for at, number in enumerate(sorted(items), 1)}
    pools = {workload.items[number - 1].pool for number in items}
    known: Mapping[str, Container[int]] = {PUT: new, SERVE: pools}

    def words(steps: Iterable[tuple[str, int]]) -> str:
        left = (
            (letter, new[number] if letter == PUT else number)
            for letter, number in steps
            if number in known.get(letter, (number,))
        )
        return join_words(closed(left))

    tasks = [
        replace(task, words=words(own[task.id])) for task in workload.tasks if task.id in found
    ]
    kept = [replace(workload.items[number - 1], words=words(items[number])) for number in new]
    return replace(workload, tasks=tasks, items=kept)


def _sizes(workload: RecordedWorkload) -> list[int]:
    """Return for how many tasks each barrier is now."""
    sizes = [0] * len(workload.barriers)
    for task in workload.tasks:
        for number in {number for letter, number in task.steps() if letter == BARRIER}:
            sizes[number - 1] += 1
    return [max(size, 1) for size in sizes]


def _cut_channels(workload: RecordedWorkload, run: IdealRun, kept: Container[int]) -> set[int]:
    """Return the channels that a task which goes sends to or receives from."""
    return {
        workload.messages[number - 1].channel
        for task in workload.tasks
        if task.id not in kept
        for letter, number in run.steps(task.id)
        if letter in (SEND, RECEIVE)
    }


def _provenance(
    recorded: Mapping[str, Any], seconds: float | None, patterns: Sequence[str]
) -> dict[str, Any]:
    """Return where a trimmed workload is from, without counts of what was cut off."""
    earlier = recorded.get("trimmed")
    trimmed = "; ".join([*([str(earlier)] if earlier else []), _words(seconds, patterns)])
    kept = {key: value for key, value in recorded.items() if key not in _COUNTS}
    if seconds is not None:
        kept["seconds"] = min(float(recorded.get("seconds", seconds)), seconds)
    return {**kept, "trimmed": trimmed}


def _words(seconds: float | None, patterns: Sequence[str]) -> str:
    parts = [f"first {seconds:g} s"] if seconds is not None else []
    return ", ".join([*parts, *([f"tasks {' '.join(patterns)}"] if patterns else [])])


def _at_once(task: RecordedTask) -> RecordedTask:
    """Return a task that has nothing to do without the time at which it came."""
    return replace(task, settings={k: v for k, v in task.settings.items() if k != "delay"})


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
        for letter, number in run.steps(other.id)
        if letter == START and number == task.id
    )
    if next(starters, False):
        return task
    begins = (run.times(task.id) or [0])[0]
    settings = {key: value for key, value in task.settings.items() if key != "instance"}
    return replace(task, settings={**settings, "delay": begins // 1000})
