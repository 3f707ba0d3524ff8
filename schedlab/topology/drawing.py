"""A machine as text: its topology as a tree, NUMA distances, idle states and frequencies.

Groups that look like the one drawn before them are folded, so that a machine of hundreds of CPUs
still fits a screen.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.machine import Cache, Frequency, Level, Machine

_CANONICAL: tuple[Level, ...] = ("package", "node", "llc", "cluster", "core")
_LABELS = {"package": "package", "node": "node", "llc": "LLC", "cluster": "cluster"}
_WIDTH = 96
_FULL_SIZE = 64
"""Up to this many CPUs nothing is folded."""


def draw(machine: Machine) -> str:
    """Give the whole drawing."""
    parts = [_heading(machine), _topology(machine), _distances(machine), _capacities(machine)]
    parts += [_idle_states(machine), _frequencies(machine)]
    return "\n\n".join(part for part in parts if part)


def counts(machine: Machine) -> str:
    """Count what the machine has: `256 CPUs, 128 cores of 2 threads, 16 LLCs, ...`."""
    cores = machine.groups("core")
    threads = sorted({len(core) for core in cores})
    smt = f" of {'-'.join(str(n) for n in threads)} threads" if threads != [1] else ""
    parts = [_plural(machine.nr_cpus, "CPU"), _plural(len(cores), "core") + smt]
    parts += [
        _plural(len(machine.groups(level)), _LABELS[level])
        for level in ("cluster", "llc", "node", "package")
        if getattr(machine.topology, level)
    ]
    return ", ".join(parts)


def _heading(machine: Machine) -> str:
    title = f": {machine.title}" if machine.title else ""
    return (
        f"{machine.name}{title}\n{machine.arch}, {machine.memory_gib} GiB memory\n{counts(machine)}"
    )


@dataclass(frozen=True)
class _Label:
    """What a box is: `node 3 (64 GiB)`."""

    level: Level
    number: int
    note: str

    def __str__(self) -> str:
        return _name((self,))


@dataclass(frozen=True)
class _Group:
    """A box of the drawing: one group, or several levels whose groups are the same CPUs."""

    labels: tuple[_Label, ...]
    cpus: tuple[int, ...]
    inner: tuple["_Group", ...]

    def shape(self) -> tuple[object, ...]:
        """Give what makes two groups look alike."""
        levels = tuple(label.level for label in self.labels)
        return levels, len(self.cpus), tuple(group.shape() for group in self.inner)

    def all_labels(self) -> Iterator[_Label]:
        """Give the labels of all groups inside."""
        for group in self.inner:
            yield from group.labels
            yield from group.all_labels()


def _topology(machine: Machine) -> str:
    levels = _outermost_first(machine)
    labels = {level: _labels(machine, level) for level in levels}
    roots = _groups(levels, labels, frozenset(parse_cpulist(machine.cpus)))
    lines = list(_drawn(roots, "", fold=machine.nr_cpus > _FULL_SIZE))
    lines += [
        f"{_Label('node', number, note)}: no CPU"
        for number, note, text in _nodes(machine)
        if not text
    ]
    return "\n".join(lines)


def _outermost_first(machine: Machine) -> list[Level]:
    """Order the levels from the outside in; an LLC can hold nodes, a node can hold packages."""
    told = [level for level in _CANONICAL if getattr(machine.topology, level)]
    return sorted(told, key=lambda level: len(machine.groups(level)))


def _labels(machine: Machine, level: Level) -> dict[tuple[int, ...], _Label]:
    groups = machine.groups(level)
    if level == "node":
        told = [_Label(level, number, note) for number, note, text in _nodes(machine) if text]
        return dict(zip(groups, told, strict=True))
    note = _llc_size(machine) if level == "llc" else ""
    return {group: _Label(level, number, note) for number, group in enumerate(groups)}


def _nodes(machine: Machine) -> Iterator[tuple[int, str, str]]:
    """Give each node's number, its memory, and its CPUs."""
    lists = machine.topology.node
    memory = machine.numa.memory_mib
    for index, number in enumerate(machine.numa.numbers or range(len(lists))):
        yield number, _mib(memory[index]) if memory else "", lists[index]


def _llc_size(machine: Machine) -> str:
    caches = [c for c in machine.cache if c.shared_by == "llc" and c.size_kib and not c.cpus]
    return _kib(caches[-1]) if caches else ""


