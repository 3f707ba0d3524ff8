"""What the scheduler did in a trace: waiting, wakeups, who wakes whom, moves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from schedlab.base.cpulist import parse_cpulist
from schedlab.lab.recording.choice import Choice, chosen_tasks
from schedlab.lab.recording.counted import CYCLES, INSTRUCTIONS, count_pieces, figures
from schedlab.lab.recording.events import Context, Events, Flags, Kind, Numbers, Stop
from schedlab.lab.recording.families import settings_of
from schedlab.lab.recording.interrupts import TIMER_VECTORS, Interrupts
from schedlab.lab.recording.lacking import lacking
from schedlab.lab.recording.pieces import Pieces, find_pieces, task_key
from schedlab.lab.recording.repair import with_missing_switches
from schedlab.lab.recording.showing import group_of

_PERCENTILES = (50, 90, 99, 99.9)


@dataclass(frozen=True)
class GroupTime:
    """Where the time of tasks of one name went, ns."""

    name: str
    tasks: int
    running: int
    waiting: int
    """For a CPU."""
    waiting_idle: int
    """The part of it while some CPU was idle that the task may use, as far as that is known."""
    asleep: int
    uninterruptible: int
    wakeups: int
    moves: int
    counted: Mapping[str, float] = field(default_factory=dict)
    """`instructions` and `cycles`, with the `seconds` they were counted in; empty: none were."""

    @property
    def counted_words(self) -> tuple[str, str, str]:
        """Return millions of instructions a second, instructions a cycle, and the GHz."""
        of = self.counted
        seconds, number, cycles = (of.get(key, 0) for key in ("seconds", INSTRUCTIONS, CYCLES))
        return (
            f"{number / seconds / 1e6:,.0f}" if seconds else "-",
            f"{number / cycles:.2f}" if cycles else "-",
            f"{cycles / seconds / 1e9:.2f}" if seconds and cycles else "-",
        )


@dataclass(frozen=True)
class TraceStats:
    """The figures of one trace."""

    seconds: float
    cpus: int
    busy: float
    """CPUs that ran a task, on average."""
    span: float
    """Seconds from the first moment a chosen task ran to the last."""
    switches: int
    """To chosen tasks."""
    latency: dict[str, float]
    """us from wake to CPU: mean, percentiles, max."""
    groups: Sequence[GroupTime]
    wakes: Sequence[tuple[str, str, int]]
    """Who wakes whom, and how often, the most first."""
    moves: dict[str, int]
    """Changes of CPU by distance."""
    notes: Sequence[str]

    @property
    def counted(self) -> bool:
        """Return whether instructions were counted."""
        return any(group.counted for group in self.groups)


def trace_stats(
    events: Events, choice: Choice, distance: Callable[[int, int], str] = lambda _a, _b: "other CPU"
) -> TraceStats:
    """Return what a trace shows of the chosen tasks."""
    events = with_missing_switches(events)
    pieces = find_pieces(events)
    names = [name for name, _ in pieces.lives.known(events)]
    group_names = sorted({group_of(name) for name in names})
    group = np.array([group_names.index(group_of(name)) for name in names], np.int64)
    taken = chosen_tasks(events, pieces.lives, choice)
    same = pieces.task[1:] == pieces.task[:-1]
    gaps = np.flatnonzero(same)
    woken, waker = _wakings(events, pieces, gaps)
    stop = pieces.stop[gaps]
    since, back = pieces.until[gaps], pieces.since[gaps + 1]
    asleep = stop > int(Stop.PREEMPTED)
    ready = np.where(asleep, np.where(woken >= 0, events.ns[np.maximum(woken, 0)], back), since)
    ready = np.clip(ready, since, back)
    moved = pieces.cpu[gaps] != pieces.cpu[gaps + 1]
    latency = (back - ready)[asleep & (woken >= 0) & taken[pieces.task[gaps]]]
    of_gap = group[pieces.task[gaps]]

    def summed(values: Numbers, where: Numbers) -> Numbers:
        return np.bincount(where, values, len(group_names)).astype(np.int64)

    disk = stop == int(Stop.UNINTERRUPTIBLE)
    waiting = summed(back - ready, of_gap)
    idle = _idle_of_allowed(events, pieces, pieces.task[gaps], ready, back)
    while_idle = summed(idle, of_gap)
    sleeping = summed(np.where(asleep & ~disk, ready - since, 0), of_gap)
    blocked = summed(np.where(disk, ready - since, 0), of_gap)
    running = summed(pieces.until - pieces.since, group[pieces.task])
    wakeups = summed((asleep & (woken >= 0)).astype(np.int64), of_gap)
    moves = summed(moved.astype(np.int64), of_gap)
    tasks = np.bincount(group[taken], minlength=len(group_names))
    counts = count_pieces(events, pieces)
    long, of_piece = pieces.until - pieces.since, group[pieces.task]
    counted = [
        figures(counts, long, np.flatnonzero(of_piece == i)) if counts else {}
        for i in range(len(group_names))
    ]
    columns = np.stack(
        [tasks, running, waiting, while_idle, sleeping, blocked, wakeups, moves], axis=1
    ).tolist()
    groups = [
        replace(GroupTime(name, *columns[i]), counted=counted[i])
        for i, name in enumerate(group_names)
        if tasks[i]
    ]
    span = max(int(events.ns[-1] - events.ns[0]), 1)
    own = taken[pieces.task]
    lived = int(pieces.until[own].max() - pieces.since[own].min()) if np.any(own) else 0
    return TraceStats(
        seconds=span / 1e9,
        cpus=int(events.cpu.max()) + 1,
        busy=float((pieces.until - pieces.since).sum()) / span,
        span=lived / 1e9,
        switches=int(np.count_nonzero(own)),
        latency=_latency(latency),
        groups=sorted(groups, key=lambda g: -(g.running + g.waiting)),
        wakes=_who(waker, pieces.task[gaps], pieces, group, group_names, taken),
        moves=_distances(pieces.cpu[gaps][moved], pieces.cpu[gaps + 1][moved], distance),
        notes=[*events.notes, *lacking(events, pieces.lost, Interrupts(events).known)],
    )


def _wakings(events: Events, pieces: Pieces, gaps: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each gap the place of the wake (-1: none), and the task that woke (-1: none)."""
    wakings = events.of(Kind.WAKING)
    keys = task_key(pieces.lives.task(events.one[wakings], wakings), wakings)
    order = np.argsort(keys, kind="stable")
    keys, wakings = keys[order], wakings[order]
    none = np.full(len(gaps), -1)
    if not len(keys):
        return none, none
    at = np.searchsorted(keys, task_key(pieces.task[gaps], pieces.begin[gaps + 1]), "left") - 1
    low = task_key(pieces.task[gaps], pieces.begin[gaps])
    seen = (at >= 0) & (keys[np.maximum(at, 0)] >= low)
    place = np.where(seen, wakings[np.maximum(at, 0)], -1)
    there = np.maximum(place, 0)
    waker = pieces.lives.task(events.current[there], there)
    context, vector, _ = Interrupts(events).at(there)
    by_timer = (context == Context.SOFTIRQ) & np.isin(vector, np.array(TIMER_VECTORS))
    by_task = seen & (events.current[there] > 0) & (context != Context.INTERRUPT) & ~by_timer
    return place, np.where(by_task, waker, -1)


