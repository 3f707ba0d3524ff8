"""Switches that a trace lacks: each line names the task that ran, so others show that they were.

A line by another task than the one that its CPU went to last shows that a switch is missing between
it and the CPU's line before. When it was is not seen: between those two lines, not before the task
was woken or seen to run elsewhere, and not after the one that left was woken. It is taken to be as
early as that from an idle CPU, from a task whose last line begins a call in which it slept, and
where it was preempted by a task that was woken; after the time that the task which left runs in the
middle, if nothing is seen of it but that it came; and otherwise as late as that.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schedlab.lab.recording.events import Events, Flags, Kind, Numbers, Stop
from schedlab.lab.recording.pieces import Pieces, find_pieces, task_key

_NEITHER = (Kind.COUNT, Kind.FREQUENCY)
"""Kinds whose lines do not tell who runs: counters are printed around a switch."""
_BEGIN = (Kind.FUTEX_WAIT, Kind.FUTEX_WAKE, Kind.CALL, Kind.SEND, Kind.RECEIVE)
"""Kinds of lines that begin a call in which a task may sleep."""
_ODD = 0.02
"""Of the switches, the part whose line may name another task than the switch leaves: more do where
the lines have other process numbers, as within a container, and then nothing is repaired."""


def with_missing_switches(events: Events) -> Events:
    """Return a trace with the switches that it lacks, and a note that counts them."""
    switches = events.of(Kind.SWITCH)
    odd = events.current[switches] != events.one[switches]
    if not len(switches) or np.count_nonzero(odd) > _ODD * len(switches):
        return events
    gaps = _find_gaps(events)
    if not len(gaps.line):
        return events
    missing = _place(events, gaps)
    notes = [
        *events.notes,
        f"{len(gaps.line):,} switches were lost, as lines by other tasks than the one that their"
        " CPU went to last show. They were put in, at a likely moment between two lines.",
    ]
    return replace(_merged(events, missing), notes=notes)


@dataclass
class _Gaps:
    """Where a CPU's line is by another task than the one that ran after its line before."""

    before: Numbers
    """Places of the lines before."""
    line: Numbers
    left: Numbers
    """The task that ran after the line before."""
    task: Numbers
    """The one of the line."""


def _find_gaps(events: Events) -> _Gaps:
    place = np.flatnonzero(~np.isin(events.kind, np.array(_NEITHER, np.int8)))
    cpu = events.cpu[place]
    small = cpu.astype(np.uint16) if int(cpu.max(initial=0)) < 1 << 16 else cpu
    order = np.argsort(small, kind="stable")
    place, cpu = place[order], cpu[order]
    switch = events.kind[place] == Kind.SWITCH
    ran = np.where(switch, events.one[place], events.current[place])
    runs = np.where(switch, events.two[place], ran)
    same = cpu[1:] == cpu[:-1]
    gap = same & (runs[:-1] != ran[1:])
    # The last line of a task that a switch leaves may come after it.
    tail = gap[:-1] & switch[:-2] & ~switch[1:-1] & (events.one[place[:-2]] == ran[1:-1])
    tail &= same[1:] & (ran[2:] == runs[:-2])
    gap[:-1] &= ~tail
    gap[1:] &= ~tail
    at = np.flatnonzero(gap)
    return _Gaps(place[at], place[at + 1], runs[at], ran[at + 1])


