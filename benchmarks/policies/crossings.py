"""How often threads change their last-level cache, in which direction, and where they are.

    python benchmarks/policies/crossings.py MACHINE COMM[,COMM] TRACE...

TRACE is a file of `schedlab trace ... --events sched_switch` each, of threads that are called COMM.
For each LLC: its part of their CPU time by trace and in the mean; how often one of them left that
had run there last, and a thread's second of that; and how many of those were moved while they ran
(active balance), alone on their core or beside another task.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from schedlab.lab.ftrace import Event, events
from schedlab.machine.model import Machine, find_machine

IDLE = "swapper/"
STOPPER = "migration/"


@dataclass
class Trace:
    """What the threads of one trace did, by LLC."""

    machine: Machine
    comms: set[str]
    ran: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    """Nanoseconds during which a thread had run there last."""
    left: Counter[int] = field(default_factory=Counter)
    alone: Counter[int] = field(default_factory=Counter)
    beside: Counter[int] = field(default_factory=Counter)

    def read(self, path: Path) -> None:
        llc = _groups(self.machine.groups("llc"))
        core = _groups(self.machine.groups("core"))
        running: dict[int, str] = {}
        started: dict[int, int] = {}
        seen: dict[str, tuple[int, int]] = {}
        pulled: dict[str, bool] = {}
        """Whose CPU a stopper took, and whether another task ran on the core."""
        for event in _switches(path):
            before, after = event.fields["prev_comm"], event.fields["next_comm"]
            if before in self.comms and after.startswith(STOPPER):
                others = (cpu for cpu in running if core[cpu] == core[event.cpu])
                busy = any(cpu != event.cpu and not running[cpu].startswith(IDLE) for cpu in others)
                pulled[event.fields["prev_pid"]] = busy
            running[event.cpu] = after
            here = llc[event.cpu]
            if event.cpu in started:
                self.ran[here] += event.time - started.pop(event.cpu)
            if after not in self.comms:
                continue
            started[event.cpu] = event.time
            pid = event.fields["next_pid"]
            busy_core = pulled.pop(pid, None)
            if pid in seen:
                there, when = seen[pid]
                self.last[there] += event.time - when
                if there != here:
                    self.left[there] += 1
                    self.alone[there] += busy_core is False
                    self.beside[there] += busy_core is True
            seen[pid] = here, event.time


def _groups(groups: tuple[tuple[int, ...], ...]) -> dict[int, int]:
    return {cpu: number for number, group in enumerate(groups) for cpu in group}


def _switches(path: Path) -> list[Event]:
    with path.open() as lines:
        return [event for event in events(lines) if event.name == "sched_switch"]


def main() -> None:
    if len(sys.argv) < 4:
        raise SystemExit("usage: python benchmarks/policies/crossings.py MACHINE COMM TRACE...")
    machine, comms = find_machine(sys.argv[1]), set(sys.argv[2].split(","))
    traces = [Trace(machine, comms) for _ in sys.argv[3:]]
    for trace, name in zip(traces, sys.argv[3:], strict=True):
        trace.read(Path(name))
    for llc in range(len(machine.groups("llc"))):
        parts = [trace.ran[llc] / trace.ran.total() for trace in traces]
        left, alone, beside = (
            sum(count[llc] for count in counts)
            for counts in zip(*((t.left, t.alone, t.beside) for t in traces), strict=True)
        )
        seconds = sum(trace.last[llc] for trace in traces) / 1e9
        print(
            f"LLC {llc}: {' '.join(f'{part:.0%}' for part in parts)}, mean {mean(parts):.0%};"
            f" left {left / len(traces):.1f} times a trace,"
            f" {left / seconds if seconds else 0:.2f} a thread's second;"
            f" of {left} running and alone {alone}, running beside another {beside}"
        )


if __name__ == "__main__":
    main()
