"""From a trace to a workload: what each task did between waits, and what each wait was for.

The work of a task is its time on CPUs, preempted pieces merged, interrupts that the trace shows
taken off. Each wait has one cause: a task that woke it, at a point of that task's own work; a
timer; a device; or, where the trace does not show it, nothing that is known.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Any

import numpy as np

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import UsageError
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
    UNSEEN,
)
from schedlab.lab.recording.closure import without_costs
from schedlab.lab.recording.events import (
    FUTEX_IS_PRIVATE,
    Context,
    Events,
    Flags,
    Kind,
    Numbers,
    Stop,
)
from schedlab.lab.recording.objects import Shared, Steps, split_items, unsafe
from schedlab.lab.recording.pace import Pace, Speeds
from schedlab.lab.recording.pieces import Lives, Pieces, find_pieces, merge_pieces, task_key
from schedlab.lab.recording.showing import group_of
from schedlab.lab.recording.workload import (
    ARRIVAL,
    DEVICE,
    GRID,
    SERVE,
    SLEEP,
    START,
    WAIT,
    WAKE,
    Item,
    RecordedTask,
    RecordedWorkload,
    closed,
    join_words,
)

TIMER_SLACK = 50_000
"""ns by which the kernel lets a timer of a task that is not real-time end late (prctl(2),
PR_SET_TIMERSLACK): a replay's sleep gets it again."""
_KERNEL = re.compile(
    r"(swapper|kworker|ksoftirqd|migration|rcu|rcuop|rcuog|rcub|rcuc|cpuhp|irq|idle_inject|jbd2|"
    r"kcompactd|kswapd|scsi_eh|xfs|nvme|watchdog)[/_\d]|"
    r"(kthreadd|khugepaged|kdevtmpfs|kauditd|khungtaskd|oom_reaper|ksmd|kblockd|rcu_\w+|init|daemon)$"
)
"""Tasks of the kernel itself, which does in every run what they do; `daemon` is what the simulator
runs on a machine beside the load."""
_TOOLS = re.compile(r"(perf|trace-cmd|schedlab)$")
_VECTOR_TIMER, _VECTOR_NET_RX, _VECTOR_HRTIMER = 1, 3, 8
_FEWEST_OF_GRID = 8
"""Wakes by a timer, before they are looked at for a period."""


@dataclass(frozen=True)
class Choice:
    """Which tasks are taken, and how fast CPUs are."""

    patterns: Sequence[str] = ()
    """Of tasks' names; none: all but the kernel's own and the recorder."""
    speed: Speeds = field(default_factory=Speeds)
    costs: Mapping[str, float] = field(default_factory=dict)
    """What a replay's calls cost where it was recorded (schedlab/lab/recording/closure.py)."""

    def takes(self, name: str) -> bool:
        """Return whether a task of that name is taken."""
        if self.patterns:
            return any(fnmatch(name, pattern) for pattern in self.patterns)
        return not is_kernels(name) and not _TOOLS.match(name)


def is_kernels(name: str) -> bool:
    """Return whether a task of that name is the kernel's own."""
    return bool(_KERNEL.match(name))


def kernels_part(name: str) -> str:
    """Return the beginning of a name that makes it one of the kernel's tasks; empty: none does."""
    found = _KERNEL.match(name)
    return found[0] if found else ""


@dataclass
class Waits:
    """Waits of the chosen tasks, each between two blocks, or before the first."""

    task: Numbers
    place: Numbers
    """Where the task stopped; 0 for a wait that was under way as the trace begins."""
    offset: Numbers
    """ns of work it had done."""
    began: Numbers
    ended: Numbers
    """ns of the wake, or of the switch back where none was seen."""
    disk: Numbers
    waking: Numbers
    """The place of the wake; -1: not seen."""
    cause: Numbers
    """Index into CAUSES."""
    waker: Numbers
    """The piece of the waking task; -1: none."""


