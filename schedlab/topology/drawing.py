"""A machine as text: its topology as a tree, NUMA distances, frequencies and idle states.

Groups that look like the one drawn before them are folded, so that a machine of hundreds of CPUs
still fits a screen.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.machine import Cpu, Level, Machine

_CANONICAL: tuple[Level, ...] = ("package", "node", "llc", "cluster", "core")
_LABELS = {"package": "package", "node": "node", "llc": "LLC", "cluster": "cluster"}
_WIDTH = 96
_FULL_SIZE = 64
"""Up to this many CPUs nothing is folded."""


def draw(machine: Machine) -> str:
    """Give the whole drawing."""
    parts = [_heading(machine), _topology(machine), _distances(machine)]
    parts += [_cpus(machine), _idle_states(machine)]
    return "\n\n".join(part for part in parts if part)


def counts(machine: Machine) -> str:
    """Count what the machine has: `256 CPUs, 128 cores of 2 threads, 16 LLCs, ...`."""
    cores = machine.groups("core")
    threads = _threads(machine)
    smt = f" of {'-'.join(str(n) for n in threads)} threads" if threads != [1] else ""
    parts = [_plural(machine.nr_cpus, "CPU"), _plural(len(cores), "core") + smt]
    parts += [
        _plural(len(machine.groups(level)), _LABELS[level])
        for level in ("cluster", "llc", "node", "package")
        if getattr(machine.topology, level)
    ]
    return ", ".join(parts)


def _threads(machine: Machine) -> list[int]:
    """Give the numbers of threads cores have; mostly one number."""
    return sorted({len(core) for core in machine.groups("core")})


def _heading(machine: Machine) -> str:
    title = f": {machine.title}" if machine.title else ""
    memory = f"{machine.memory_gib} GiB memory" if machine.memory_gib else ""
    about = ", ".join(part for part in (machine.arch, memory) if part)
    return "\n".join(part for part in (f"{machine.name}{title}", about, counts(machine)) if part)


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
    told = [
        level
        for level in _CANONICAL
        if getattr(machine.topology, level) and (level != "core" or _threads(machine) != [1])
    ]
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
    memory = machine.topology.node_memory_mib
    for index, number in enumerate(machine.topology.node_numbers or range(len(lists))):
        yield number, _mib(memory[index]) if memory else "", lists[index]


def _llc_size(machine: Machine) -> str:
    """Give the size of the last-level cache, where all have one size."""
    sizes = {kind.size for kind in machine.cache.last_level()}
    return (sizes.pop() or "") if len(sizes) == 1 else ""


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
    rows = machine.topology.distance
    if len(rows) < 2:
        return ""
    numbers = machine.topology.node_numbers or range(len(rows))
    table = [["node", *(str(number) for number in numbers)]]
    table += [
        [str(number), *(str(distance) for distance in row)]
        for number, row in zip(numbers, rows, strict=True)
    ]
    return "NUMA distances\n" + _table(table)


def _cpus(machine: Machine) -> str:
    if not any(cpu.max_mhz or cpu.opp for cpu in machine.cpu) and len(machine.cpu) < 2:
        return ""
    table = [["CPUs", "capacity", "changed by", "MHz"]]
    for cpu in machine.cpu:
        mhz = _mhz(cpu)
        changed_by = cpu.shared_by or "all together"
        table.append([cpu.cpus, str(cpu.capacity or ""), changed_by if mhz else "", mhz])
    return "CPUs\n" + _table(table, left=(0, 2, 3))


def _mhz(cpu: Cpu) -> str:
    if cpu.opp:
        return " ".join(f"{point.mhz:g}" for point in cpu.opp)
    return " to ".join(f"{mhz:g}" for mhz in (cpu.min_mhz, cpu.max_mhz) if mhz)


def _idle_states(machine: Machine) -> str:
    if not machine.idle.state:
        return ""
    table = [["state", "latency", "residency", "CPUs", "description"]]
    table += [
        [state.name, state.latency, state.residency, state.cpus or "all", state.desc]
        for state in machine.idle.state
    ]
    governor = f", governor {machine.idle.governor}" if machine.idle.governor else ""
    return f"Idle states{governor}\n" + _table(table, left=(0, 3, 4))


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


def _mib(mib: int) -> str:
    if not mib:
        return "no memory"
    return f"{mib / 1024:.0f} GiB" if mib >= 1024 else f"{mib} MiB"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
