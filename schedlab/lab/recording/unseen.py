"""What calls that a program did not have to make hide from a trace, and how much time it concerns.

A lock that is free is taken, and an item is put while nobody waits for one, without a call.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from schedlab.base.words import plural
from schedlab.lab.recording.events import Numbers, Stop
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import LOCK, UNLOCK

_LEAST = 0.01
"""Of the time of a pool, the part from which on it is told that none of its tasks slept."""
_STEP = re.compile(rf"(?<![^ ])({LOCK}|{UNLOCK}|)(\d+)")


def about_locks(number: int, words: Iterable[str], whole: int) -> str:
    """Return a sentence on the work of tasks that take locks, or nothing where there is none.

    Args:
        number: how many locks there are.
        words: those of each task and item.
        whole: ns of work of the recording.
    """
    under = outside = 0
    for text in words:
        held, work = 0, [0, 0]
        takes = False
        for letter, amount in _STEP.findall(text):
            if letter:
                takes = True
                held = max(held + (1 if letter == LOCK else -1), 0)
            else:
                work[held > 0] += int(amount)
        if takes:
            outside, under = outside + work[0], under + work[1]
    part = 100 * outside / max(whole, 1)
    one = number == 1
    return (
        f"{plural(number, 'lock')} {'is' if one else 'are'} replayed where somebody waited for"
        f" {'it' if one else 'them'}. Most takes that found a lock free leave no call in a trace:"
        " what tasks did under it then may run at the same time in the replay, which may be done"
        f" too early. Of what the tasks that take {'this lock' if one else 'these locks'}"
        f" worked, {under / 1e9:.3g} s are seen to be under one; of the other"
        f" {outside / 1e9:.3g} s, {part:.0f} % of all work, any part may have been."
    )


def about_pools(work: Worked, waits: Waits, taken: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield a sentence for each pool whose tasks were all awake for a while.

    Args:
        work: the trace.
        waits: all waits.
        taken: those for items, each with the number of its pool.
    """
    every = np.array(taken, np.int64).reshape(-1, 2)
    for pool in np.unique(every[:, 1]).tolist():
        own = every[every[:, 1] == pool, 0]
        first, last = int(waits.ended[own].min()), int(waits.ended[own].max())
        asleep = _asleep(work, waits, own, first, last)
        awake = (last - first - asleep) / max(last - first, 1)
        if awake >= _LEAST:
            yield (
                f"For {100 * awake:.0f} % of the {(last - first) / 1e9:.3g} s between the first and"
                f" the last item of pool {pool}, none of its tasks slept. An item that was put then"
                " woke nobody and left no call in the trace, so it is part of the item before it:"
                f" the {len(own):,} items may be more, each of less work, and a replay cannot give"
                " them to other tasks."
            )


def _asleep(work: Worked, waits: Waits, own: Numbers, first: int, last: int) -> int:
    """Return for how many ns of a time some of a pool's tasks slept for an item."""
    began, ended = waits.began[own], waits.ended[own]
    blocks = work.blocks
    for task in np.unique(waits.task[own]).tolist():
        block = int(np.searchsorted(blocks.task, task, "right")) - 1
        if blocks.stop[block] == int(Stop.SLEEP):
            began, ended = np.append(began, blocks.until[block]), np.append(ended, last)
    began, ended = np.clip(began, first, last), np.clip(ended, first, last)
    order = np.argsort(began, kind="stable")
    began, ended = began[order], np.maximum.accumulate(ended[order])
    before = np.insert(ended[:-1], 0, first)
    return int(np.maximum(ended - np.maximum(began, before), 0).sum())