def chosen_tasks(events: Events, lives: Lives, choice: Choice) -> Flags:
    """Return which tasks are taken: by their names, and by what was asked as it was recorded."""
    pids = lives.pid.tolist()
    taken = np.array([choice.takes(events.names.get(pid, "task")) for pid in pids], bool)
    if not events.setup or not events.setup.roots:
        return taken
    family = set(events.setup.roots)
    forks = events.of(Kind.FORK)
    for parent, child in zip(events.one[forks].tolist(), events.two[forks].tolist(), strict=True):
        if parent in family:
            family.add(child)
    return taken & np.isin(lives.pid, np.array(sorted(family)))


def infer(events: Events, choice: Choice, source: str) -> RecordedWorkload:
    """Return the workload that a trace shows.

    Raises:
        UsageError: the trace does not have what it takes.
    """
    return Inference(events, choice).workload(source)


class Inference:
    """What a trace shows, made into a workload."""

    def __init__(self, events: Events, choice: Choice) -> None:
        if not np.any(events.kind == Kind.SWITCH):
            raise UsageError(
                "the trace has no sched_switch, without which a workload cannot be inferred."
                " Record sched_switch, sched_waking, sched_wakeup_new and sched_process_fork"
                " (docs/manual/recording.md)."
            )
        self.events = events
        self.costs = choice.costs
        self.pieces = find_pieces(events)
        self.pace = Pace(events, choice.speed)
        self.inside = _Interrupts(events)
        self.spent = self._spent()
        self.blocks = merge_pieces(self.pieces, self.spent)
        pids = self.pieces.lives.pid
        names = [events.names.get(int(pid), "task") for pid in pids]
        self.names = names
        self.taken = chosen_tasks(events, self.pieces.lives, choice)
        if not np.any(self.taken):
            raise UsageError("no task of the trace matches; `--tasks` takes patterns of names.")
        total = np.concatenate([[0], np.cumsum(self.spent)])
        starts = np.searchsorted(self.pieces.task, self.pieces.task, "left")
        self.before = total[:-1] - total[starts]
        on_cpu = np.argsort(task_key(self.pieces.cpu, self.pieces.begin), kind="stable")
        self.on_cpu = on_cpu
        self.on_cpu_keys = task_key(self.pieces.cpu, self.pieces.begin)[on_cpu]
        self.forks = events.of(Kind.FORK)
        self.children = self.pieces.lives.task(events.two[self.forks], self.forks)
        self._piece_keys = task_key(self.pieces.task, self.pieces.begin)
        self._block_keys = task_key(self.blocks.task, self.blocks.begin)

    def _spent(self) -> Numbers:
        """Return the work of each piece, without interrupts."""
        pieces = self.pieces
        long = pieces.until - pieces.since
        left = np.maximum(long - self.inside.time_in(pieces), 0)
        done = self.pace.work(pieces.cpu, pieces.since, pieces.until)
        spent: Numbers = np.rint(done / np.maximum(long, 1) * left).astype(np.int64)
        return spent

    def workload(self, source: str) -> RecordedWorkload:
        """Return the workload."""
        waits = self._waits()
        births = self._births()
        steps, shared = self._shared(waits, births)
        setup = self.events.setup
        seconds = float(self.events.ns[-1] - self.events.ns[0]) / 1e9
        recorded = {
            "source": source,
            "seconds": round(seconds, 9),
            "cpus": int(self.events.cpu.max()) + 1,
            "events": len(self.events),
            **({"kernel": setup.kernel} if setup else {}),
            **({"machine": setup.machine.name} if setup and setup.machine else {}),
            "waits": self._causes(waits),
            "objects": shared.numbers(),
            "notes": self._notes(),
        }
        tasks, items = self._tasks(steps, births, shared)
        return RecordedWorkload(tasks, recorded, shared.messages, shared.sizes, items)

    def _shared(self, waits: Waits, births: Mapping[int, tuple[int, int]]) -> tuple[Steps, Shared]:
        """Return the steps with all objects that tasks can share without waiting for ever."""
        left: set[int] = set()
        cause = waits.cause.copy()
        while True:
            waits.cause[:] = cause
            shared = Shared(self, waits, left)
            steps = self._steps(waits, births, shared)
            bad = unsafe(steps.sorted(), shared)
            if not bad:
                return steps, shared
            left |= bad

    # ------------------------------------------------------------------ waits

    def running(self, places: Numbers) -> Numbers:
        """Return the piece that ran on the CPU of each event; -1: the idle task."""
        if not len(self.on_cpu_keys):
            return np.full(len(places), -1)
        keys = task_key(self.events.cpu[places], places)
        at = np.searchsorted(self.on_cpu_keys, keys, "right") - 1
        piece = self.on_cpu[np.maximum(at, 0)]
        there = (at >= 0) & (self.pieces.cpu[piece] == self.events.cpu[places])
        found: Numbers = np.where(there & (self.pieces.end[piece] >= places), piece, -1)
        return found

    def offset(self, piece: Numbers, places: Numbers) -> Numbers:
        """Return how much a task had worked at an event in one of its pieces."""
        since, until = self.pieces.since[piece], self.events.ns[places]
        worked = self.pace.work(self.pieces.cpu[piece], since, until).astype(np.int64)
        offset: Numbers = self.before[piece] + np.minimum(worked, self.spent[piece])
        return offset

    def worked(self, task: Numbers, place: Numbers) -> Numbers:
        """Return how much tasks had worked at places where they need not run."""
        pieces = self.pieces
        piece = np.searchsorted(self._piece_keys, task_key(task, place), "right") - 1
        there = np.maximum(piece, 0)
        until = np.minimum(place, pieces.end[there])
        until = np.minimum(until, len(self.events) - 1)
        found = self.offset(there, until)
        whole = self.before[there] + self.spent[there]
        found = np.where(place >= pieces.end[there], whole, found)
        return np.where((piece >= 0) & (pieces.task[there] == task), found, 0)

    def began_block(self, task: int, place: int) -> int:
        """Return how much a task had worked as its last wait before a place was over."""
        key = task_key(np.array(task), np.array(place))
        block = int(np.searchsorted(self._block_keys, key, "right")) - 1
        there = block >= 0 and self.blocks.task[block] == task
        return int(self.blocks.before[block]) if there else 0

    def last_run(self, task: int, place: int) -> int:
        """Return a place, or the end of what the task ran before it where it does not run there."""
        key = task_key(np.array(task), np.array(place))
        piece = int(np.searchsorted(self._piece_keys, key, "right")) - 1
        there = piece >= 0 and self.pieces.task[piece] == task
        return min(place, int(self.pieces.end[piece])) if there else 0

    def place_of(self, task: int, offset: int) -> int:
        """Return the place where a task had worked so much; after a wait rather than before."""
        pieces = self.pieces
        low, high = np.searchsorted(pieces.task, [task, task + 1], "left")
        if low == high:
            return 0
        piece = low + int(np.searchsorted(self.before[low:high], offset, "right")) - 1
        piece = max(int(low), piece)
        moment = pieces.since[piece] + max(0, offset - int(self.before[piece]))
        place = int(np.searchsorted(self.events.ns, min(moment, pieces.until[piece]), "left"))
        return min(max(place, int(pieces.begin[piece])), int(pieces.end[piece]))

    def _waits(self) -> Waits:
        b = self.blocks
        first = np.ones(len(b.task), bool)
        first[1:] = b.task[1:] != b.task[:-1]
        started = np.isin(b.task, self.children)
        chosen = np.flatnonzero(self.taken[b.task] & (~first | (~started & (b.begin > 0))))
        before = np.maximum(chosen - 1, 0)
        head = first[chosen]
        low = np.where(head, 0, b.last[before])
        wakings = self.events.of(Kind.WAKING)
        target = self.pieces.lives.task(self.events.one[wakings], wakings)
        keys = task_key(target, wakings)
        order = np.argsort(keys, kind="stable")
        keys, wakings = keys[order], wakings[order]
        at = np.searchsorted(keys, task_key(b.task[chosen], b.begin[chosen]), "left") - 1
        at = np.where(len(keys), at, -1)
        last = keys[np.maximum(at, 0)] if len(keys) else np.full(len(at), -1)
        seen = (at >= 0) & (last >= task_key(b.task[chosen], low))
        # A task that was there before and neither ran nor woke at first was preempted.
        keep = ~head | seen
        chosen, before, at = (a[keep] for a in (chosen, before, at))
        head, seen = head[keep], seen[keep]
        waking = np.where(seen, wakings[np.maximum(at, 0)], -1) if len(keys) else at
        stop = np.where(head, int(Stop.SLEEP), b.stop[before])
        waits = Waits(
            task=b.task[chosen],
            place=np.where(head, 0, b.end[before]),
            offset=np.where(head, 0, b.before[before] + b.work[before]),
            began=np.where(head, self.events.ns[0], b.until[before]),
            ended=np.where(seen, self.events.ns[np.maximum(waking, 0)], b.since[chosen]),
            disk=(stop == int(Stop.UNINTERRUPTIBLE)).astype(np.int64),
            waking=waking,
            cause=np.zeros(len(chosen), np.int64),
            waker=np.full(len(chosen), -1),
        )
        self._judge(waits)
        return waits

    def _judge(self, waits: Waits) -> None:
        """Fill in each wait's cause and waker."""
        seen = np.flatnonzero(waits.waking >= 0)
        places = waits.waking[seen]
        context, vector, timer = self.inside.at(places)
        piece = self.running(places)
        taken = (piece >= 0) & self.taken[self.pieces.task[np.maximum(piece, 0)]]
        other = taken & (self.pieces.task[np.maximum(piece, 0)] != waits.task[seen])
        soft_timer = (vector == _VECTOR_TIMER) | (vector == _VECTOR_HRTIMER)
        by_timer = ((context == Context.INTERRUPT) & timer) | (
            (context == Context.SOFTIRQ) & soft_timer
        )
        by_softirq = (context == Context.SOFTIRQ) & ((vector == _VECTOR_NET_RX) | (vector < 0))
        by_task = ((context == Context.TASK) | by_softirq) & other
        unknown = (context == Context.UNKNOWN) & (piece < 0)
        disk = waits.disk[seen] == 1
        order = list(CAUSES)
        cause = np.full(len(waits.task), order.index(UNSEEN))
        cause[seen] = np.select(
            [by_task, by_timer | unknown, disk],
            [order.index(TASK), order.index(TIMER), order.index(ANSWER)],
            order.index(OUTSIDE),
        )
        waits.cause[:] = cause
        waits.waker[seen] = np.where(by_task, piece, -1)

    def _births(self) -> dict[int, tuple[int, int]]:
        """Return for each chosen task forked in the trace the place, and the forking piece."""
        births = {}
        columns = (self.children, self.forks, self.running(self.forks))
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
        amounts = np.maximum(waits.ended - waits.began, 0)
        realtime = np.array(
            [self.events.priorities.get(int(pid), 120) < 100 for pid in self.pieces.lives.pid]
        )
        slack = np.where(realtime[waits.task], 0, TIMER_SLACK)
        letters[by_task] = ord(WAIT)
        outside = waits.cause == order.index(OUTSIDE)
        letters[outside] = ord(ARRIVAL)
        letters[waits.cause == order.index(ANSWER)] = ord(DEVICE)
        amounts = np.where(outside, waits.ended - self.events.ns[0], amounts)
        amounts = np.maximum(amounts - slack, 0)
        self._find_grids(waits, letters, amounts)
        amounts[by_task] = 0
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
        task = np.concatenate([more.task, waits.task[kept], owner[waker], owner[by], calls.task])
        at = np.concatenate([more.place, shared.place[kept], woken, place, calls.enter])
        worked = (self.offset(waker, woken), self.offset(by, place))
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

    def _find_grids(self, waits: Waits, letters: Numbers, amounts: Numbers) -> None:
        """Mark the timers that end on a grid in time, not so long after the task's last work."""
        timers = np.flatnonzero(waits.cause == list(CAUSES).index(TIMER))
        tasks, counts = np.unique(waits.task[timers], return_counts=True)
        for task in tasks[counts >= _FEWEST_OF_GRID].tolist():
            own = timers[waits.task[timers] == task]
            period = grid_period(waits.ended[own], waits.ended[own] - waits.began[own])
            if period:
                letters[own] = ord(GRID)
                amounts[own] = period

    # ------------------------------------------------------------------ tasks

    def _tasks(
        self, steps: Steps, births: Mapping[int, tuple[int, int]], shared: Shared
    ) -> tuple[list[RecordedTask], list[Item]]:
        chosen = np.flatnonzero(self.taken)
        ids = self._ids()
        steps = steps.sorted()
        low = np.searchsorted(steps.task, chosen, "left")
        high = np.searchsorted(steps.task, chosen, "right")
        total = np.bincount(self.pieces.task, self.spent, len(self.taken)).astype(np.int64)
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
                words.append((letter, ids[amount] if letter in (WAKE, START) else amount))
            words.append(("", int(total[t] - (offset[-1] if len(offset) else 0))))
            name = re.sub(r"[^\w.:+-]", "_", self.names[t])[:24] or "task"
            own, served = split_items(words)
            for number, part in served.items():
                debt = self.costs.get(WAIT, 0.0)
                said = join_words(without_costs(closed(part), self.costs, debt))
                items[number] = Item(shared.pool_of[number], said)
            if served:
                own.append((SERVE, shared.pool_of[next(iter(served))]))
            debt = self.costs.get(closure.TASK, 0.0)
            steps_left = without_costs(closed(own), self.costs, debt)
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

    def _settings(self, task: int, births: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
        pid = int(self.pieces.lives.pid[task])
        priority = self.events.priorities.get(pid, 120)
        settings: dict[str, Any] = {}
        if 0 <= priority < 100:
            settings |= {"policy": "SCHED_FIFO", "priority": max(99 - priority, 1)}
        elif priority not in (-1, 120):
            settings["priority"] = priority - 120
        setup = self.events.setup
        own = setup.tasks.get(pid) if setup else None
        if setup and own:
            if own.cpus != setup.cpus:
                settings["cpus"] = list(parse_cpulist(own.cpus))
            if own.uclamp and own.uclamp != (0, 1024):
                settings |= {"util_min": own.uclamp[0], "util_max": own.uclamp[1]}
        if task in births:
            place, by = births[task]
            if by >= 0:
                settings["instance"] = 0
            else:
                settings["delay"] = int(self.events.ns[place] - self.events.ns[0]) // 1000
        return settings

    # ------------------------------------------------------------------ messages

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

    def likes(self) -> list[Hashable]:
        """Return of each task its name without numbers, and what is set for it."""
        setup = self.events.setup
        found: list[Hashable] = []
        for pid, name in zip(self.pieces.lives.pid.tolist(), self.names, strict=True):
            own = setup.tasks.get(pid) if setup else None
            place = replace(own, process=0) if own else None
            found.append((group_of(name), self.events.priorities.get(pid, 120), place))
        return found

    def _reused(self) -> int:
        """Return how many process numbers were of several chosen tasks."""
        _, lives = np.unique(self.pieces.lives.pid[self.taken], return_counts=True)
        return int(np.count_nonzero(lives > 1))

    def _without_processes(self) -> bool:
        """Return whether private futexes are used, of processes that the trace does not name."""
        calls = self.events.of(Kind.FUTEX_WAIT)
        private = np.any((self.events.two[calls] & FUTEX_IS_PRIVATE) != 0)
        return not self.events.setup and bool(private)

    def _notes(self) -> list[str]:
        notes = list(self.events.notes)
        if reused := self._reused():
            notes.append(
                f"{reused:,} process numbers were used again: all tasks of one number have the last"
                " one's name and priority."
            )
        if self._without_processes():
            notes.append(
                "The trace does not say which tasks are of one process: futexes at one address of"
                " two processes count as one."
            )
        if self.pieces.lost:
            notes.append(
                f"{self.pieces.lost:,} times a CPU leaves another task than it went to: switches"
                " were lost; the work around them is a guess."
            )
        if not np.any(self.events.kind == Kind.WAKING):
            notes.append(
                "sched_waking is not recorded: who wakes whom is not known, and all waits are"
                " replayed as sleeps."
            )
        if not np.any(self.events.kind == Kind.FORK):
            notes.append("sched_process_fork is not recorded: all tasks are there from the start.")
        if np.all(self.events.context == Context.UNKNOWN) and not self.inside.known:
            notes.append(
                "Neither flags nor interrupts are recorded: a wake by an interrupt counts as one by"
                " the task that was interrupted."
            )
        if any(self.events.priorities.get(int(pid)) == -1 for pid in self.pieces.lives.pid):
            notes.append("Deadline tasks are replayed as normal ones: a trace lacks their budget.")
        notes.append(
            "Not seen in a trace: spinning in user space (it counts as work), memory and caches,"
            " and what the program would decide otherwise under another order of events."
        )
        return notes


def grid_period(ended: Numbers, slept: Numbers) -> int:
    """Return the period of wakes that lie on a grid of time; 0 where they do not.

    On a grid the time from wake to wake is the same though the work between differs; a relative
    sleep is itself the same, and the time from wake to wake is not. Where both are, it is a sleep.
    """
    between = np.diff(ended)
    period = int(np.median(between))
    if period <= 0:
        return 0
    turns = np.maximum(np.round(between / period), 1)
    off = np.abs(between - turns * period)
    tolerance = max(2 * TIMER_SLACK, period // 50)
    if np.count_nonzero(off <= tolerance) < 0.9 * len(between):
        return 0
    differs = np.median(np.abs(slept[1:] - np.median(slept[1:])))
    if float(differs) <= 2 * float(np.median(off)) + 1000:
        return 0
    whole = int(turns.sum())
    return round((int(ended[-1]) - int(ended[0])) / whole)


class _Interrupts:
    """Interrupts of each CPU that the trace shows by their entries and exits."""

    _ENTRIES = (Kind.IRQ_ENTRY, Kind.SOFTIRQ_ENTRY, Kind.TIMER_ENTRY)
    _EXITS = (Kind.IRQ_EXIT, Kind.SOFTIRQ_EXIT, Kind.TIMER_EXIT)

    def __init__(self, events: Events) -> None:
        self._events = events
        kinds = np.array([*self._ENTRIES, *self._EXITS])
        place = np.flatnonzero(np.isin(events.kind, kinds))
        self.known = len(place) > 0
        keys = task_key(events.cpu[place], place)
        order = np.argsort(keys, kind="stable")
        self._keys, self._place = keys[order], place[order]
        self._enters = np.isin(events.kind[self._place], np.array(self._ENTRIES))

    def at(self, places: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return context, softirq vector (-1: not known), and whether it is a timer's interrupt."""
        context = self._events.context[places].astype(np.int64)
        vector = np.full(len(places), -1)
        if not self.known:
            return context, vector, context == Context.INTERRUPT
        keys = task_key(self._events.cpu[places], places)
        at = np.searchsorted(self._keys, keys, "left") - 1
        last = self._place[np.maximum(at, 0)]
        same = (at >= 0) & (self._events.cpu[last] == self._events.cpu[places])
        within = same & self._enters[np.maximum(at, 0)]
        kind = self._events.kind[last]
        soft = within & (kind == Kind.SOFTIRQ_ENTRY)
        by_kind = np.where(soft, int(Context.SOFTIRQ), int(Context.INTERRUPT))
        unknown = context == Context.UNKNOWN
        context = np.where(unknown, np.where(within, by_kind, int(Context.TASK)), context)
        vector = np.where(soft, self._events.one[last], vector)
        timer = within & (kind == Kind.TIMER_ENTRY)
        return context, vector, timer

    def time_in(self, pieces: Pieces) -> Numbers:
        """Return how long of each piece interrupts took; the innermost entry to its exit."""
        if not self.known:
            return np.zeros(len(pieces.task), np.int64)
        cpu = self._events.cpu[self._place]
        pair = self._enters[:-1] & ~self._enters[1:] & (cpu[:-1] == cpu[1:])
        opens = np.flatnonzero(pair)
        long = self._events.ns[self._place[opens + 1]] - self._events.ns[self._place[opens]]
        total = np.concatenate([[0], np.cumsum(long)])
        keys = self._keys[opens]
        low = np.searchsorted(keys, task_key(pieces.cpu, pieces.begin), "left")
        high = np.searchsorted(keys, task_key(pieces.cpu, pieces.end), "left")
        return np.asarray(total[high] - total[low], np.int64)
