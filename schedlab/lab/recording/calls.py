"""System calls that a replay makes again: the work within them is not the task's own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.pieces import task_key
from schedlab.lab.recording.worked import Worked


@dataclass
class Calls:
    """Calls and the words of a replay that they become; of one task they do not overlap."""

    _COLUMNS: ClassVar = ("task", "enter", "exit", "began", "long", "letter", "amount")
    task: Numbers
    enter: Numbers
    """Places in the trace."""
    exit: Numbers
    began: Numbers
    """ns of work that its task had done."""
    long: Numbers
    """ns that the task worked within the call."""
    letter: Numbers
    amount: Numbers

    def __post_init__(self) -> None:
        """Sort them by task and then by place."""
        order = np.argsort(task_key(self.task, self.enter), kind="stable")
        for name in self._COLUMNS:
            setattr(self, name, getattr(self, name)[order])
        self._keys = task_key(self.task, self.enter)
        self._before = np.concatenate([[0], np.cumsum(self.long)])

    def __len__(self) -> int:
        """Return the number of calls."""
        return len(self.task)

    def and_more(self, more: "Calls") -> "Calls":
        """Return them, and more."""
        pairs = ((getattr(self, name), getattr(more, name)) for name in self._COLUMNS)
        return Calls(*(np.concatenate(pair) for pair in pairs))

    def around(self, task: Numbers, place: Numbers) -> Numbers:
        """Return in which of the calls a task is at a place; -1: in none."""
        if not len(self):
            return np.full(len(place), -1)
        at = np.searchsorted(self._keys, task_key(task, place), "right") - 1
        there = np.maximum(at, 0)
        within = (at >= 0) & (self.task[there] == task) & (self.exit[there] >= place)
        return np.where(within, at, -1)

    def outside(self, task: Numbers, place: Numbers, offset: Numbers) -> Numbers:
        """Return offsets in a task's work without what it worked within calls."""
        if not len(self):
            return offset
        begun = np.searchsorted(self._keys, task_key(task, place), "left")
        first = np.searchsorted(self._keys, task_key(task, np.zeros_like(place)), "left")
        inside = self._before[begun] - self._before[first]
        last = np.maximum(begun - 1, 0)
        going = (begun > first) & (self.exit[last] > place)
        worked = offset - self.began[last]
        inside = inside - np.where(going, self.long[last] - np.minimum(worked, self.long[last]), 0)
        left: Numbers = np.maximum(offset - inside, 0)
        return left


def measured_calls(
    work: Worked, task: Numbers, enter: Numbers, exit_: Numbers, letter: Numbers, amount: Numbers
) -> Calls:
    """Return calls with what their tasks worked before and within them."""
    began, over = work.worked(task, enter), work.worked(task, exit_)
    return Calls(task, enter, exit_, began, np.maximum(over - began, 0), letter, amount)
