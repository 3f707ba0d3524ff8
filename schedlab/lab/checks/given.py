"""What a run's scenario and machine say of tasks and CPUs: who may run where, with what weight."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import UsageError
from schedlab.lab.checks.text import KINDS, nanoseconds
from schedlab.machine.levels import Level
from schedlab.machine.model import Machine

_NICE_STEP = 1.25
"""A nice level's share of the next one's, as kernel/sched has it."""
_WEIGHT = 1024.0
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

    def allowed(self, name: str, time: int) -> frozenset[int]:
        """Return the CPUs that a task may use at a moment; those off-line are not among them."""
        mask = self._first_mask(name)
        for at, action in self._actions:
            if at > time:
                break
            if "affinity" in action and fnmatchcase(name, action["task"]):
                mask = frozenset(parse_cpulist(action["affinity"]))
        return mask - self._offline(time)

    def allowed_later(self, name: str, cpu: int, begin: int, end: int) -> int | None:
        """Return the first moment of a time at which a task may use a CPU, and goes on to."""
        moments = [at + later for at, _ in self._actions for later in (0, _COMES_BACK_NS + 1)]
        for moment in sorted({begin, *(each for each in moments if begin < each < end)}):
            if cpu in self.allowed(name, moment):
                return moment
        return None

    def weight(self, name: str) -> float:
        """Return the weight of a task's nice level as the scenario begins."""
        entry = self._entry(name) or {}
        return float(_WEIGHT / _NICE_STEP ** int(entry.get("nice", 0)))

    def bounded(self, name: str) -> bool:
        """Return whether a bandwidth limit may at any time keep a task from CPUs that are idle."""
        entry = self._entry(name) or {}
        if entry.get("policy") == "deadline":
            return True
        groups = [entry.get("group", "/")]
        limited = [
            each["path"]
            for each in self.scenario.get("groups", [])
            if str(each.get("cpu.max", "max")).split()[0] != "max"
        ]
        for _, action in self._actions:
            if "group" in action and fnmatchcase(name, action["task"]):
                groups.append(action["group"])
            path, _, file = str(action.get("write", "")).rpartition("/")
            if file == "cpu.max" and str(action.get("value", "max")).split()[0] != "max":
                limited.append(path.removeprefix("/sys/fs/cgroup"))
        return any(f"{group}/".startswith(f"{path}/") for group in groups for path in limited)

    def _entry(self, name: str) -> Json | None:
        """Return the scenario's entry of a task: its own name, or with a number behind it."""
        for task in self.scenario.get("tasks", []):
            base = str(task.get("name", "task"))
            count = task.get("count", 1)
            number = name.removeprefix(base[:9])
            numbered = count > 1 and number != name and number.isdecimal()
            if name == base[:15] or (numbered and 1 <= int(number) <= count):
                return dict(task)
        return None

    def _first_mask(self, name: str) -> frozenset[int]:
        entry = self._entry(name)
        if entry is None and len(self.scenario.get("workloads", [])) == 1:
            entry = self.scenario["workloads"][0]
        mask = self._everywhere
        if entry and "affinity" in entry:
            mask = frozenset(parse_cpulist(entry["affinity"]))
        elif isolated := self.scenario.get("boot", {}).get("isolcpus"):
            mask -= frozenset(parse_cpulist(isolated))
        group = (entry or {}).get("group", "")
        for each in self.scenario.get("groups", []):
            inside = f"{group}/".startswith(f"{each['path']}/")
            if inside and each.get("cpuset.cpus"):
                mask &= frozenset(parse_cpulist(each["cpuset.cpus"]))
        return mask

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
    def _everywhere(self) -> frozenset[int]:
        return frozenset(range(self.machine.nr_cpus))

    @cached_property
    def _actions(self) -> list[tuple[int, Json]]:
        timed = [(_at(each), each) for each in self.scenario.get("actions", [])]
        return sorted(timed, key=lambda pair: pair[0])

    def _offline(self, time: int) -> frozenset[int]:
        return frozenset(self._gone(time))

    def _gone(self, time: int) -> Iterator[int]:
        """Yield the CPUs that are off-line, or about to go or to come."""
        away: set[int] = set()
        for at, action in self._actions:
            if at > time:
                break
            if "offline" in action:
                away.add(action["offline"])
            if "online" in action and time > at + _COMES_BACK_NS:
                away.discard(action["online"])
        yield from away


def _at(action: Json) -> int:
    found = nanoseconds(action.get("at"))
    assert isinstance(found, int)
    return found