def _idle_of_allowed(
    events: Events, pieces: Pieces, task: Numbers, since: Numbers, until: Numbers
) -> Numbers:
    """Return how much of each interval of a task a CPU was idle on which it may run."""
    settings = settings_of(events, pieces.lives)
    lists = [own.cpus if own else "" for own in settings]
    known = {text: number for number, text in enumerate(dict.fromkeys(lists))}
    of_task = np.array([known[text] for text in lists], np.int64)[task]
    found = np.zeros(len(task), np.int64)
    for text, number in known.items():
        here = np.flatnonzero(of_task == number)
        if len(here):
            idle = _IdleTime(events, parse_cpulist(text) if text else None)
            found[here] = idle.between(since[here], until[here])
    return found


class _IdleTime:
    """How long at least one CPU was idle, up to any moment."""

    def __init__(self, events: Events, cpus: Sequence[int] | None) -> None:
        """Look at some CPUs, or at all that the trace shows."""
        switch = events.of(Kind.SWITCH)
        if cpus is not None:
            switch = switch[np.isin(events.cpu[switch], np.array(cpus, np.int64))]
        change = (events.two[switch] == 0).astype(np.int64) - (events.one[switch] == 0)
        at = events.ns[switch]
        order = np.argsort(at, kind="stable")
        _, first = np.unique(events.cpu[switch], return_index=True)
        idle = int(np.count_nonzero(events.one[switch[first]] == 0))
        count = idle + np.concatenate([[0], np.cumsum(change[order])])
        self._at = np.concatenate([events.ns[:1], at[order]])
        long = np.diff(self._at, append=self._at[-1:])
        spent = np.where(count > 0, long, 0)
        self._before = np.concatenate([[0], np.cumsum(spent)[:-1]])

    def between(self, since: Numbers, until: Numbers) -> Numbers:
        """Return how much of each interval it was."""
        found: Numbers = (
            np.interp(until, self._at, self._before) - np.interp(since, self._at, self._before)
        ).astype(np.int64)
        return found


