"""What a run refuses of a workload file (workloads/rt-app-file.c, rt-app-replay-file.c)."""

import re
from collections.abc import Iterator

from schedlab.base.errors import UsageError
from schedlab.lab.recording.workload import (
    LOCK,
    OPEN,
    PASS,
    SERVE,
    UNLOCK,
    WAIT,
    RecordedWorkload,
)

_LONGEST_NAME = 40
_NAME = re.compile(rf"[^/\n]{{1,{_LONGEST_NAME}}}")
_MOST_THREADS = 10_000
_MOST_LOCKS = 1_000_000
_NUMBERED = {LOCK: "locks", UNLOCK: "locks", PASS: "gates", OPEN: "gates"}


def check_runs(made: RecordedWorkload) -> None:
    """Refuse a workload that no run would take.

    Raises:
        UsageError: with the key.
    """
    for task in made.tasks:
        if not _NAME.fullmatch(task.key):
            raise UsageError(
                f"tasks.{task.key}: a task's name has 1 to {_LONGEST_NAME} characters and no /."
            )
    begin = sum(1 for task in made.tasks if task.settings.get("instance", 1))
    if not begin:
        raise UsageError("tasks: no task begins: one that none starts has no instance 0.")
    if begin > _MOST_THREADS:
        raise UsageError(f"tasks: {begin} are more than {_MOST_THREADS}, the most that run.")
    _check_channels(made)
    for where, steps in _named_steps(made):
        for letter, number in steps:
            what = _NUMBERED.get(letter)
            if what and not 1 <= number <= _MOST_LOCKS:
                raise UsageError(
                    f"{where}: '{letter}{number}': {what} have numbers from 1 to {_MOST_LOCKS}."
                )
            if where.startswith("items.") and letter in (WAIT, SERVE):
                raise UsageError(f"{where}: an item belongs to no task, so it has no w and no q.")


def _check_channels(made: RecordedWorkload) -> None:
    kinds: dict[int, str] = {}
    for at, message in enumerate(made.messages, 1):
        if kinds.setdefault(message.channel, message.kind) != message.kind:
            raise UsageError(
                f"messages.{at}: channel {message.channel} is of another kind in a message before."
            )


def _named_steps(made: RecordedWorkload) -> Iterator[tuple[str, Iterator[tuple[str, int]]]]:
    for task in made.tasks:
        yield f"tasks.{task.key}", task.steps()
    for at in range(1, len(made.items) + 1):
        yield f"items.{at}", made.item_steps(at)


def wrong_releases(made: RecordedWorkload) -> list[str]:
    """Return where a lock is given back that is not held: tasks and items, with the word."""
    found = []
    for where, steps in _named_steps(made):
        held: set[int] = set()
        for letter, number in steps:
            if letter == LOCK:
                held.add(number)
            elif letter == UNLOCK and number not in held:
                found.append(f"{where}: {letter}{number}")
                break
            elif letter == UNLOCK:
                held.discard(number)
    return found
