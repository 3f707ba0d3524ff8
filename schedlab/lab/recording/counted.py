"""What perf counted from switch to switch, and how much busy siblings slow each group of tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.lab.recording.events import COUNT_LOW_BITS, COUNTERS, Events, Kind, Numbers
from schedlab.lab.recording.pace import Reals
from schedlab.lab.recording.pieces import Pieces, task_key

INSTRUCTIONS, CYCLES = "instructions", "cycles"
_FEWEST = 20
"""Pieces of a group, before rates are taken from them."""
_KNOWN = 0.1
"""How far a rate against another may be off (95 %); else the machine file's figure counts."""
_NEARLY = 0.95


def count_pieces(events: Events, pieces: Pieces) -> dict[str, Numbers]:
    """Return what each counter of the trace counted in each piece; -1 where that is not known.

    perf prints the figures of a CPU's counters behind the switch at which it read them: they are of
    the task that the CPU left. Those of a CPU's first switch count from before the trace.
    """
    counts = events.of(Kind.COUNT)
    switches = events.of(Kind.SWITCH)
    if not len(counts) or not len(switches):
        return {}
    keys = task_key(events.cpu[switches], switches)
    order = np.argsort(keys, kind="stable")
    keys, switches = keys[order], switches[order]
    at = np.searchsorted(keys, task_key(events.cpu[counts], counts), "right") - 1
    switch = switches[np.maximum(at, 0)]
    same = (at >= 0) & (events.cpu[switch] == events.cpu[counts])
    same &= events.ns[switch] == events.ns[counts]
    same &= (at > 0) & (events.cpu[switches[np.maximum(at - 1, 0)]] == events.cpu[counts])
    piece_of = np.full(len(events) + 1, -1)
    piece_of[pieces.end] = np.arange(len(pieces.end))
    piece = piece_of[switch]
    figure = events.two[counts] + (events.three[counts] << COUNT_LOW_BITS)
    found = {}
    for number, name in enumerate(COUNTERS):
        own = same & (piece >= 0) & (events.one[counts] == number)
        if np.any(own):
            found[name] = np.full(len(pieces.task), -1)
            found[name][piece[own]] = figure[own]
    return found


@dataclass(frozen=True)
class Slowdown:
    """How fast tasks of one group are in one situation, against the best one."""

    situation: int
    part: float


def slowdowns(instructions: Numbers, spent: Reals, expected: Sequence[float]) -> list[Slowdown]:
    """Return how much slower tasks were in each situation, by their instructions.

    The rate of each situation is taken over all the time that the tasks spent in it: a single
    piece may have few instructions for other reasons, such as memory, and keeps its time. What is
    not known to within a tenth is left out, and so is all if the best situation's rate is not.

    Args:
        instructions: of each piece.
        spent: the time of each piece in each situation, ns.
        expected: how fast tasks are in each situation, as the machine file says; the fastest is
            what the others are compared with.
    """
    best = int(np.argmax(expected))
    total = spent.sum(axis=1)
    seen = np.flatnonzero(spent.sum(axis=0) > 0)
    used = [c for c in seen.tolist() if np.count_nonzero(2 * spent[:, c] > total) >= _FEWEST]
    if best not in used or len(used) < 2:
        return []
    here = (spent[:, used].sum(axis=1) >= _NEARLY * total) & (total > 0)
    weight = 1 / np.sqrt(total[here])
    times, counts = spent[here][:, used] * weight[:, None], instructions[here] * weight
    squares = times.T @ times
    if np.linalg.matrix_rank(squares) < len(used):
        return []
    rates = np.linalg.solve(squares, times.T @ counts)
    spread = float(((counts - times @ rates) ** 2).sum()) / max(len(counts) - len(used), 1)
    off = 2 * np.sqrt(spread * np.diag(np.linalg.inv(squares)))
    first = used.index(best)
    if rates[first] <= 0 or off[first] > _KNOWN * rates[first]:
        return []
    found = []
    for at, situation in enumerate(used):
        if at != first and rates[at] > 0:
            apart = np.hypot(off[at] / rates[at], off[first] / rates[first])
            if apart <= _KNOWN:
                found.append(Slowdown(situation, min(float(rates[at] / rates[first]), 1.0)))
    return found


def figures(counts: Mapping[str, Numbers], long: Numbers, own: Numbers) -> dict[str, float]:
    """Return what was counted in some pieces, with the seconds that they took."""
    if INSTRUCTIONS not in counts:
        return {}
    known = own[counts[INSTRUCTIONS][own] >= 0]
    found = {"seconds": round(float(long[known].sum()) / 1e9, 9)}
    for name in (INSTRUCTIONS, CYCLES):
        if name in counts:
            found[name] = int(np.maximum(counts[name][known], 0).sum())
    return found
