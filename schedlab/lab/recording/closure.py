"""What a replay's own calls cost, so that a recording's work does not hold them twice.

The time a recorded task is on a CPU holds its system calls. A replay pays for its own again: to
wait, to wake, to sleep, to start a thread. A workload that is known word by word, replayed and
recorded on the same system, shows what each of them costs there: the work that is inferred less
the work that was asked for.
"""

from collections.abc import Container, Iterable, Iterator, Mapping

import numpy as np

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
    YIELD,
    Message,
    RecordedTask,
    RecordedWorkload,
)

TASK = "task"
"""The class of what a thread costs from its start to its end."""
_CLASS = {WAIT: WAIT, WAKE: WAKE, START: START, SEND: SEND, RECEIVE: RECEIVE, YIELD: YIELD}
_CLASS |= dict.fromkeys((SLEEP, GRID, ARRIVAL, DEVICE), SLEEP)
_CLASS |= {
    OPEN: WAKE,
    PASS: WAIT,
    PUT: WAKE,
    SERVE: WAIT,
    BARRIER: YIELD,
    LOCK: YIELD,
    UNLOCK: YIELD,
}
"""The time within calls is known, as yield()'s; so entering and leaving are all that is left."""
_WORK = 30_000
_ROUNDS = 100
_PAUSE = 200_000
_CLASSES = (TASK, WAIT, WAKE, START, SLEEP, SEND, RECEIVE, YIELD)


def probe() -> RecordedWorkload:
    """Return a workload of known words: all calls of a replay, in different numbers."""
    rounds = " ".join
    tasks = [
        _task(1, rounds([f"{_WORK} s{_PAUSE} +{child}" for child in range(2, 19)])),
        _task(2, rounds([f"{_WORK} >3 {_WORK} w"] * _ROUNDS), instance=0),
        _task(3, rounds([f"w {_WORK} >2"] * _ROUNDS), instance=0),
        _task(4, rounds([f"{_WORK} s{_PAUSE} >5 >6 >7"] * _ROUNDS), instance=0),
        *(_task(i, rounds([f"w {_WORK}"] * _ROUNDS), instance=0) for i in (5, 6, 7)),
        *(_task(i, rounds([f"{_WORK} s{_PAUSE}"] * _ROUNDS), instance=0) for i in (8, 9)),
        *(_task(i, str(_WORK), instance=0) for i in range(10, 14)),
        _task(14, rounds([f"{_WORK} m1 {_WORK} r2"] * _ROUNDS), instance=0),
        _task(15, rounds([f"r1 {_WORK} m2"] * _ROUNDS), instance=0),
        _task(16, rounds([f"{_WORK} s{_PAUSE} m3"] * _ROUNDS), instance=0),
        _task(17, rounds([f"r3 {_WORK}"] * _ROUNDS), instance=0),
        _task(18, rounds([f"{_WORK} y"] * _ROUNDS), instance=0),
    ]
    messages = [Message("pipe", channel, 1) for channel in (1, 2, 3)]
    return RecordedWorkload(tasks, {"source": "probe", "notes": []}, messages)


def word_costs(recorded: RecordedWorkload) -> dict[str, float]:
    """Return ns of each class of words, from a recording of the probe's replay.

    Tasks that are not the probe's are passed over.
    """
    asked = {task.key: task for task in probe().tasks}
    """A replay's threads are called as its tasks are, with their numbers."""
    rows, extra = [], []
    for task in recorded.tasks:
        if task.name in asked:
            rows.append(_counts(asked[task.name]))
            extra.append(_work(task) - _work(asked[task.name]))
    if len(rows) < len(asked):
        return {}
    solved, *_ = np.linalg.lstsq(np.array(rows, float), np.array(extra, float), rcond=None)
    return {name: max(0.0, float(ns)) for name, ns in zip(_CLASSES, solved, strict=True)}


def without_costs(
    steps: Iterable[tuple[str, int]],
    costs: Mapping[str, float],
    debt: float,
    silent: Container[int] = (),
) -> Iterator[tuple[str, int]]:
    """Yield steps with the cost of each call, and what came before, taken off the work after.

    Items that are `silent` were put without a call in the recording.
    """
    for letter, number in steps:
        if letter:
            if letter != PUT or number not in silent:
                debt += costs.get(_CLASS[letter], 0.0)
            yield letter, number
            continue
        left = max(0, int(number - debt))
        debt = max(0.0, debt - number)
        if left:
            yield letter, left


def _task(number: int, words: str, **settings: int) -> RecordedTask:
    return RecordedTask(number, f"probe{number}", words, settings)


def _work(task: RecordedTask) -> int:
    return sum(number for letter, number in task.steps() if not letter)


def _counts(task: RecordedTask) -> list[int]:
    counts = dict.fromkeys(_CLASSES, 0)
    counts[TASK] = 1
    for letter, _ in task.steps():
        if letter:
            counts[_CLASS[letter]] += 1
    return list(counts.values())
