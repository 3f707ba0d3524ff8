"""From a trace to a workload: what each task did between waits, and what each wait was for.

The work of a task is its time on CPUs, preempted pieces merged, interrupts that the trace shows
taken off. Each wait has one cause: a task that woke it, at a point of that task's own work; a
timer; a device; or, where the trace does not show it, nothing that is known.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.words import plural
from schedlab.benchmarks.replay import GIVEN_TIME
from schedlab.lab.recording import closure
from schedlab.lab.recording.causes import (
    ANSWER,
    CAUSES,
    ITEM,
    LOCK_HELD,
    MEETING,
    MESSAGE,
    OUTSIDE,
    TASK,
    TIMER,
)
from schedlab.lab.recording.choice import Choice, left_by_name
from schedlab.lab.recording.closure import without_costs
from schedlab.lab.recording.descriptors import descriptor_notes
from schedlab.lab.recording.endless import split_items, unsafe
from schedlab.lab.recording.events import (
    FUTEX_IS_PRIVATE,
    Events,
    Kind,
    Numbers,
)
from schedlab.lab.recording.families import processes_of, unseen_changes
from schedlab.lab.recording.gates import ONE_CALL
from schedlab.lab.recording.given_time import GivenTime, about_given_time, for_a_given_time
from schedlab.lab.recording.lacking import lacking
from schedlab.lab.recording.objects import Left, Shared, Steps, steps_of
from schedlab.lab.recording.pace import Reals, Speeds
from schedlab.lab.recording.repair import with_missing_switches
from schedlab.lab.recording.services import Row
from schedlab.lab.recording.unseen import about_hidden_pools, about_locks, about_pools, about_rare
from schedlab.lab.recording.waits import Waits, find_waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import (
    ARRIVAL,
    DEVICE,
    GRID,
    JOIN,
    PASS,
    SERVE,
    SLEEP,
    START,
    TIMER_SLACK,
    WAIT,
    WAKE,
    Item,
    RecordedTask,
    RecordedWorkload,
    closed,
    join_words,
)

_NORMAL, _NO_CLAMP = 120, (0, 1024)
"""The priority and the clamps of a task for which none are set."""
_MOST_NAMES = 12
"""In a note."""
_FEWEST_OF_GRID = 8
_FEWEST_TO_COME_BACK = 20
_LEAST_ADDED_UP = 0.87
"""Of errors that do not add up, the spread is .7 of that of the steps between them; of 20 that do,
it is more than this in seven of eight cases, of 50 in all."""
_EXACT = 1e-6
_SAME, _ROUND = 200, (100_000, 10_000, 1_000)
"""ns: a spread that is none, and of what the periods that people write are multiples."""
"""Wakes by a timer, before they are looked at for a period."""


def infer(events: Events, choice: Choice, source: str) -> RecordedWorkload:
    """Return the workload that a trace shows.

    Raises:
        UsageError: the trace does not have what it takes.
    """
    return Inference(events, choice).workload(source)


def call_costs(events: Events, speed: Speeds) -> dict[str, float]:
    """Return what a replay's calls cost, from the trace of the probe's replay."""
    recorded = infer(events, Choice(speed=speed, as_written=True), "probe")
    return closure.word_costs(recorded)


class Inference:
    """What a trace shows, made into a workload."""

    def __init__(self, events: Events, choice: Choice) -> None:
        events = with_missing_switches(events)
        self.work = Worked(events, choice)
        self.events = events
        self.pieces = self.work.pieces
        self.taken = self.work.taken
        self.left = left_by_name(events, self.pieces.lives, choice)
        """Names of tasks that are left out for these alone."""
        self.costs, self.as_written = choice.costs, choice.as_written
        own = self.pieces.since[self.taken[self.pieces.task]]
        self.start = int(own.min(initial=int(events.ns[-1])))
        """When the first chosen task runs: times of the workload count from then."""
        self.process = self._processes()
        self.heirs = self._heirs()
        """Tasks that would have what is set for others of their process, which begin it."""
        self.handed_over = 0
        """Locks that stay hand-overs, as tasks could wait for ever otherwise."""
        self.late = 0
        """Points of grids that passed while their tasks worked or waited for a CPU."""

    def workload(self, source: str) -> RecordedWorkload:
        """Return the workload."""
        waits = find_waits(self.work)
        births = self._births()
        steps, shared = self._shared(waits, births)
        setup = self.events.setup
        seconds = float(self.events.ns[-1] - self.events.ns[0]) / 1e9
        counted = self.work.counted()
        given = for_a_given_time(self.work, waits)
        tasks, items = self._tasks(steps, births, shared)
        words = [*(task.words for task in tasks), *(item.words for item in items)]
        recorded = {
            "source": source,
            "seconds": round(seconds, 9),
            "cpus": self._cpus(),
            "events": len(self.events),
            **({"kernel": setup.kernel} if setup else {}),
            **({"machine": setup.machine.name} if setup and setup.machine else {}),
            "probe": bool(self.costs),
            "waited": round(float(np.maximum(waits.ended - waits.began, 0).sum()) / 1e9, 9),
            "waits": self._causes(waits),
            "objects": shared.numbers(),
            **({"counted": counted} if counted else {}),
            **({GIVEN_TIME: [group.name for group in given]} if given else {}),
            "notes": self._notes(waits, shared, words, given),
        }
        return RecordedWorkload(tasks, recorded, shared.messages, shared.sizes, items)

    def _shared(self, waits: Waits, births: Mapping[int, tuple[int, int]]) -> tuple[Steps, Shared]:
        """Return the steps with all objects that tasks can share without waiting for ever."""
        left = Left()
        locks: set[int] = set()
        cost = None if self.as_written else self.costs.get(WAKE, ONE_CALL)
        cause = waits.cause.copy()
        while True:
            waits.cause[:] = cause
            shared = Shared(self.work, waits, left, cost)
            steps = self._steps(waits, births, shared)
            bad = unsafe(steps.sorted(), shared, left)
            if not bad:
                self.handed_over = len(locks & left.words)
                return steps, shared
            locks.update(shared.objects.locks)
            left = left.and_more(bad)

    def _births(self) -> dict[int, tuple[int, int]]:
        """Return for each chosen task forked in the trace the place, and the forking piece."""
        births = {}
        columns = (self.work.children, self.work.forks, self.work.running(self.work.forks))
        for child, place, by in zip(*(column.tolist() for column in columns), strict=True):
            if child >= 0 and self.taken[child]:
                parent = by >= 0 and bool(self.taken[self.pieces.task[by]])
                births[child] = (place, by if parent else -1)
        return births

    # ------------------------------------------------------------------ steps

    def _steps(self, waits: Waits, births: Mapping[int, tuple[int, int]], shared: Shared) -> Steps:
        order = list(CAUSES)
        by_task = np.flatnonzero(waits.cause == order.index(TASK))
        letters = np.full(len(waits.task), ord(SLEEP))
        amounts = np.maximum(waits.ended - np.maximum(waits.began, self.start), 0)
        realtime = np.array(self.work.priorities) < 100
        slack = np.where(realtime[waits.task], 0, TIMER_SLACK)
        letters[by_task] = ord(WAIT)
        letters[waits.joins] = ord(JOIN)
        outside = waits.cause == order.index(OUTSIDE)
        letters[outside] = ord(ARRIVAL)
        letters[waits.cause == order.index(ANSWER)] = ord(DEVICE)
        amounts = np.where(outside, waits.ended - self.start, amounts)
        amounts = np.maximum(amounts - slack, 0)
        passed = self._find_grids(waits, letters, amounts, shared.servers)
        amounts[by_task] = 0
        amounts[waits.joins] = self.pieces.task[waits.waker[waits.joins]]
        gated = shared.gate > 0
        letters[gated], amounts[gated] = ord(PASS), shared.gate[gated]
        by_task = by_task[~(gated | waits.joins)[by_task]]
        started = [(place, by, child) for child, (place, by) in births.items() if by >= 0]
        place, by, child = (
            (np.array(column, np.int64) for column in zip(*started, strict=True))
            if started
            else (np.zeros(0, np.int64),) * 3
        )
        waker, woken = waits.waker[by_task], waits.waking[by_task]
        anew = [order.index(cause) for cause in (MESSAGE, LOCK_HELD, MEETING, ITEM)]
        kept = ~np.isin(waits.cause, anew)
        calls, more = shared.calls, shared.more
        owner = self.pieces.task
        more = more.and_more(passed)
        task = np.concatenate([more.task, waits.task[kept], owner[waker], owner[by], calls.task])
        at = np.concatenate([more.place, shared.place[kept], woken, place, calls.enter])
        worked = (self.work.offset(waker, woken), self.work.offset(by, place))
        offset = np.concatenate([more.offset, shared.offset[kept], *worked, calls.began])
        words = (letters[kept], np.full(len(waker), ord(WAKE)), np.full(len(by), ord(START)))
        return Steps(
            task=task,
            place=at,
            offset=calls.outside(task, at, offset),
            letter=np.concatenate([more.letter, *words, calls.letter]),
            amount=np.concatenate(
                [more.amount, amounts[kept], waits.task[by_task], child, calls.amount]
            ),
        )

    def _find_grids(
        self, waits: Waits, letters: Numbers, amounts: Numbers, servers: Sequence[int]
    ) -> Steps:
        """Mark the timers that end on a grid in time, not so long after the task's last work.

        Those of servers are part of their items, which may come at other times. Returned are waits
        for the points of grids that passed while a task did not wait for anything else.
        """
        timed = waits.cause == list(CAUSES).index(TIMER)
        timers = np.flatnonzero(timed & ~np.isin(waits.task, np.array(servers, np.int64)))
        tasks, counts = np.unique(waits.task[timers], return_counts=True)
        self.late = 0
        rows: list[Row] = []
        for task in tasks[counts >= _FEWEST_OF_GRID].tolist():
            own = timers[waits.task[timers] == task]
            slept = waits.ended[own] - waits.began[own]
            period = grid_period(waits.ended[own], slept)
            if period:
                missed = np.round(np.diff(waits.ended[own]) / period).astype(np.int64) - 1
                missed[np.diff(own) > 1] = 0
                for at in np.flatnonzero(missed > 0).tolist():
                    late = bool(slept[at + 1] < period)
                    self.late += int(missed[at]) if late else 0
                    rows += self._passed(waits, own[at : at + 2], int(missed[at]), period, late)
                letters[own] = ord(GRID)
                amounts[own] = period
        return steps_of(rows)

    def _passed(
        self, waits: Waits, own: Numbers, number: int, period: int, late: bool
    ) -> Iterator[Row]:
        """Yield waits for the points of a grid that passed between two of a task's waits.

        The task worked, or waited for a CPU, as they passed if it is `late`: it had part of that
        work to do after each. Otherwise it slept.
        """
        task = int(waits.task[own[0]])
        before, after = (int(offset) for offset in waits.offset[own])
        for part in range(1, number + 1):
            if late:
                offset = before + (after - before) * part // (number + 1)
                yield task, self.work.place_of(task, offset), offset, GRID, period
            else:
                yield task, int(waits.place[own[1]]), after, GRID, period

    # ------------------------------------------------------------------ tasks

    def _tasks(
        self, steps: Steps, births: Mapping[int, tuple[int, int]], shared: Shared
    ) -> tuple[list[RecordedTask], list[Item]]:
        chosen = np.flatnonzero(self.taken)
        ids = self._ids()
        steps = steps.sorted()
        low = np.searchsorted(steps.task, chosen, "left")
        high = np.searchsorted(steps.task, chosen, "right")
        total = np.bincount(self.pieces.task, self.work.spent, len(self.taken)).astype(np.int64)
        forked = self._forked(births)
        forks = {ids[task] for task in forked}
        threads = Counter(each for each, own in zip(self.process, self.taken, strict=True) if own)
        calls = shared.calls
        total -= np.bincount(calls.task, calls.long, len(total)).astype(np.int64)
        found = []
        items: dict[int, Item] = {}
        for t, a, b in zip(chosen.tolist(), low.tolist(), high.tolist(), strict=True):
            offset = np.maximum.accumulate(steps.offset[a:b])
            work = np.diff(offset, prepend=0).tolist()
            letters = map(chr, steps.letter[a:b].tolist())
            words: list[tuple[str, int]] = []
            for ns, letter, amount in zip(work, letters, steps.amount[a:b].tolist(), strict=True):
                words.append(("", ns))
                words.append((letter, ids[amount] if letter in (WAKE, START, JOIN) else amount))
            words.append(("", int(total[t] - (offset[-1] if len(offset) else 0))))
            name = re.sub(r"[^\w.:+-]", "_", self.work.names[t])[:24] or "task"
            own, served, after = split_items(words)
            alone = bool(self.process[t]) and threads[self.process[t]] == 1
            left = partial(
                without_costs, costs=self.costs, silent=shared.silent, forks=forks, alone=alone
            )
            for number, part in served.items():
                debt = 0.0 if number in shared.silent else self.costs.get(WAIT, 0.0)
                said = join_words(left(closed(part), debt=debt))
                items[number] = Item(shared.pool_of[number], said)
            if served:
                own += [(SERVE, shared.pool_of[next(iter(served))]), *after]
            debt = self.costs.get(closure.PROCESS if t in forked else closure.TASK, 0.0)
            steps_left = left(closed(own), debt=debt)
            settings = self._settings(t, births)
            found.append(RecordedTask(ids[t], name, join_words(steps_left), settings))
        return found, [items[number] for number in sorted(items)]

    def _ids(self) -> dict[int, int]:
        """Return a number for each task: its pid, or a free one where that is used again."""
        pids = self.pieces.lives.pid.tolist()
        free = max(pids, default=0) + 1
        used: set[int] = set()
        ids = {}
        for task, pid in enumerate(pids):
            if pid in used:
                pid, free = free, free + 1
            used.add(pid)
            ids[task] = pid
        return ids

    def _processes(self) -> list[int]:
        """Return the number of the process of each task, from 1; 0: it is not known.

        Where all chosen tasks are of one process, all numbers are 0.
        """
        lives = self.pieces.lives.key.tolist()
        of_life = processes_of(self.events, self.pieces.lives)
        every = [of_life.get(key, -1) for key in lives]
        chosen = {each for each, own in zip(every, self.taken.tolist(), strict=True) if own}
        numbers = {each: at for at, each in enumerate(sorted(chosen - {-1}), 1)}
        if len(chosen) < 2:
            return [0] * len(every)
        return [numbers.get(each, 0) for each in every]

    def _heirs(self) -> set[int]:
        """Return the tasks of processes with tasks for which something else than usual is set."""
        unusual = set()
        for number, priority, own in zip(
            self.process, self.work.priorities, self.work.settings, strict=True
        ):
            clamped = own and own.uclamp not in (None, _NO_CLAMP)
            if number and (clamped or priority not in (-1, _NORMAL)):
                unusual.add(number)
        return {task for task, number in enumerate(self.process) if number in unusual}

    def _forked(self, births: Mapping[int, tuple[int, int]]) -> set[int]:
        """Return the tasks that begin a process of their own, as a replay starts them."""
        found: set[int] = set()
        begun: set[int] = set()
        for task, number in enumerate(self.process):
            by = births.get(task, (0, -1))[1]
            parent = int(self.pieces.task[by]) if by >= 0 else -1
            if parent >= 0:
                new = number not in (0, self.process[parent])
            else:
                new = number not in (0, *begun)
                begun.add(number)
            if new and self.taken[task]:
                found.add(task)
        return found

    def _settings(self, task: int, births: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
        priority = self.work.priorities[task]
        settings: dict[str, Any] = {}
        if self.process[task]:
            settings["process"] = self.process[task]
        if 0 <= priority < 100:
            settings |= {"policy": "SCHED_FIFO", "priority": max(99 - priority, 1)}
        elif priority != -1 and (priority != _NORMAL or task in self.heirs):
            settings["priority"] = priority - _NORMAL
        setup, own = self.events.setup, self.work.settings[task]
        if setup and own:
            if own.cpus != setup.cpus:
                settings["cpus"] = list(parse_cpulist(own.cpus))
            if own.uclamp and (own.uclamp != _NO_CLAMP or task in self.heirs):
                settings |= {"util_min": own.uclamp[0], "util_max": own.uclamp[1]}
        if task in births:
            place, by = births[task]
            if by >= 0:
                settings["instance"] = 0
            else:
                settings["delay"] = max(0, int(self.events.ns[place] - self.start)) // 1000
        else:
            first = int(self.pieces.cpu[np.searchsorted(self.pieces.task, task)])
            if first in settings.get("cpus", (first,)):
                settings["first_cpu"] = first
        return settings

    def _cpus(self) -> int:
        """Return how many CPUs the machine has, as far as the trace shows or says."""
        setup = self.events.setup
        known = parse_cpulist(setup.cpus) if setup and setup.cpus else ()
        return 1 + max(int(self.events.cpu.max()), *known, 0)

    def _causes(self, waits: Waits) -> dict[str, Any]:
        """Return for each cause how many waits, and their share of all waiting."""
        long = np.maximum(waits.ended - waits.began, 0)
        whole = max(int(long.sum()), 1)
        found = {}
        for index, cause in enumerate(CAUSES):
            of = waits.cause == index
            if np.any(of):
                share = round(float(long[of].sum()) / whole, 4)
                found[cause] = {"count": int(of.sum()), "share_of_time": share}
        return found

    def _reused(self) -> int:
        """Return how many process numbers were of several chosen tasks, and which is not told."""
        pids, lives = np.unique(self.pieces.lives.pid[self.taken], return_counts=True)
        return sum(pid not in self.events.earlier for pid in pids[lives > 1].tolist())

    def _without_processes(self) -> bool:
        """Return whether private futexes are used, of processes that the trace does not name."""
        calls = self.events.of(Kind.FUTEX_WAIT)
        private = np.any((self.events.two[calls] & FUTEX_IS_PRIVATE) != 0)
        return not self.events.setup and bool(private)

    def _notes(
        self, waits: Waits, shared: Shared, words: Sequence[str], given: Sequence[GivenTime]
    ) -> list[str]:
        notes = list(self.events.notes)
        if shared.unmatched:
            notes.append(
                f"{shared.unmatched:,} messages were left out, as their sending or receiving is"
                " not seen: they were on their way as the trace began, or lines were lost."
            )
        if reused := self._reused():
            notes.append(
                f"{reused:,} process numbers were used again: all tasks of one number have the last"
                " one's name and priority."
            )
        if changes := unseen_changes(self.events, self.pieces.lives, self.taken):
            notes.append(
                f"{changes:,} calls of sched_setaffinity() or sched_setattr() while it was"
                " recorded: a trace does not show which CPUs or clamps they set, so that the tasks"
                " keep those of before. `taskset -c 1 schedlab record -- COMMAND` sets them before."
            )
        if self._without_processes():
            notes.append(
                "The trace does not say which tasks are of one process: futexes at one address of"
                " two processes count as one."
            )
        if self.events.of(Kind.CALL).size:
            notes += descriptor_notes(self.events.setup)
        if shared.objects.locks:
            own = self.work.spent[self.taken[self.pieces.task]]
            notes.append(about_locks(len(shared.objects.locks), words, int(own.sum())))
        if shared.put_in:
            notes.append(
                f"{shared.put_in:,} holds of locks that no call shows were put in between others of"
                " the same task whose distances are multiples of one amount of work."
            )
        if self.handed_over:
            one = self.handed_over == 1
            notes.append(
                f"{plural(self.handed_over, 'lock')} {'is' if one else 'are'} replayed as"
                f" hand-overs in the recorded order: tasks take {'it' if one else 'them'} within"
                " others in several orders, or wait for others while they hold"
                f" {'it' if one else 'them'}."
            )
        notes += about_rare(
            shared.rare, int(np.sum(waits.cause == list(CAUSES).index(LOCK_HELD)) + shared.rare)
        )
        notes += about_pools(self.work, waits, shared.taken)
        notes += about_hidden_pools(self.work, waits, self.process)
        if silent := sum(len(pair.rows) // 2 for pair in shared.turns):
            notes.append(
                f"{silent:,} waits of tasks that take turns left nothing in the trace, as the other"
                " one had done its part before they came to wait; they were put in."
            )
        if unsure := sum(pair.unsure for pair in shared.turns):
            notes.append(
                f"Tasks that wake each other go on before they wait, as where a buffer is between"
                f" them: {unsure:,} waits that they may have had without a trace were not put in."
            )
        if self.late:
            notes.append(
                f"{self.late:,} times a periodic timer was due while its task still worked or"
                " waited for a CPU. A trace does not show when the task asked for it; the replay"
                " does so after equal parts of the work it did meanwhile."
            )
        if self.left:
            more = f" and {len(self.left) - _MOST_NAMES} more" if self.left[_MOST_NAMES:] else ""
            notes.append(
                f"Left out by their names alone, as the system's own (numbers are stars):"
                f" {', '.join(self.left[:_MOST_NAMES])}{more}. `--tasks` takes tasks by name."
            )
        notes += [about_given_time(given)] if given else []
        notes += lacking(self.events, self.pieces.lost, self.work.inside.known)
        if -1 in self.work.priorities:
            notes.append("Deadline tasks are replayed as normal ones: a trace lacks their budget.")
        notes.append(
            "Not seen in a trace: spinning in user space (it counts as work), memory and caches,"
            " and what the program would decide otherwise under another order of events."
        )
        return notes


def grid_period(ended: Numbers, slept: Numbers) -> int:
    """Return the period of wakes that lie on a grid of time; 0 where they do not.

    On a grid the time from wake to wake is the same though the work between differs; a relative
    sleep is itself the same, and the time from wake to wake is not. Where the work hardly differs,
    a grid still shows: how late one wake is does not make the next ones late.
    """
    between = np.diff(ended)
    period = int(np.median(between))
    if period <= 0:
        return 0
    turns = np.maximum(np.round(between / period), 1)
    off = np.abs(between - turns * period)
    if np.count_nonzero(off <= max(2 * TIMER_SLACK, period // 8)) < 0.9 * len(between):
        return 0
    near = np.count_nonzero(off <= max(2 * TIMER_SLACK, period // 50)) >= 0.9 * len(between)
    differs = float(np.median(np.abs(slept[1:] - np.median(slept[1:]))))
    sleeps_differ = near and differs > 2 * float(np.median(off)) + 1000
    if not sleeps_differ and not _comes_back(ended, turns):
        return 0
    found = (int(ended[-1]) - int(ended[0])) / int(turns.sum())
    uncertain = 3 * float(np.std(between - turns * period)) / int(turns.sum())
    wholes = (round(found / of) * of for of in _ROUND)
    return next(
        (w for w in wholes if w and abs(found - w) <= max(_EXACT * found, uncertain)), round(found)
    )


def _comes_back(ended: Numbers, turns: Reals) -> bool:
    """Return whether the wakes stay beside one grid, where errors of sleeps would add up."""
    at = np.concatenate([[0.0], np.cumsum(turns)])
    if len(at) < _FEWEST_TO_COME_BACK:
        return False
    line = np.polyfit(at, (ended - ended[0]).astype(float), 1)
    apart = float(np.std(ended - ended[0] - np.polyval(line, at)))
    steps = float(np.std(np.diff(ended) - turns * line[0]))
    if steps < _SAME:  # one length of work: a sleep and that would make a whole period by chance
        return bool(abs(line[0] - round(line[0] / _ROUND[0]) * _ROUND[0]) < _SAME)
    return apart < _LEAST_ADDED_UP * steps
