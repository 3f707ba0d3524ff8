"""A recorded workload at a glance."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schedlab.benchmarks.replay import EDITS
from schedlab.lab.recording.causes import CAUSES
from schedlab.lab.recording.editing import RATE_OF_1
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.lock_order import crossed_locks, wrong_releases
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
    SLEEP,
    WAIT,
    WAKE,
    YIELD,
    RecordedWorkload,
)

_MOST_GROUPS = 30
_MOST_STUCK = 5
_COLUMNS: Mapping[str, Sequence[str]] = {
    "waits": (WAIT, PASS, BARRIER, JOIN),
    "wakes": (WAKE, OPEN, PUT),
    "messages": (SEND, RECEIVE),
    "locks": (LOCK,),
    "yields": (YIELD,),
    "timed": (SLEEP, GRID, ARRIVAL, DEVICE),
}
_COLUMN_OF = {letter: at for at, letters in enumerate(_COLUMNS.values(), 2) for letter in letters}
"""Of each word, behind the number of tasks and their work."""


def describe(workload: RecordedWorkload) -> Iterator[str]:
    """Yield lines on where it comes from, what it does, and what it does not hold."""
    about = workload.recorded
    run = IdealRun(workload)
    groups: dict[str, list[int]] = {}
    for task in workload.tasks:
        row = groups.setdefault(group_of(task.name), [0] * (2 + len(_COLUMNS)))
        row[0] += 1
        _count(task.steps(), row)
    for number, item in enumerate(workload.items, 1):
        row = groups.setdefault(f"items of pool {item.pool}", [0] * (2 + len(_COLUMNS)))
        row[0] += 1
        _count(workload.item_steps(number), row)
    work = sum(row[1] for row in groups.values())
    yield f"from {about.get('source', 'somewhere')}, {about.get('seconds', 0):g} s recorded"
    for key in EDITS:
        if key in about:
            yield f"{key}: {about[key]}"
    yield f"{len(workload.tasks)} tasks, {work / 1e9:g} s of work; with a CPU for each task it"
    stuck = list(run.stuck())
    if stuck:
        yield f"stops after {run.ns / 1e9:g} s, as tasks wait for ever (below)"
    else:
        yield f"takes {run.ns / 1e9:g} s"
    yield ""
    columns = " ".join(f"{head:>9}" for head in _COLUMNS)
    yield f"{'tasks':24} {'number':>7} {'work (ms)':>11} {columns}"
    largest = sorted(groups.items(), key=lambda item: -item[1][1])
    for name, (number, ns, *counts) in largest[:_MOST_GROUPS]:
        columns = " ".join(f"{count:9}" for count in counts)
        yield f"{name:24} {number:7} {ns / 1e6:11.3f} {columns}"
    if len(largest) > _MOST_GROUPS:
        yield f"and {len(largest) - _MOST_GROUPS} more"
    causes = about.get("waits")
    if isinstance(causes, dict) and causes:
        yield ""
        head = "what waits were for"
        faster = not str(about.get("scaled", RATE_OF_1)).endswith(RATE_OF_1)
        head += "; times before it was scaled" if faster else ""
        yield f"{head:58} {'number':>9} {'of time':>8}"
        for cause, found in causes.items():
            words = CAUSES.get(cause, cause)
            yield f"{words:58} {found['count']:9} {100 * found['share_of_time']:7.1f}%"
    yield from _counted(about.get("counted"))
    yield from _endless(workload, run, stuck)
    for note in about.get("notes", []):
        yield f"note: {note}"


def _endless(
    workload: RecordedWorkload, run: IdealRun, stuck: Sequence[tuple[int, str]]
) -> Iterator[str]:
    """Yield what makes a run not end, or not begin, and what may."""
    keys = {task.id: task.key for task in workload.tasks}
    for task_id, word in stuck[:_MOST_STUCK]:
        yield f"note: {keys[task_id]} waits for ever at its word '{word}': a run will not end"
    if len(stuck) > _MOST_STUCK:
        yield f"note: so do {len(stuck) - _MOST_STUCK} more tasks"
    if not stuck and (never := list(run.unstarted())):
        more = f" and {len(never) - 1} more tasks" if len(never) > 1 else ""
        yield f"note: {keys[never[0]]}{more}: no task starts them, so their work is not done"
    if wrong := wrong_releases(workload):
        more = f", and {len(wrong) - 1} more tasks or items do" if len(wrong) > 1 else ""
        yield (
            f"note: {wrong[0]} gives back a lock that it does not hold then{more}: another one may"
            " take it meanwhile"
        )
    if crossed := sorted(crossed_locks(workload)):
        yield (
            f"note: locks {', '.join(map(str, crossed[:_MOST_STUCK]))} are taken while another of"
            " them is held, in different orders: tasks that come at the same time wait for each"
            " other for ever, so that a run may not end"
        )


def _counted(counted: Any) -> Iterator[str]:
    """Yield the table of what was counted of each group of tasks where it was recorded."""
    if not isinstance(counted, dict) or not counted:
        return
    yield ""
    yield (
        f"{'counted where it was recorded':30} {'instructions (M)':>17} {'a second (M)':>13}"
        f" {'a cycle':>8}  slower, by them"
    )
    largest = sorted(counted.items(), key=lambda item: -item[1]["instructions"])
    for name, found in largest[:_MOST_GROUPS]:
        number, cycles = found["instructions"], found.get("cycles")
        rate = number / found["seconds"] / 1e6 if found["seconds"] else 0.0
        each = f"{number / cycles:8.2f}" if cycles else f"{'-':>8}"
        slower = found.get("slower")
        words = ", ".join(map(_slower, slower)) if isinstance(slower, list) else ""
        yield f"{name:30} {number / 1e6:17,.1f} {rate:13,.0f} {each}  {words}".rstrip()


def _slower(found: Any) -> str:
    about = found if isinstance(found, dict) else {}
    busy = about.get("busy_siblings")
    beside = f" beside {busy}" if busy else ""
    return f"{about.get('part')} on CPUs of speed {about.get('speed')}{beside}"


def _count(steps: Iterator[tuple[str, int]], row: list[int]) -> None:
    """Add the work and the words of each column to a row, after its number of tasks."""
    for letter, number in steps:
        if not letter:
            row[1] += number
        elif letter in _COLUMN_OF:
            row[_COLUMN_OF[letter]] += 1


def group_of(name: str) -> str:
    """Return what tasks that differ by numbers alone are called together."""
    return re.sub(r"\d+", "*", name)
