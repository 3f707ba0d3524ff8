"""A machine's topology as a tree of boxes, for those who draw it.

Levels of the same CPUs are one box. An LLC can hold nodes, a node can hold packages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.words import plural
from schedlab.machine.levels import Level
from schedlab.machine.model import Machine

_CANONICAL: tuple[Level, ...] = ("package", "node", "llc", "cluster", "core")
WORDS = {"package": "package", "node": "node", "llc": "LLC", "cluster": "cluster", "core": "core"}


@dataclass(frozen=True)
class Label:
    """What a box is: `node 3 (64 GiB)`."""

    level: Level
    number: int
    note: str


@dataclass(frozen=True)
class Group:
    """A box: one group, or several levels whose groups are the same CPUs."""

    labels: tuple[Label, ...]
    cpus: tuple[int, ...]
    inner: tuple["Group", ...]

    def shape(self) -> tuple[object, ...]:
        """Return what makes two groups look alike."""
        levels = tuple(label.level for label in self.labels)
        return levels, len(self.cpus), tuple(group.shape() for group in self.inner)

    def all_labels(self) -> Iterator[Label]:
        """Yield the labels of all groups inside."""
        for group in self.inner:
            yield from group.labels
            yield from group.all_labels()


def tree(machine: Machine) -> tuple[Group, ...]:
    """Return the outermost boxes; none where the machine has no level."""
    levels = _outermost_first(machine)
    labels = {level: _labels(machine, level) for level in levels}
    return _groups(levels, labels, frozenset(parse_cpulist(machine.cpus)))


def threads(machine: Machine) -> list[int]:
    """Return the numbers of threads cores have; mostly one number."""
    return sorted({len(core) for core in machine.groups("core")})


def nodes_without_cpus(machine: Machine) -> list[Label]:
    """Return the nodes that have only memory, which are in no box."""
    return [_node(number, note) for number, note, text in _nodes(machine) if not text]


def named(labels: Sequence[Label]) -> str:
    """Name groups together, level by level: `node 4-7 (64 GiB), LLC 8-15 (32 MiB)`."""
    names = []
    for level in dict.fromkeys(label.level for label in labels):
        of_level = [label for label in labels if label.level == level]
        if level == "core":
            names.append(plural(len(of_level), "core"))
            continue
        notes = {label.note for label in of_level}
        note = f" ({notes.pop()})" if len(notes) == 1 and "" not in notes else ""
        names.append(f"{WORDS[level]} {format_cpulist(x.number for x in of_level)}{note}")
    return ", ".join(names)


def _outermost_first(machine: Machine) -> list[Level]:
    levels = [
        level
        for level in _CANONICAL
        if getattr(machine.topology, level) and (level != "core" or threads(machine) != [1])
    ]
    return sorted(levels, key=lambda level: len(machine.groups(level)))


def _labels(machine: Machine, level: Level) -> dict[tuple[int, ...], Label]:
    groups = machine.groups(level)
    if level == "node":
        labels = [_node(number, note) for number, note, text in _nodes(machine) if text]
        return dict(zip(groups, labels, strict=True))
    note = _llc_size(machine) if level == "llc" else ""
    return {group: Label(level, number, note) for number, group in enumerate(groups)}


def _node(number: int, note: str) -> Label:
    return Label("node", number, note)


def _nodes(machine: Machine) -> Iterator[tuple[int, str, str]]:
    """Yield each node's number, its memory, and its CPUs."""
    lists = machine.topology.node
    memory = machine.topology.node_memory_mib
    for index, number in enumerate(machine.topology.node_numbers or range(len(lists))):
        yield number, _mib(memory[index]) if memory else "", lists[index]


def _mib(mib: int) -> str:
    if not mib:
        return "no memory"
    return f"{mib / 1024:.0f} GiB" if mib >= 1024 else f"{mib} MiB"


def _llc_size(machine: Machine) -> str:
    """Return the size of the last-level cache, where all have one size."""
    sizes = {kind.size for kind in machine.cache.last_level()}
    return (sizes.pop() or "") if len(sizes) == 1 else ""


def _groups(
    levels: Sequence[Level],
    labels: dict[Level, dict[tuple[int, ...], Label]],
    within: frozenset[int],
) -> tuple[Group, ...]:
    """Return the groups inside `within`, level by level; levels of the same CPUs become one box."""
    if not levels:
        return ()
    found: list[Group] = []
    for cpus, label in labels[levels[0]].items():
        if within.isdisjoint(cpus):
            continue
        same, deeper = [label], list(levels[1:])
        while deeper and cpus in labels[deeper[0]]:
            same.append(labels[deeper.pop(0)][cpus])
        inner = _groups(deeper, labels, frozenset(cpus))
        found.append(Group(tuple(same), cpus, inner))
    return tuple(found)
