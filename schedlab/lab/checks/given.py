"""What a run's scenario and machine say of tasks and CPUs: limits, weights, hotplug."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import UsageError
from schedlab.benchmarks.rt_app_file import RtAppFile
from schedlab.kernels.built import Build
from schedlab.lab.checks.text import KINDS, nanoseconds
from schedlab.machine.levels import Level
from schedlab.machine.model import Machine

_NICE_STEP = 1.25
"""A nice level's share of the next one's, as kernel/sched has it."""
_WEIGHT = 1024.0
_IDLE_WEIGHT = 3.0
"""Of a task of the policy `idle`, whatever its nice level is."""
_COMES_BACK_NS = 20_000_000
"""A CPU that comes back is on-line, and in its domains, by then."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """The machine and the scenario of a run, as its expectations ask about them."""

    machine: Machine
    scenario: Json
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Of a benchmark: what the simulator's result calls each."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Where the files are that the scenario's workloads name, if elsewhere."""
    build: Build | None = None
    """The simulator, with the events that it can trace."""

    def cpus(self, named: str) -> frozenset[int]:
        """Return the CPUs of a list, or of a kind.

        Raises:
            UsageError: the machine has not all of them, or its CPUs are all of one kind.
        """
        if named in KINDS:
            return self._of_kind(named)
        cpus = frozenset(parse_cpulist(named))
        if max(cpus) >= self.machine.nr_cpus:
            raise UsageError(
                f"{self.machine.name} has CPUs 0 to {self.machine.nr_cpus - 1}, not {named}"
            )
        return cpus

    def groups(self, level: Level) -> list[frozenset[int]]:
        """Return the sets of CPUs that share a core, a cache, a node or a package."""
        return [frozenset(group) for group in self.machine.groups(level)]

    def offline(self, time: int) -> frozenset[int]:
        """Return the CPUs that are off-line at a moment, or about to go or to come."""
        return frozenset(self._gone(time))

    @cached_property
    def moments(self) -> list[int]:
        """The moments at which CPUs go, and at which those that come back are there."""
        return [at + later for at, _ in self._actions for later in (0, _COMES_BACK_NS + 1)]

    def weight(self, name: str, time: int = 0) -> float:
        """Return a task's weight at a moment, by its policy and nice level."""
        now = dict(self._entry(name) or {})
        for at, action in self._actions:
            if at <= time and "task" in action and fnmatchcase(name, action["task"]):
                now |= {key: action[key] for key in ("policy", "nice") if key in action}
        if now.get("policy") == "idle":
            return _IDLE_WEIGHT
        return float(_WEIGHT / _NICE_STEP ** int(now.get("nice", 0)))

    @cached_property
    def weights_change(self) -> list[int]:
        """The moments at which actions give tasks another policy or nice level, in order."""
        return [at for at, action in self._actions if action.keys() & {"policy", "nice"}]

    @cached_property
    def core_scheduling(self) -> bool:
        """Whether tasks have cookies: a CPU may have to stay idle beside its sibling's task."""
        entries = [*self.scenario.get("tasks", []), *self.scenario.get("workloads", [])]
        return "core_sched" in self.scenario or any("cookie" in each for each in entries)

    @cached_property
    def limits_real_time(self) -> bool:
        """Whether real-time tasks have a limit that leaves CPUs idle, as before 6.12."""
        return self.build is not None and _number(self.build.series) < (6, 12)

    def bounded(self, name: str) -> bool:
        """Return whether a bandwidth limit may at any time keep a task from CPUs that are idle."""
        limited = [
            each["path"]
            for each in self.scenario.get("groups", [])
            if str(each.get("cpu.max", "max")).split()[0] != "max"
        ]
        groups = set(self._groups_of(name))
        for _, action in self._actions:
            if "group" in action and fnmatchcase(name, action["task"]):
                groups.add(action["group"])
            path, _, file = str(action.get("write", "")).rpartition("/")
            if file == "cpu.max" and str(action.get("value", "max")).split()[0] != "max":
                limited.append(path.removeprefix("/sys/fs/cgroup"))
        return any(f"{group}/".startswith(f"{path}/") for group in groups for path in limited)

    def _groups_of(self, name: str) -> Iterator[str]:
        """Yield the groups that a task is in, or may be in: its workload is not known."""
        entry = self._entry(name)
        if entry is not None:
            yield entry.get("group", "/")
            return
        for workload in self.scenario.get("workloads", []):
            yield workload.get("group", "/")
        for file in self._rt_app_files:
            yield from (str(group) for group in file.values(name, "taskgroup"))

    def _entry(self, name: str) -> Json | None:
        """Return the scenario's entry of a task: its own name, or with a number behind it."""
        for task in self.scenario.get("tasks", []):
            base = str(task.get("name", "task"))
            count = task.get("count", 1)
            number = name.removeprefix(base[:9])
            numbered = count > 1 and number != name and number.isdecimal()
            if name == base[:_SHOWN] or (numbered and 1 <= int(number) <= count):
                return dict(task)
        return None

    @cached_property
    def _rt_app_files(self) -> list[RtAppFile]:
        named = [
            each["file"]
            for each in self.scenario.get("workloads", [])
            if each.get("kind") == "rt-app" and "file" in each
        ]
        return [RtAppFile(str(self.files.get(file, file))) for file in named]

    def _of_kind(self, named: str) -> frozenset[int]:
        capacity = {
            cpu: entry.capacity or 1024
            for entry in self.machine.cpu
            for cpu in parse_cpulist(entry.cpus)
        }
        if len(set(capacity.values())) < 2:
            raise UsageError(f"{self.machine.name}: all CPUs have one capacity; none is {named}")
        wanted = max(capacity.values()) if named == "biggest" else min(capacity.values())
        return frozenset(cpu for cpu, value in capacity.items() if value == wanted)

    @cached_property
    def _actions(self) -> list[tuple[int, Json]]:
        timed = [(_at(each), each) for each in self.scenario.get("actions", [])]
        return sorted(timed, key=lambda pair: pair[0])

    def _gone(self, time: int) -> set[int]:
        away: set[int] = set()
        for at, action in self._actions:
            if at > time:
                break
            if "offline" in action:
                away.add(action["offline"])
            if "online" in action and time > at + _COMES_BACK_NS:
                away.discard(action["online"])
        return away


_SHOWN = 15
"""Characters of a task's name that the kernel keeps."""


def _number(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))


def _at(action: Json) -> int:
    found = nanoseconds(action.get("at"))
    assert isinstance(found, int)
    return found
