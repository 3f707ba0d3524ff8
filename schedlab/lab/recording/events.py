"""The events of a trace as columns: what the scheduler did, in the order it was recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from schedlab.lab.recording.setup import Setup
from schedlab.machine.model import Machine

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Kind(IntEnum):
    """What happened; the comment says what the columns `one`, `two` and `three` hold."""

    SWITCH = 1  # task before, task after, why the first stopped (Stop)
    WAKING = 2  # task woken
    WAKEUP_NEW = 3  # task woken for the first time
    MIGRATE = 4  # task, CPU before, CPU after
    FORK = 5  # parent, child
    EXIT = 6  # task
    IRQ_ENTRY = 7  # interrupt of a device
    IRQ_EXIT = 8
    SOFTIRQ_ENTRY = 9  # number of the vector
    SOFTIRQ_EXIT = 10
    TIMER_ENTRY = 11  # a timer's interrupt or function
    TIMER_EXIT = 12
    FREQUENCY = 13  # kHz, CPU
    SEND = 14  # kind (index into CHANNELS), channel, bytes asked for
    RECEIVE = 15  # the same
    MESSAGE_DONE = 16  # bytes
    FUTEX_WAIT = 17  # address (lower half, upper half with FUTEX_IS_PRIVATE), value expected
    FUTEX_WAKE = 18  # address, how many at most
    FUTEX_DONE = 19  # how many were woken; below 0: an error
    YIELD = 20
    YIELD_DONE = 21
    CALL = 22  # what it does (Call), descriptor or family, flags, type or last descriptor
    CALL_DONE = 23  # what it did, its result; below 0: an error
    NEW_TASK = 24  # task, flags of clone()
    EXEC = 25  # task
    TCP_STATE = 26  # own port, the other's port, TcpState
    SETS = 27  # task whose CPUs or clamps are set, 0: the caller's own
    COUNT = 28  # which counter (index into COUNTERS), lower bits of its figure, the bits above


class Call(IntEnum):
    """What a system call does with descriptors."""

    READ = 1
    WRITE = 2
    CLOSE = 3
    CLOSE_RANGE = 4
    DUP = 5
    SET_FLAGS = 6
    PIPE = 7
    PAIR = 8
    ACCEPT = 9
    CONNECT = 10
    LISTEN = 11
    OPEN = 12


class TcpState(IntEnum):
    """What became of a TCP socket."""

    LISTENS = 1
    CONNECTED = 2
    ACCEPTED = 3


COUNTERS = ("instructions", "cycles", "task-clock")
"""What perf counts from switch to switch; its clock stands for counters that a host lacks."""
COUNT_LOW_BITS = 30
"""Of a counter's figure, in `two`."""
FUTEX_IS_PRIVATE = 1 << 30
"""In `two` of a futex: the address is one of the caller's process."""
DEFAULT_PRIORITY = 120
"""Of nice 0, as the kernel counts."""
CHANNELS = ("pipe", "packets", "unix", "tcp", "udp")
"""Kinds of pipes and sockets; `packets` are a pipe that keeps messages apart (O_DIRECT)."""


class Stop(IntEnum):
    """Why a task left its CPU."""

    PREEMPTED = 0
    SLEEP = 1
    UNINTERRUPTIBLE = 2
    DEAD = 3
    OTHER = 4  # stopped, traced, parked


class Context(IntEnum):
    """In what an event was raised, by the flags of its line."""

    UNKNOWN = 0
    TASK = 1
    SOFTIRQ = 2
    INTERRUPT = 3


@dataclass
class Events:
    """A trace, sorted by time; events of one instant stay in the order of the file."""

    ns: Numbers
    cpu: Numbers
    kind: NDArray[np.int8]
    context: NDArray[np.int8]
    current: Numbers
    """The task that ran on the CPU, as the event's line says."""
    one: Numbers
    two: Numbers
    three: Numbers
    names: Mapping[int, str]
    """The last name of each task."""
    priorities: Mapping[int, int] = field(default_factory=dict)
    """The last priority of each task, as the kernel counts: 120 is nice 0, below 100 real-time."""
    earlier: Mapping[int, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """Name and priority of the tasks that had a process number before, by their forks."""
    notes: Sequence[str] = field(default_factory=tuple)
    """What is wrong or lacks, a sentence each."""
    setup: Setup | None = None
    """What was set for the tasks, where `schedlab record` made the trace."""

    def known(self, pid: int, life: int) -> tuple[str, int]:
        """Return the last name and priority of the task that had a number after so many forks."""
        earlier = self.earlier.get(pid, ())
        if life < len(earlier):
            name, priority = earlier[life]
        else:
            name, priority = self.names.get(pid, ""), self.priorities.get(pid, DEFAULT_PRIORITY)
        return name or "task", priority

    @property
    def machine(self) -> Machine | None:
        """Return the machine that it was recorded on, where the trace names it."""
        return self.setup.machine if self.setup else None

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.ns)

    def of(self, kind: Kind) -> Numbers:
        """Return where the events of a kind are."""
        return np.flatnonzero(self.kind == kind)