def _groups(
    levels: Sequence[Level],
    labels: dict[Level, dict[tuple[int, ...], _Label]],
    within: frozenset[int],
) -> tuple[_Group, ...]:
    """Give the groups inside `within`, level by level; levels of the same CPUs become one box."""
    if not levels:
        return ()
    found: list[_Group] = []
    for cpus, label in labels[levels[0]].items():
        if within.isdisjoint(cpus):
            continue
        same, deeper = [label], list(levels[1:])
        while deeper and cpus in labels[deeper[0]]:
            same.append(labels[deeper.pop(0)][cpus])
        inner = _groups(deeper, labels, frozenset(cpus))
        found.append(_Group(tuple(same), cpus, inner))
    return tuple(found)


def _drawn(groups: Sequence[_Group], indent: str, fold: bool) -> Iterator[str]:
    """Draw groups; those with nothing inside stand in one line, those that look alike fold."""
    for _, run in groupby(groups, key=_Group.shape):
        alike = list(run)
        if not alike[0].inner and len(alike) > 1:
            yield from _boxes(alike, indent)
            continue
        for index, group in enumerate(alike):
            folded = fold and index > 0
            inside = f" with {_name(tuple(group.all_labels()))}" if folded and group.inner else ""
            yield f"{indent}{_name(group.labels)}: CPUs {format_cpulist(group.cpus)}{inside}"
            if not folded:
                yield from _drawn(group.inner, f"{indent}  ", fold)


def _boxes(groups: Sequence[_Group], indent: str) -> Iterator[str]:
    name = _name(tuple(label for group in groups for label in group.labels))
    boxes = " ".join(f"[{format_cpulist(group.cpus)}]" for group in groups)
    yield from textwrap.wrap(
        f"{name}: {boxes}", _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
    )


def _name(labels: Sequence[_Label]) -> str:
    """Name groups together, level by level: `node 4-7 (64 GiB), LLC 8-15 (32 MiB)`."""
    names = []
    for level in dict.fromkeys(label.level for label in labels):
        of_level = [label for label in labels if label.level == level]
        if level == "core":
            names.append(_plural(len(of_level), "core"))
            continue
        notes = {label.note for label in of_level}
        note = f" ({notes.pop()})" if len(notes) == 1 and "" not in notes else ""
        names.append(f"{_LABELS[level]} {format_cpulist(x.number for x in of_level)}{note}")
    return ", ".join(names)


def _distances(machine: Machine) -> str:
    rows = machine.numa.distances
    if len(rows) < 2:
        return ""
    numbers = machine.numa.numbers or range(len(rows))
    table = [["node", *(str(number) for number in numbers)]]
    table += [
        [str(number), *(str(distance) for distance in row)]
        for number, row in zip(numbers, rows, strict=True)
    ]
    return "NUMA distances\n" + _table(table)


def _capacities(machine: Machine) -> str:
    if len({entry.value for entry in machine.capacity}) < 2:
        return ""
    table = [["CPUs", "capacity"], *([entry.cpus, str(entry.value)] for entry in machine.capacity)]
    return "Capacities\n" + _table(table)


def _idle_states(machine: Machine) -> str:
    if not machine.idle:
        return ""
    table = [["CPUs", "state", "exit us", "residency us", "description"]]
    for entry in machine.idle:
        for index, state in enumerate(entry.states):
            cpus = "" if index else entry.cpus
            figures = [str(state.exit_us), str(state.residency_us)]
            table.append([cpus, state.name, *figures, state.desc])
    return "Idle states\n" + _table(table, left=(0, 1, 4))


def _frequencies(machine: Machine) -> str:
    if not machine.frequency:
        return ""
    table = [["CPUs", "changed by", "MHz"]]
    table += [
        [entry.cpus, entry.shared_by or "these together", _mhz(entry)]
        for entry in machine.frequency
    ]
    return "Frequencies\n" + _table(table, left=(0, 1, 2))


def _mhz(entry: Frequency) -> str:
    if entry.opps_khz:
        return " ".join(f"{khz / 1000:g}" for khz in entry.opps_khz)
    ends = [f"{khz / 1000:g}" for khz in (entry.min_khz, entry.max_khz) if khz]
    return " to ".join(ends)


def _table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  "
        + "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _kib(cache: Cache) -> str:
    size = cache.size_kib or 0
    return f"{size // 1024} MiB" if size % 1024 == 0 else f"{size} KiB"


def _mib(mib: int) -> str:
    if not mib:
        return "no memory"
    return f"{mib / 1024:.0f} GiB" if mib >= 1024 else f"{mib} MiB"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
