"""What calls that a program did not have to make hide from a trace, and how much time it concerns.

A lock that is free is taken, and an item is put while nobody waits for one, without a call.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np

from schedlab.base.words import plural
from schedlab.lab.recording.events import Numbers, Stop
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import LOCK, UNLOCK

_LEAST = 0.01
"""Of the time of a pool, the part from which on it is told that none of its tasks slept."""
_SELDOM = 20_000_000
"""ns of work for each wait, from which on a task hardly waits."""
_ALIKE = 2 / 3
"""Of the most that one task of a pool worked, what others do at least."""
_NOTABLE = 0.1
"""Of all work, the part from which on tasks are named that may take items."""
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


def about_rare(rare: int, waits: int) -> Iterator[str]:
    """Yield a sentence on waits for locks that are mostly free, which are handed over as recorded.

    Args:
        rare: how many of them there are.
        waits: all waits for locks.
    """
    if rare:
        yield (
            f"{rare:,} of {plural(waits, 'wait')} for locks {'is' if rare == 1 else 'are'} ended in"
            " the recorded order by the tasks that ended them, as those locks were free most of the"
            " time. On more CPUs than were recorded tasks would find them free more often: such a"
            " replay may take too long, too."
        )


def about_hidden_pools(work: Worked, waits: Waits, process: Sequence[int]) -> Iterator[str]:
    """Yield a sentence for tasks that may take items of a queue which never ran empty.

    They are alike in name and work, and hardly wait, while another task of their process works.

    Args:
        work: the trace.
        waits: all waits.
        process: of each task, its process.
    """
    pieces, size = work.pieces, len(work.taken)
    worked = np.bincount(pieces.task, work.spent, size)
    hardly = worked >= _SELDOM * np.bincount(waits.task, minlength=size)
    groups: dict[tuple[int, Hashable], list[int]] = {}
    for task, like in enumerate(work.likes()):
        if work.taken[task]:
            groups.setdefault((process[task], like), []).append(task)
    for (of_process, _), group in groups.items():
        most = max(worked[group])
        pool = [task for task in group if worked[task] >= _ALIKE * most > 0]
        of_all = worked[pool].sum() / max(worked.sum(), 1)
        if len(pool) < 2 or of_all < _NOTABLE or not all(hardly[pool]):
            continue
        own = np.isin(pieces.task, pool)
        first, last = int(pieces.since[own].min()), int(pieces.until[own].max())
        others = [
            task
            for task in range(size)
            if work.taken[task] and process[task] == of_process and task not in pool
        ]
        beside = np.isin(pieces.task, others) & (pieces.since > first) & (pieces.until < last)
        if work.spent[beside].sum() < _LEAST * worked[pool].sum():
            continue
        seconds = (last - first) / 1e9
        yield (
            f"{len(pool)} tasks of one name ({work.names[pool[0]]}) did up to {most / 1e9:.3g} s of"
            " work each and hardly waited, while another task of their process worked. If they take"
            f" items of a queue that it fills, none of these left a call for {seconds:.3g} s, as"
            " nobody slept: a replay cannot give items to other tasks, and each task does as much"
            " as it did."
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
