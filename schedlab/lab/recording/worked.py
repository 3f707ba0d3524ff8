"""How much each task of a trace has worked, at which of its events."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from schedlab.base.errors import UsageError
from schedlab.lab.recording.choice import Choice, chosen_tasks
from schedlab.lab.recording.counted import (
    INSTRUCTIONS,
    Slowdown,
    count_pieces,
    figures,
    slowdowns,
)
from schedlab.lab.recording.events import Events, Kind, Numbers
from schedlab.lab.recording.families import settings_of
from schedlab.lab.recording.interrupts import Interrupts
from schedlab.lab.recording.pace import Pace
from schedlab.lab.recording.pieces import find_pieces, merge_pieces, task_key
from schedlab.lab.recording.showing import group_of


class Worked:
    """The work of tasks: their time on CPUs, without interrupts, at the speed of their CPU."""

    def __init__(self, events: Events, choice: Choice) -> None:
        """Read the trace.

        Raises:
            UsageError: it has no switches, or no task that is chosen.
        """
        if not np.any(events.kind == Kind.SWITCH):
            raise UsageError(
                "the trace has no sched_switch, without which a workload cannot be inferred."
                " Record sched_switch, sched_waking, sched_wakeup_new and sched_process_fork"
                " (docs/manual/recording.md)."
            )
        self.events = events
        self.pieces = find_pieces(events)
        self.pace = Pace(events, choice.speed)
        self.inside = Interrupts(events)
        known = self.pieces.lives.known(events)
        self.names = [name for name, _ in known]
        self.priorities = [priority for _, priority in known]
        self.group_names, of_task = np.unique(list(map(group_of, self.names)), return_inverse=True)
        self._group = of_task[self.pieces.task] if len(of_task) else self.pieces.task
        self._counts = count_pieces(events, self.pieces)
        self._slowdowns = self._learn_slowdowns()
        self.spent = self._spent()
        self.blocks = merge_pieces(self.pieces, self.spent)
        self.taken = chosen_tasks(events, self.pieces.lives, choice)
        self.settings = settings_of(events, self.pieces.lives)
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
        parents = self.running(self.forks)
        parents = np.where(parents >= 0, self.pieces.task[np.maximum(parents, 0)], -1)
        self._fork_keys = np.sort(task_key(parents, self.forks))

    def _learn_slowdowns(self) -> dict[int, list[Slowdown]]:
        """Take from instructions, as far as they are counted, how fast each group was where."""
        if INSTRUCTIONS not in self._counts:
            return {}
        pieces, counted = self.pieces, self._counts[INSTRUCTIONS]
        spent = self.pace.situations(pieces.cpu, pieces.since, pieces.until)
        expected = self.pace.expected
        by_group = np.tile(expected, (len(self.group_names), 1))
        found = {}
        for group in range(len(self.group_names)):
            own = (self._group == group) & (counted >= 0)
            slower = slowdowns(counted[own], spent[own], expected.tolist())
            for each in slower:
                by_group[group, each.situation] = expected.max() * each.part
            if slower:
                found[group] = slower
        self.pace.know(by_group)
        return found

    def counted(self) -> dict[str, dict[str, Any]]:
        """Return what was counted of each group of chosen tasks, and what slowed it."""
        found: dict[str, dict[str, Any]] = {}
        if not self._counts:
            return found
        chosen = self.taken[self.pieces.task]
        long = self.pieces.until - self.pieces.since
        for group, name in enumerate(self.group_names.tolist()):
            own = np.flatnonzero(chosen & (self._group == group))
            if len(own) and (sums := figures(self._counts, long, own)):
                slower = [
                    {**self.pace.named(each.situation), "part": round(each.part, 4)}
                    for each in self._slowdowns.get(group, ())
                ]
                found[name] = {**sums, **({"slower": slower} if slower else {})}
        return found

    def _spent(self) -> Numbers:
        """Return the work of each piece, without interrupts."""
        pieces = self.pieces
        long = pieces.until - pieces.since
        left = np.maximum(long - self.inside.time_in(pieces), 0)
        done = self.pace.work(pieces.cpu, pieces.since, pieces.until, self._group)
        spent: Numbers = np.rint(done / np.maximum(long, 1) * left).astype(np.int64)
        return spent

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
        done = self.pace.work(self.pieces.cpu[piece], since, until, self._group[piece])
        worked = done.astype(np.int64)
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

    def block_begins(self, task: Numbers, place: Numbers) -> Numbers:
        """Return where tasks began to run after their last waits before places."""
        at = np.searchsorted(self._block_keys, task_key(task, place), "right") - 1
        there = np.maximum(at, 0)
        found: Numbers = np.where(
            (at >= 0) & (self.blocks.task[there] == task), self.blocks.begin[there], 0
        )
        return found

    def after_forks(self, task: Numbers, since: Numbers, until: Numbers) -> Numbers:
        """Return the first place of each two, or that behind the task's last fork between both."""
        last = np.searchsorted(self._fork_keys, task_key(task, until)) - 1
        if not len(self._fork_keys):
            return since
        fork = self._fork_keys[np.maximum(last, 0)]
        own = (last >= 0) & (fork >= task_key(task, since))
        behind = fork - task_key(task, np.zeros_like(task)) + 1
        found: Numbers = np.where(own, behind, since)
        return found

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

    def likes(self) -> list[Hashable]:
        """Return of each task its name without numbers, and what is set for it."""
        found: list[Hashable] = []
        for own, name, priority in zip(self.settings, self.names, self.priorities, strict=True):
            place = replace(own, process=0) if own else None
            found.append((group_of(name), priority, place))
        return found
