"""No task waits while a CPU that it may use is idle."""

from collections.abc import Iterator
from typing import ClassVar

from schedlab.base.cpulist import parse_cpulist
from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task
from schedlab.lab.ftrace import Event

_AFFINITY = "schedlab:cpus_allowed"
_REAL_TIME = 100
"""Tasks below this priority are real-time, below 0 deadline tasks."""


class WorkConservation(OfTasks):
    """No task waits for a CPU for longer than `waits` while one is idle for longer than `idle`."""

    kind: ClassVar = "work-conservation"
    meaning: ClassVar = "no task waits longer than X while a CPU it may use is idle longer than Y"

    waits: Time
    idle: Time | None = None
    since: Time = 0
    """Of the scenario: what happens earlier does not count."""

    @property
    def events(self) -> tuple[str, ...]:
        """The tracepoint that shows the CPUs a task may use."""
        return (_AFFINITY,)

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Waiting(self, given)


class _Affinity:
    """Which CPUs each task may use, and since when, as the trace shows it."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._masks: dict[int, list[tuple[int, frozenset[int]]]] = {}

    def event(self, event: Event) -> None:
        """Take what the CPUs of a task are from now on."""
        cpus = frozenset(parse_cpulist(event.fields["cpus"]))
        self._masks.setdefault(int(event.fields["pid"]), []).append((event.time, cpus))

    def allows(self, task: Task, cpu: int, time: int) -> bool:
        """Return whether a task may use a CPU at a moment, which has to be on-line."""
        last = None
        for since, cpus in self._masks.get(task.pid, []):
            if since <= time or last is None:
                last = cpus
        return (last is None or cpu in last) and cpu not in self._given.offline(time)

    def allowed_later(self, task: Task, cpu: int, begin: int, end: int) -> int | None:
        """Return the first moment of a time at which a task may use a CPU."""
        changes = [since for since, _ in self._masks.get(task.pid, [])]
        moments = {each for each in [*changes, *self._given.moments] if begin < each < end}
        return next((at for at in sorted({begin, *moments}) if self.allows(task, cpu, at)), None)


class _Waiting(TaskWatcher):
    def __init__(self, asked: WorkConservation, given: Given) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._given = given
        self._affinity = _Affinity(given)
        self._least_idle = asked.waits if asked.idle is None else asked.idle
        self._waiting: dict[int, Task] = {}
        self._idle: dict[int, int] = dict.fromkeys(range(given.machine.nr_cpus), 0)
        self._beside = {
            cpu: core if given.core_scheduling else frozenset({cpu})
            for core in given.groups("core")
            for cpu in core
        }
        """The CPUs that have to be idle for a CPU to count as idle."""

    def event(self, event: Event) -> None:
        if event.name == _AFFINITY.rpartition(":")[2]:
            self._affinity.event(event)

    def idles(self, cpu: int, time: int) -> None:
        self._idle[cpu] = time

    def idled(self, cpu: int, begin: int, end: int) -> None:
        for task in self._waiting.values():
            for which, since in self._idle_with(cpu):
                if end - since > self._least_idle:
                    self._weigh(task, task.since, which, since, end)
        self._idle.pop(cpu, None)

    def waits(self, task: Task, time: int) -> None:
        if self.mine(task) and not self._given.bounded(task.name):
            self._waiting[task.pid] = task

    def waited(self, task: Task, begin: int, end: int) -> None:
        if self._waiting.pop(task.pid, None) and end - begin > self._asked.waits:
            for cpu in self._idle:
                if (since := self._since(cpu)) is not None:
                    self._weigh(task, begin, cpu, since, end)

    def _since(self, cpu: int) -> int | None:
        """Return since when a CPU counts as idle."""
        beside = self._beside[cpu]
        return max(self._idle[each] for each in beside) if beside <= self._idle.keys() else None

    def _idle_with(self, cpu: int) -> Iterator[tuple[int, int]]:
        """Yield the CPUs that count as idle until one of them is not, and since when."""
        for each in self._beside[cpu]:
            if (since := self._since(each)) is not None:
                yield each, since

    def _weigh(self, task: Task, since: int, cpu: int, idle_since: int, end: int) -> None:
        """Judge a wait and an idle time that lasted together until one of the two ended."""
        if task.prio < (_REAL_TIME if self._given.limits_real_time else 0):
            return
        since, idle_since = max(since, self._asked.since), max(idle_since, self._asked.since)
        first = max(since + self._asked.waits, idle_since + self._least_idle)
        if end <= first:
            return
        both = max(since, idle_since)
        allowed = self._affinity.allowed_later(task, cpu, both, end)
        if allowed is not None and allowed > both:
            first = max(first, allowed + max(self._asked.waits, self._least_idle))
        if allowed is not None and end > first and self._affinity.allows(task, cpu, first):
            self.found(
                first,
                f"{task.name} waits since {written(since)} on CPU {task.waits_on(end)}, and CPU"
                f" {cpu} is idle since {written(idle_since)}, until {written(end)}",
            )
