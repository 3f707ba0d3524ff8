"""Where tasks' time went on a host and how long wakeups took, from tracepoints perf recorded.

Off unless it is asked for, because recording every switch costs time of the machine that is
measured. What the tracepoints do not tell stays together: user code and the kernel, at whatever
speed, are "running", and what a task sleeps for is not known. Which CPUs a task may use is not
recorded either, so any idle CPU counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.system import System
from schedlab.base.words import plural
from schedlab.counters.group import CounterGroup, Counts, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic
from schedlab.counters.times import GONE, MEASURED, time_counter
from schedlab.counters.wakeups import of_waits

EVENTS = (
    *("sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"),
    *("sched:sched_migrate_task", "sched:sched_process_fork", "sched:sched_process_exec"),
)
_ONLINE = "/sys/devices/system/cpu/online"
_READING_SECONDS = 600
_CLOCKS_APART = 1.01
"""No more than this times the CPUs' time can have been spent running."""
_BUFFER = "4M"
"""Of each CPU; less loses events on a machine that switches often."""

RUNNING, WAKING, WAIT_IDLE, WAIT_BUSY = "running", "waking", "wait_idle", "wait_busy"
ASLEEP, ASLEEP_IO = "asleep_wait", "asleep_io"
_WORDS = {
    RUNNING: "running (user code and kernel, at whatever speed)",
    ASLEEP: "asleep, on what is not recorded",
    ASLEEP_IO: "asleep and not to be interrupted, as for I/O",
}


@counter_group(90)
class SchedTrace(CounterGroup):
    """Where the time of a run's tasks went."""

    name = "task-time"
    summary = (
        "where the tasks' time went and how long wakeups took, by perf record of all switches;"
        " root; only where it is named, as it costs time"
    )
    by_default = False
    simulated = ("time:",)
    meanings = tuple(
        Meaning(time_counter(state, role), Topic.CPU_TIME, f"{of}{words}")
        for state, words in _WORDS.items()
        for role, of in (("", ""), ("*", "{}: "))
    )

    def check(self, system: System) -> None:
        """Try it; Unavailable if this host cannot record these events, and why."""
        if system.which("perf") is None:
            raise Unavailable("perf is not installed (Debian package linux-perf)")
        if not system.is_root():
            raise Unavailable("only root may record the switches of all CPUs")
        done = system.capture(self.wrap(("true",), "/dev/null"))
        if done.returncode:
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            raise Unavailable(lines[0] if lines else "perf record failed and printed nothing")

    def wrap(self, argv: tuple[str, ...], file: str) -> tuple[str, ...]:
        """Return the command that records while `argv` runs."""
        events = ",".join(EVENTS)
        return ("perf", "record", "-q", "-a", "-m", _BUFFER, "-o", file, "-e", events, "--", *argv)

    def read(self, system: System, file: str, program: str, served: Mapping[int, str]) -> Counts:
        """Return the time of the program's tasks and its server's, while the program ran.

        `served` are the names of the server's tasks by their ids, as the program began.

        Raises:
            Unavailable: perf cannot read its file, or the program is not in it.
        """
        command = ("perf", "script", "--ns", "-F", "comm,tid,cpu,time,event,trace", "-i", file)
        done = system.capture(command, timeout=_READING_SECONDS)
        if done.returncode:
            raise Unavailable(f"perf script: {done.stderr.strip().partition(chr(10))[0]}")
        cpus = parse_cpulist(system.read(_ONLINE))
        counts = account(done.stdout.splitlines(), program, cpus, served)
        if not counts:
            raise Unavailable(f"task-time: {program} is not in what perf recorded")
        ran = counts.get(time_counter(RUNNING), 0.0)
        if ran > counts[MEASURED] * len(cpus) * _CLOCKS_APART:
            raise Unavailable(
                f"task-time: by what perf recorded the tasks ran {ran / 1e9:.3g} s in"
                f" {counts[MEASURED] / 1e9:.3g} s on {plural(len(cpus), 'CPU')}: switches were lost"
            )
        return counts


