"""What a replay may not decide anew, because its tasks could then wait for ever."""

from collections.abc import Sequence

import numpy as np

from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.lock_order import in_circles
from schedlab.lab.recording.objects import Left, Shared, Steps
from schedlab.lab.recording.workload import (
    BARRIER,
    GRID,
    JOIN,
    LOCK,
    PASS,
    RECEIVE,
    SEND,
    TAKE,
    UNLOCK,
    WAIT,
)

_STAYS = frozenset(map(ord, (WAIT, PASS, RECEIVE, GRID, BARRIER, JOIN)))
"""Words that belong to one task, so that no item has them."""
_WAITS = frozenset(map(ord, (WAIT, PASS, RECEIVE, SEND, BARRIER, TAKE, JOIN)))
"""Words at which a task may wait for another one that waits for a lock it holds."""


def unsafe(steps: Steps, shared: Shared, left: Left) -> Left:
    """Return the futexes and servers that are none after all, because tasks could wait for ever.

    A task must not wait for another one while it holds a lock, locks within locks are taken in one
    order, and the work of a pool's item must not belong to one task. The steps are sorted. Of locks
    in several orders that calls do not show, the holds are first kept apart, if they are not yet.
    """
    bad = _unsafe_pools(steps, shared)
    inside: dict[int, set[int]] = {}
    seen: dict[int, set[int]] = {}
    held_over: set[int] = set()
    own = np.isin(steps.task, np.unique(steps.task[steps.letter == ord(LOCK)]))
    columns = (steps.task[own], steps.place[own], steps.letter[own], steps.amount[own])
    before = -1
    held: dict[int, bool] = {}
    for task, place, letter, amount in zip(*(c.tolist() for c in columns), strict=True):
        if task != before:
            before, held = task, {}
        if letter == ord(LOCK):
            shown = (task, place) not in shared.guessed
            for outer, outer_shown in held.items():
                inside.setdefault(outer, set()).add(amount)
                if shown and outer_shown:
                    seen.setdefault(outer, set()).add(amount)
            held[amount] = shown
        elif letter == ord(UNLOCK):
            held.pop(amount, None)
        elif held and letter in _WAITS:
            held_over.update(held)
    words = shared.objects.locks
    crossed = in_circles(inside)
    apart = frozenset(words[lock - 1] for lock in crossed - in_circles(seen) - held_over)
    stay = frozenset(words[lock - 1] for lock in held_over | crossed) - (apart - left.apart)
    return bad.and_more(Left(words=stay, apart=apart - left.apart))


def _unsafe_pools(steps: Steps, shared: Shared) -> Left:
    """Return the pools whose items belong to their tasks."""
    takes = steps.letter == ord(TAKE)
    own = np.isin(steps.task, np.unique(steps.task[takes]))
    columns = (steps.task[own], steps.letter[own], steps.amount[own])
    alone = range(
        len(shared.objects.pools) + 1, len(shared.objects.pools) + len(shared.servers) + 1
    )
    last = _last_takes(columns[0], columns[1])
    bad: set[int] = set()
    before = -1
    pool = 0
    held: list[int] = []
    for at, (task, letter, amount) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if task != before:
            before, pool, held = task, 0, []
        if letter == ord(LOCK):
            held.append(amount)
        elif letter == ord(UNLOCK) and amount in held:
            held.remove(amount)
        elif letter == ord(TAKE):
            another = shared.pool_of[amount]
            if held or pool not in (0, another):
                bad |= {pool, another}
            pool = another
        elif (letter in _STAYS or letter == ord(UNLOCK)) and pool:
            if pool in alone and at > last[task]:
                pool = 0  # what a server does once all are served
            else:
                bad.add(pool)
    words = shared.objects.pools
    fed = {words[number - 1] for number in bad if 0 < number <= len(words)}
    fed |= {word for word, of in shared.objects.second.items() if of in fed}
    serving = (shared.servers[number - len(words) - 1] for number in bad if number > len(words))
    return Left(frozenset(fed), frozenset(serving))


def _last_takes(task: Numbers, letter: Numbers) -> dict[int, int]:
    """Return for each task which of all steps takes its last item."""
    takes = np.flatnonzero(letter == ord(TAKE))
    return dict(zip(task[takes].tolist(), takes.tolist(), strict=True))


def split_items(
    words: Sequence[tuple[str, int]],
) -> tuple[list[tuple[str, int]], dict[int, list[tuple[str, int]]], list[tuple[str, int]]]:
    """Return a task's own words, those of each item that it took, and its own after all items.

    These begin with the first word that belongs to one task: as of a server that joins others.
    """
    own: list[tuple[str, int]] = []
    after: list[tuple[str, int]] = []
    items: dict[int, list[tuple[str, int]]] = {}
    part = own
    for letter, number in words:
        if letter == TAKE:
            part = items.setdefault(number, [])
            continue
        if part is not own and ord(letter or "\0") in _STAYS:
            part = after
        part.append((letter, number))
    return own, items, after
