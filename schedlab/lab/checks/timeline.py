"""Which task ran, waited and slept when, and which CPU was idle: the meaning of a trace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schedlab.lab.ftrace import Event

USUAL = ("sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task")
"""The events that a timeline is made of."""
_KERNELS_PIDS = 4_000_000
"""The kernel's own threads have pids from 4194303 down (docs/internals/engine.md)."""
_INIT_PID = 1
"""The simulator's own task, which starts those of the scenario."""
_NAME_BYTES = 15


@dataclass(eq=False)
class Task:
    """A task as the trace shows it."""

    pid: int
    name: str
    cpu: int = 0
    state: Literal["asleep", "waiting", "running"] = "asleep"
    since: int = 0
    woken: bool = False
    """It waits because it was woken, not because it was preempted."""
    prio: int = 120
    """The kernel's number: below 0 deadline, below 100 real-time, 120 is nice 0."""
    stays: list[tuple[int, int]] = field(default_factory=list)
    """Where it has waited since it began to wait: CPUs, and from when on."""

    @property
    def outside(self) -> bool:
        """Whether it is not of the scenario: one of the kernel's threads, or what starts tasks."""
        return self.pid >= _KERNELS_PIDS or self.pid == _INIT_PID

    def waits_on(self, end: int) -> int:
        """Return the CPU on whose queue it was longest in a wait that ends at a moment."""
        ends = [*(since for _, since in self.stays[1:]), end]
        lengths = [
            (until - since, cpu) for (cpu, since), until in zip(self.stays, ends, strict=True)
        ]
        return max(lengths)[1] if lengths else self.cpu


class Watcher:
    """Takes what happens in a run, in order; this one looks away.

    `problems` are what it found, with the moment each began.
    """

    def __init__(self) -> None:
        self.problems: list[tuple[int, str]] = []

    def found(self, time: int, what: str) -> None:
        """Keep a problem."""
        self.problems.append((time, what))

    def event(self, event: Event) -> None:
        """Handle any event."""

    def begins(self, task: Task, cpu: int, time: int) -> None:
        """Handle a task that begins to run."""

    def ran(self, task: Task, cpu: int, begin: int, end: int) -> None:
        """Handle a task that ran on a CPU."""

    def waits(self, task: Task, time: int) -> None:
        """Handle a task that begins to wait for a CPU."""

    def waited(self, task: Task, begin: int, end: int) -> None:
        """Handle a task that waited for a CPU; it runs now, or the run is over."""

    def idles(self, cpu: int, time: int) -> None:
        """Handle a CPU that becomes idle."""

    def idled(self, cpu: int, begin: int, end: int) -> None:
        """Handle a CPU that was idle; it is not any more, or the run is over."""

    def moved(self, task: Task, origin: int, cpu: int, time: int) -> None:
        """Handle a task that moved to another CPU."""

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        """Handle the end of the run and the simulator's result."""


class Timeline:
    """Follows the events of a run and reports to the watchers what they mean."""

    def __init__(self, cpus: int, watchers: Sequence[Watcher]) -> None:
        self.tasks: dict[int, Task] = {}
        self.running: list[Task | None] = [None] * cpus
        self.idle_since: list[int | None] = [0] * cpus
        self._watchers = watchers
        self._time = 0

    def follow(self, events: Iterable[Event]) -> None:
        """Take the events of a run."""
        for event in events:
            self._time = event.time
            match event.name:
                case "sched_switch":
                    self._switch(event)
                case "sched_wakeup" | "sched_wakeup_new":
                    self._woken(event)
                case "sched_migrate_task":
                    self._migrated(event)
            for watcher in self._watchers:
                watcher.event(event)

    def end(self, result: Mapping[str, Any]) -> int:
        """End the run; what is under way ends with it. Return when that was."""
        time = max(self._time, round(float(result.get("window_s", 0)) * 1e9))
        for cpu, task in enumerate(self.running):
            if task:
                self._ran(task, cpu, time)
            self._end_idle(cpu, time)
        for task in self.tasks.values():
            if task.state == "waiting":
                self._waited(task, time)
        for watcher in self._watchers:
            watcher.ended(time, result)
        return time

    def _task(self, pid: str, name: str, prio: str) -> Task:
        number = int(pid)
        task = self.tasks.get(number)
        if task is None:
            task = self.tasks[number] = Task(number, name)
        task.name, task.prio = name[:_NAME_BYTES], int(prio)
        return task

    def _switch(self, event: Event) -> None:
        fields, cpu, time = event.fields, event.cpu, event.time
        if fields["prev_pid"] != "0":
            before = self._task(fields["prev_pid"], fields["prev_comm"], fields["prev_prio"])
            if before.state == "running":
                self._ran(before, cpu, time)
            before.state, before.since, before.woken = "asleep", time, False
            if fields["prev_state"].startswith("R"):
                self._wait(before, cpu, time, woken=False)
        self.running[cpu] = None
        if fields["next_pid"] == "0":
            if self.idle_since[cpu] is None:
                self.idle_since[cpu] = time
                for watcher in self._watchers:
                    watcher.idles(cpu, time)
            return
        self._end_idle(cpu, time)
        after = self._task(fields["next_pid"], fields["next_comm"], fields["next_prio"])
        if after.state == "waiting":
            self._waited(after, time)
        after.state, after.since, after.cpu = "running", time, cpu
        self.running[cpu] = after
        for watcher in self._watchers:
            watcher.begins(after, cpu, time)

    def _woken(self, event: Event) -> None:
        fields = event.fields
        task = self._task(fields["pid"], fields["comm"], fields["prio"])
        if task.state == "asleep":
            self._wait(task, int(fields["target_cpu"]), event.time, woken=True)

    def _migrated(self, event: Event) -> None:
        fields = event.fields
        task = self._task(fields["pid"], fields["comm"], fields["prio"])
        task.cpu = int(fields["dest_cpu"])
        if task.state == "waiting":
            task.stays.append((task.cpu, event.time))
        for watcher in self._watchers:
            watcher.moved(task, int(fields["orig_cpu"]), task.cpu, event.time)

    def _wait(self, task: Task, cpu: int, time: int, woken: bool) -> None:
        task.state, task.since, task.cpu, task.woken = "waiting", time, cpu, woken
        task.stays = [(cpu, time)]
        for watcher in self._watchers:
            watcher.waits(task, time)

    def _waited(self, task: Task, time: int) -> None:
        for watcher in self._watchers:
            watcher.waited(task, task.since, time)

    def _ran(self, task: Task, cpu: int, time: int) -> None:
        for watcher in self._watchers:
            watcher.ran(task, cpu, task.since, time)

    def _end_idle(self, cpu: int, time: int) -> None:
        since = self.idle_since[cpu]
        if since is None:
            return
        self.idle_since[cpu] = None
        for watcher in self._watchers:
            watcher.idled(cpu, since, time)