def tasks_of(system: System, root: int) -> dict[int, str]:
    """Return the names of all tasks of a process and of those it started, by their ids."""
    done = system.capture(("ps", "-eLo", "pid=,ppid=,tid=,comm="))
    rows = [line.split(None, 3) for line in done.stdout.splitlines()]
    tasks = [(int(pid), int(parent), int(tid), " ".join(name)) for pid, parent, tid, *name in rows]
    family, size = {root}, 0
    while len(family) > size:
        size = len(family)
        family |= {pid for pid, parent, _, _ in tasks if parent in family}
    return {tid: name.strip() for pid, _, tid, name in tasks if pid in family}


class _Event(NamedTuple):
    cpu: int
    ns: int
    name: str
    text: str


# A task that has ended is `:-1 -1` when it is switched away from.
_LINE = re.compile(r"^.*?\s+-?\d+\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+): (.*)$")
_SWITCH = re.compile(
    r"prev_comm=(.*) prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==>"
    r" next_comm=(.*) next_pid=(\d+) next_prio="
)
_EXEC = re.compile(r"filename=(.*) pid=(\d+) old_pid=\d+")
_FORK = re.compile(r"comm=.* pid=(\d+) child_comm=(.*) child_pid=(\d+)")
_WAKE = re.compile(r"comm=.* pid=(\d+) prio=-?\d+.* target_cpu=(\d+)")
_MOVE = re.compile(r"comm=.* pid=(\d+) prio=-?\d+ orig_cpu=\d+ dest_cpu=(\d+)")


@dataclass
class _Task:
    role: str
    state: str
    since: int
    idle_before: int = 0
    woken: int | None = None
    """Since when it is being woken, or waits for its CPU after that."""
    ns: Counts = field(default_factory=dict)

    def spend(self, state: str, until: int) -> None:
        self.ns[state] = self.ns.get(state, 0.0) + max(0, until - self.since)
        self.since = max(self.since, until)


