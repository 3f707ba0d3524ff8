"""Locks that are taken within each other, in orders that can make tasks wait for ever."""

from collections.abc import Iterable, Mapping

from schedlab.lab.recording.workload import LOCK, UNLOCK, RecordedWorkload


def in_circles(inside: Mapping[int, Iterable[int]]) -> set[int]:
    """Return the locks that are taken within each other, or within themselves.

    Args:
        inside: for each lock, those that are taken while it is held.
    """
    found = set()
    for start in inside:
        seen: set[int] = set()
        open_ = list(inside[start])
        while open_:
            lock = open_.pop()
            if lock not in seen:
                seen.add(lock)
                open_ += inside.get(lock, ())
        if start in seen:
            found.add(start)
    return found


def crossed_locks(made: RecordedWorkload) -> set[int]:
    """Return the locks in circles, of the steps of all tasks and items."""
    inside: dict[int, set[int]] = {}
    for _, steps in made.named_steps(LOCK):
        held: list[int] = []
        for letter, number in steps:
            if letter == LOCK:
                for outer in held:
                    inside.setdefault(outer, set()).add(number)
                held.append(number)
            elif letter == UNLOCK and number in held:
                held.remove(number)
    return in_circles(inside)


def wrong_releases(made: RecordedWorkload) -> list[str]:
    """Return where a lock is given back that is not held: tasks and items, with the word."""
    found = []
    for where, steps in made.named_steps(LOCK, UNLOCK):
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