def _place(events: Events, gaps: _Gaps) -> "_Missing":
    """Return when the missing switches were, and why the tasks that they leave stopped."""
    shown = np.isin(events.current, np.concatenate([gaps.task, gaps.left]))
    shown &= ~np.isin(events.kind, np.array(_NEITHER, np.int8))
    seen = np.flatnonzero(shown)
    seen_keys = np.sort(task_key(events.current[seen], seen))
    waking = events.of(Kind.WAKING)
    wake_keys = np.sort(task_key(events.one[waking], waking))
    pieces = find_pieces(events)
    next_run = _runs_next(events, gaps)
    woken = _first(wake_keys, gaps.left, gaps.before)
    slept = (woken >= 0) & (woken <= next_run) & (gaps.left != 0)
    ended = np.isin(gaps.left, events.one[events.of(Kind.EXIT)]) & (next_run == len(events))
    ended &= ~slept
    quiet = (next_run == len(events)) & (gaps.left != 0) & ~ended
    stop = np.full(len(gaps.line), int(Stop.PREEMPTED))
    stop[slept | quiet] = int(Stop.SLEEP)
    stop[ended] = int(Stop.DEAD)
    wake = _last(wake_keys, gaps.task, gaps.line)
    elsewhere = _last(seen_keys, gaps.task, gaps.line)
    low = np.maximum(gaps.before, np.maximum(wake, elsewhere))
    high = np.where(slept & (woken < gaps.line), np.maximum(woken, gaps.before + 1), gaps.line)
    in_call = np.isin(events.kind[gaps.before], np.array(_BEGIN, np.int8))
    from_idle = (gaps.left == 0) & (wake > gaps.before)
    early = from_idle | ((stop == int(Stop.SLEEP)) & in_call)
    early |= (stop == int(Stop.PREEMPTED)) & (wake > gaps.before) & (gaps.left != 0)
    early &= low < high
    at = np.where(early, low + 1, high)
    ns = np.where(early, events.ns[low], events.ns[high])
    just_came = ~early & (events.kind[gaps.before] == Kind.SWITCH) & (gaps.left != 0)
    for gap in np.flatnonzero(just_came).tolist():
        since, until = int(events.ns[low[gap]]), int(ns[gap])
        moment = int(events.ns[gaps.before[gap]]) + _usual(pieces, int(gaps.left[gap]), until)
        moment = min(max(moment, since), until)
        place = int(np.searchsorted(events.ns, moment, "right"))
        at[gap], ns[gap] = min(max(place, int(low[gap]) + 1), int(high[gap])), moment
    return _Missing(at, ns, events.cpu[gaps.line], gaps.left, gaps.task, stop)


def _usual(pieces: Pieces, pid: int, otherwise: int) -> int:
    """Return how long a task runs at a time, in the middle, ns."""
    own = (pieces.pid == pid) & (pieces.stop >= 0)
    long = (pieces.until - pieces.since)[own]
    return int(np.median(long)) if len(long) else otherwise


@dataclass
class _Missing:
    before: Numbers
    """The place of the event that each comes before."""
    ns: Numbers
    cpu: Numbers
    left: Numbers
    task: Numbers
    stop: Numbers


def _runs_next(events: Events, gaps: _Gaps) -> Numbers:
    """Return where the tasks that were left are seen to run the next time; the length: nowhere."""
    switch = events.of(Kind.SWITCH)
    to = switch[np.isin(events.two[switch], gaps.left)]
    by = np.flatnonzero(
        np.isin(events.current, gaps.left) & ~np.isin(events.kind, np.array(_NEITHER, np.int8))
    )
    keys = np.sort(np.concatenate([task_key(events.two[to], to), task_key(events.current[by], by)]))
    found = _first(keys, gaps.left, gaps.before)
    return np.where(found >= 0, found, len(events))


def _first(keys: Numbers, task: Numbers, place: Numbers) -> Numbers:
    """Return the first place of tasks after places, by sorted keys; -1: there is none."""
    if not len(keys):
        return np.full(len(task), -1)
    at = np.searchsorted(keys, task_key(task, place), "right")
    key = keys[np.minimum(at, len(keys) - 1)]
    there: Flags = (at < len(keys)) & (key < task_key(task + 1, np.zeros_like(task)))
    return np.where(there, key - task_key(task, np.zeros_like(task)), -1)


def _last(keys: Numbers, task: Numbers, place: Numbers) -> Numbers:
    """Return the last place of tasks before places, by sorted keys; -1: there is none."""
    at = np.searchsorted(keys, task_key(task, place), "left") - 1
    key = keys[np.maximum(at, 0)] if len(keys) else np.full(len(task), -1)
    there: Flags = (at >= 0) & (key >= task_key(task, np.zeros_like(task)))
    return np.where(there, key - task_key(task, np.zeros_like(task)), -1)


def _merged(events: Events, missing: _Missing) -> Events:
    """Return the events with the missing ones in their places."""
    order = np.argsort(missing.before, kind="stable")
    at = missing.before[order]
    more = {
        "ns": missing.ns,
        "cpu": missing.cpu,
        "kind": np.full(len(at), int(Kind.SWITCH)),
        "context": np.zeros(len(at), np.int8),
        "current": missing.left,
        "one": missing.left,
        "two": missing.task,
        "three": missing.stop,
    }
    columns: dict[str, Any] = {
        name: np.insert(getattr(events, name), at, values[order]) for name, values in more.items()
    }
    return replace(events, **columns)