class _Trace:
    """The tasks of a program, and which CPUs are idle, as events go by."""

    def __init__(self, program: str, idle: Iterable[int], served: Mapping[int, str]) -> None:
        """Take the program's name, the server's tasks, and which CPUs are idle at first."""
        self._served = served
        self._program = PurePath(program).name
        self._root = 0
        self._alive: dict[int, _Task] = {}
        self._ended: list[_Task] = []
        self._waits: list[int] = []
        """How long tasks waited, from waking to running."""
        self._idles = set(idle)
        """CPUs that run their idle task."""
        self._free = set(idle)
        """Those of them to which no task is on its way."""
        self._idle_ns = self._now = self._began = self._over = 0

    def see(self, event: _Event) -> None:
        """Account the time up to an event, and take it in."""
        if self._over:
            return
        if self._free:
            self._idle_ns += max(0, event.ns - self._now)
        self._now = max(self._now, event.ns)
        handler = getattr(self, f"_on_{event.name}", None)
        if handler:
            handler(event)

    def counts(self) -> Counts:
        """Return the counters; none if the program was not seen."""
        if not self._root:
            return {}
        for tid in list(self._alive):
            self._end(tid)
        measured = float((self._over or self._now) - self._began)
        found: Counts = {MEASURED: measured, **of_waits(self._waits)}
        for task in self._ended:
            gone = max(0.0, measured - sum(task.ns.values()))
            for state, ns in (*task.ns.items(), (GONE, gone)):
                for counter in (time_counter(state), time_counter(state, task.role)):
                    found[counter] = found.get(counter, 0.0) + ns
        return found

    def _on_sched_process_exec(self, event: _Event) -> None:
        found = _EXEC.match(event.text)
        if found and not self._root and PurePath(found[1]).name == self._program:
            self._root, self._began = int(found[2]), event.ns
            self._alive[self._root] = _Task(self._program, RUNNING, event.ns)
            # Nobody asks it yet: what they do before their next event is taken as sleep.
            for tid, name in self._served.items():
                self._alive[tid] = _Task(name, ASLEEP, event.ns)

    def _on_sched_process_fork(self, event: _Event) -> None:
        found = _FORK.match(event.text)
        if found and int(found[1]) in self._alive:
            self._alive[int(found[3])] = _Task(found[2], WAKING, event.ns)

    def _on_sched_waking(self, event: _Event) -> None:
        found = _WAKE.match(event.text)
        task = self._alive.get(int(found[1])) if found else None
        if task and task.state in (ASLEEP, ASLEEP_IO):
            self._settle(task)
            task.state, task.woken = WAKING, self._now

    def _on_sched_wakeup(self, event: _Event) -> None:
        found = _WAKE.match(event.text)
        if not found:
            return
        cpu = int(found[2])
        task = self._alive.get(int(found[1]))
        if task and task.state != RUNNING:
            self._queue(task, cpu)
        self._free.discard(cpu)

    _on_sched_wakeup_new = _on_sched_wakeup

    def _on_sched_migrate_task(self, event: _Event) -> None:
        found = _MOVE.match(event.text)
        task = self._alive.get(int(found[1])) if found else None
        if found and task and task.state == WAIT_BUSY:
            self._queue(task, int(found[2]))

    def _on_sched_switch(self, event: _Event) -> None:
        found = _SWITCH.match(event.text)
        if not found:
            return
        previous, following, cpu = int(found[2]), int(found[5]), event.cpu
        self._idles.discard(cpu)
        self._free.discard(cpu)
        if following == 0:
            self._idles.add(cpu)
            self._free.add(cpu)
        if task := self._alive.get(previous):
            task.role = found[1]
            self._stop(previous, task, found[3], cpu)
        if task := self._alive.get(following):
            self._settle(task)
            task.role, task.state = found[4], RUNNING
            if task.woken is not None:
                self._waits.append(self._now - task.woken)
                task.woken = None

    def _stop(self, tid: int, task: _Task, why: str, cpu: int) -> None:
        self._settle(task)
        if why[0] in "XZ":
            self._end(tid)
        elif why[0] == "R":
            self._queue(task, cpu)
        else:
            task.state = ASLEEP_IO if why[0] == "D" else ASLEEP

    def _queue(self, task: _Task, cpu: int) -> None:
        self._settle(task)
        task.state = WAKING if cpu in self._idles else WAIT_BUSY
        task.idle_before = self._idle_ns

    def _settle(self, task: _Task) -> None:
        if task.state == WAIT_BUSY:
            idle = min(self._idle_ns - task.idle_before, self._now - task.since)
            task.spend(WAIT_IDLE, task.since + idle)
            task.idle_before = self._idle_ns
        task.spend(task.state, self._now)

    def _end(self, tid: int) -> None:
        task = self._alive.pop(tid)
        self._settle(task)
        self._ended.append(task)
        if tid == self._root:
            self._over = self._now


def account(
    lines: Iterable[str], program: str, cpus: Iterable[int], served: Mapping[int, str]
) -> Counts:
    """Return where the time of a program's tasks, and its server's, went, from perf's lines."""
    events = list(_events(lines))
    trace = _Trace(program, _idle_at_first(events, cpus), served)
    for event in events:
        trace.see(event)
    return trace.counts()


def _idle_at_first(events: Iterable[_Event], cpus: Iterable[int]) -> set[int]:
    """Return the CPUs that leave idle before anything else, or never do anything."""
    idle, seen = set(cpus), set()
    for event in events:
        found = _SWITCH.match(event.text) if event.name == "sched_switch" else None
        if found and event.cpu not in seen:
            seen.add(event.cpu)
            if int(found[2]):
                idle.discard(event.cpu)
    return idle


def _events(lines: Iterable[str]) -> Iterator[_Event]:
    for line in lines:
        if found := _LINE.match(line):
            ns = int(found[2]) * 1_000_000_000 + int(found[3])
            yield _Event(int(found[1]), ns, found[4], found[5])