def _latency(ns: Numbers) -> dict[str, float]:
    if not len(ns):
        return {}
    figures = {"mean": float(ns.mean()) / 1e3}
    for percent in _PERCENTILES:
        figures[f"p{percent:g}"] = float(np.percentile(ns, percent)) / 1e3
    return {**figures, "max": float(ns.max()) / 1e3}


def _who(
    waker: Numbers,
    task: Numbers,
    pieces: Pieces,
    group: Numbers,
    names: Sequence[str],
    taken: Flags,
) -> list[tuple[str, str, int]]:
    by = np.where(waker >= 0, group[np.maximum(waker, 0)] if len(group) else -1, -1)
    counted = taken[task] & (waker >= 0)
    pairs, counts = np.unique(
        np.stack([by[counted], group[task[counted]]]), axis=1, return_counts=True
    )
    found = [(names[a], names[b], int(n)) for a, b, n in zip(*pairs.tolist(), counts, strict=True)]
    return sorted(found, key=lambda row: -row[2])


def _distances(
    before: Numbers, after: Numbers, distance: Callable[[int, int], str]
) -> dict[str, int]:
    moves: dict[str, int] = {}
    pairs, counts = np.unique(np.stack([before, after]), axis=1, return_counts=True)
    for a, b, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
        name = distance(a, b)
        moves[name] = moves.get(name, 0) + count
    return moves


def describe_stats(stats: TraceStats, most: int = 20) -> Iterator[str]:
    """Yield the lines of a table for a terminal."""
    yield (
        f"{stats.seconds:g} s, {stats.cpus} CPUs, {stats.busy:.2f} busy on average"
        if stats.seconds
        else "nothing"
    )
    if stats.latency:
        figures = ", ".join(f"{name} {us:,.1f}" for name, us in stats.latency.items())
        yield f"from wake to CPU (us): {figures}"
    yield ""
    yield (
        f"{'time of tasks (ms)':22} {'tasks':>6} {'running':>11} {'waiting':>11} {'CPUs idle':>11}"
        f" {'asleep':>11} {'disk':>9} {'wakeups':>9} {'moves':>8}"
        + (f" {'M instr./s':>11} {'a cycle':>8} {'GHz':>6}" if stats.counted else "")
    )
    for g in stats.groups[:most]:
        times = (g.running, g.waiting, g.waiting_idle, g.asleep)
        columns = " ".join(f"{ns / 1e6:11.3f}" for ns in times)
        yield (
            f"{g.name:22} {g.tasks:6} {columns} {g.uninterruptible / 1e6:9.3f} {g.wakeups:9}"
            f" {g.moves:8}"
            + ("{:>12} {:>8} {:>6}".format(*g.counted_words) if stats.counted else "")
        )
    if stats.wakes:
        yield ""
        yield f"{'who wakes':22} {'whom':22} {'times':>9}"
        for who, whom, wakes in stats.wakes[:most]:
            yield f"{who:22} {whom:22} {wakes:9}"
    if stats.moves:
        yield ""
        total = ", ".join(f"{name} {count:,}" for name, count in sorted(stats.moves.items()))
        yield f"changes of CPU: {total}"
    for note in stats.notes:
        yield f"note: {note}"
