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
    YIELD,
    Message,
    RecordedTask,
    RecordedWorkload,
)

TASK, PROCESS, FORK = "task", "process", "fork"
"""The classes of what a thread and a process cost from start to end, and of starting a process."""
_ALONE = {SEND: "m alone", RECEIVE: "r alone"}
"""Of calls with a descriptor, by the only thread of a process: those of several count their use."""
_CLASS = {WAIT: WAIT, WAKE: WAKE, START: START, SEND: SEND, RECEIVE: RECEIVE, YIELD: YIELD}
_CLASS[JOIN] = JOIN
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
_STARTS, _ENDS, _TALKS = (19, 20), range(21, 29), range(29, 33)
"""The tasks of the probe that start processes; those that the first one starts, which end soon, and
those of the second one."""
_CLASSES = (
    *(TASK, PROCESS, FORK, WAIT, WAKE, START, JOIN, SLEEP, SEND, RECEIVE, YIELD),
    *_ALONE.values(),
)


def probe() -> RecordedWorkload:
    """Return a workload of known words: all calls of a replay, in different numbers."""
    rounds = " ".join
    tasks = [
        _task(1, rounds([f"{_WORK} s{_PAUSE} +{child}" for child in range(2, _ENDS[0])])),
        _task(2, rounds([f"{_WORK} >3 {_WORK} w"] * _ROUNDS), instance=0),
        _task(3, rounds([f"w {_WORK} >2"] * _ROUNDS), instance=0),
        _task(4, rounds([f"{_WORK} s{_PAUSE} >5 >6 >7"] * _ROUNDS), instance=0),
        *(_task(i, rounds([f"w {_WORK}"] * _ROUNDS), instance=0) for i in (5, 6, 7)),
        *(_task(i, rounds([f"{_WORK} s{_PAUSE}"] * _ROUNDS), instance=0) for i in (8, 9)),
        *(_task(i, str(_WORK), instance=0) for i in range(10, 14)),
        *_talking(14, 1),
        *_talking(_TALKS[0], 4, alone=True),
        _task(18, rounds([f"{_WORK} y"] * _ROUNDS), instance=0),
        _task(
            _STARTS[0], rounds([f"{_WORK} s{_PAUSE} +{n} {_WORK} j{n}" for n in _ENDS]), instance=0
        ),
        _task(_STARTS[1], rounds([f"{_WORK} s{_PAUSE} +{n}" for n in _TALKS]), instance=0),
        *(_task(i, str(_WORK), instance=0, process=i) for i in _ENDS),
    ]
    messages = [Message("pipe", channel, 1) for channel in range(1, 7)]
    return RecordedWorkload(tasks, {"source": "probe", "notes": []}, messages)


def _talking(first: int, channel: int, alone: bool = False) -> Iterator[RecordedTask]:
    """Yield four tasks that send and receive, from a number and over three channels on."""
    rounds = " ".join
    words = (
        f"{_WORK} m{channel} {_WORK} r{channel + 1}",
        f"r{channel} {_WORK} m{channel + 1}",
        f"{_WORK} s{_PAUSE} m{channel + 2}",
        f"r{channel + 2} {_WORK}",
    )
    for at, own in enumerate(words, first):
        process = {"process": at} if alone else {}
        yield _task(at, rounds([own] * _ROUNDS), instance=0, **process)


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
    forks: Container[int] = (),
    alone: bool = False,
) -> Iterator[tuple[str, int]]:
    """Yield steps with the cost of each call, and what came before, taken off the work after.

    Items that are `silent` were put without a call in the recording; tasks that are among the
    `forks` are started as processes; the one whose steps these are may be `alone` in its process.
    """
    for letter, number in steps:
        if letter:
            if letter != PUT or number not in silent:
                debt += costs.get(_class_of(letter, number, forks, alone), 0.0)
            yield letter, number
            continue
        left = max(0, int(number - debt))
        debt = max(0.0, debt - number)
        if left:
            yield letter, left


def _class_of(letter: str, number: int, forks: Container[int], alone: bool) -> str:
    if letter == START and number in forks:
        return FORK
    return _ALONE.get(letter, _CLASS[letter]) if alone else _CLASS[letter]


def _task(number: int, words: str, **settings: int) -> RecordedTask:
    return RecordedTask(number, f"probe{number}", words, settings)


def _work(task: RecordedTask) -> int:
    return sum(number for letter, number in task.steps() if not letter)


def _counts(task: RecordedTask) -> list[int]:
    counts = dict.fromkeys(_CLASSES, 0)
    alone = bool(task.process)
    counts[PROCESS if alone else TASK] = 1
    for letter, number in task.steps():
        if letter:
            counts[_class_of(letter, number, (*_ENDS, *_TALKS), alone)] += 1
    return list(counts.values())
