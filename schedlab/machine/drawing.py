"""A machine as text: its topology as a tree, NUMA distances, frequencies and idle states.

Groups that look like the one drawn before them are folded, so that a machine of hundreds of CPUs
still fits a screen.
"""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from schedlab.base.cpulist import format_cpulist
from schedlab.base.words import plural
from schedlab.machine.levels import Level
from schedlab.machine.model import Cpu, Machine
from schedlab.machine.tree import WORDS, Group, named, nodes_without_cpus, threads, tree

_COUNTED: tuple[Level, ...] = ("cluster", "llc", "node", "package")
_WIDTH = 96
_FULL_SIZE = 64
"""Up to this many CPUs nothing is folded."""


def draw(machine: Machine) -> str:
    """Return the whole drawing."""
    parts = [outline(machine), _cpus(machine), _idle_states(machine)]
    return "\n\n".join(part for part in parts if part)


def outline(machine: Machine) -> str:
    """Return what it is, how its CPUs stand together, and how far its nodes are apart."""
    parts = [_heading(machine), _topology(machine), _distances(machine)]
    return "\n\n".join(part for part in parts if part)


def counts(machine: Machine) -> str:
    """Count what the machine has: `256 CPUs, 128 cores of 2 threads, 16 LLCs, ...`."""
    cores = machine.groups("core")
    of_core = threads(machine)
    smt = f" of {'-'.join(str(n) for n in of_core)} threads" if of_core != [1] else ""
    parts = [plural(machine.nr_cpus, "CPU"), plural(len(cores), "core") + smt]
    parts += [
        plural(len(machine.groups(level)), WORDS[level])
        for level in _COUNTED
        if getattr(machine.topology, level)
    ]
    return ", ".join(parts)


def _heading(machine: Machine) -> str:
    title = f": {machine.title}" if machine.title else ""
    memory = f"{machine.memory_gib} GiB memory" if machine.memory_gib else ""
    about = ", ".join(part for part in (machine.arch, memory) if part)
    notes = textwrap.fill(machine.notes, _WIDTH)
    parts = (f"{machine.name}{title}", about, counts(machine), notes)
    return "\n".join(part for part in parts if part)


def _topology(machine: Machine) -> str:
    lines = list(_drawn(tree(machine), "", fold=machine.nr_cpus > _FULL_SIZE))
    lines += [f"{named((node,))}: no CPU" for node in nodes_without_cpus(machine)]
    return "\n".join(lines)


def _drawn(groups: Sequence[Group], indent: str, fold: bool) -> Iterator[str]:
    """Draw groups; those with nothing inside stand in one line, those that look alike fold."""
    for _, run in groupby(groups, key=Group.shape):
        alike = list(run)
        if not alike[0].inner and len(alike) > 1:
            yield from _boxes(alike, indent)
            continue
        for index, group in enumerate(alike):
            folded = fold and index > 0
            inside = f" with {named(tuple(group.all_labels()))}" if folded and group.inner else ""
            yield f"{indent}{named(group.labels)}: CPUs {format_cpulist(group.cpus)}{inside}"
            if not folded:
                yield from _drawn(group.inner, f"{indent}  ", fold)


def _boxes(groups: Sequence[Group], indent: str) -> Iterator[str]:
    together = named(tuple(label for group in groups for label in group.labels))
    boxes = " ".join(f"[{format_cpulist(group.cpus)}]" for group in groups)
    yield from textwrap.wrap(
        f"{together}: {boxes}", _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
    )


def _distances(machine: Machine) -> str:
    rows = machine.topology.distance
    if len(rows) < 2:
        return ""
    numbers = machine.topology.node_numbers or range(len(rows))
    written = [["node", *(str(number) for number in numbers)]]
    written += [
        [str(number), *(str(distance) for distance in row)]
        for number, row in zip(numbers, rows, strict=True)
    ]
    return "NUMA distances\n" + table(written)


def _cpus(machine: Machine) -> str:
    if not any(cpu.max_mhz or cpu.opp for cpu in machine.cpu) and len(machine.cpu) < 2:
        return ""
    rows = [["CPUs", "capacity", "changed by", "governor", "MHz"]]
    for cpu in machine.cpu:
        mhz = _mhz(cpu)
        changed_by = cpu.shared_by or "all together" if mhz else ""
        rows.append([cpu.cpus, str(cpu.capacity or ""), changed_by, cpu.governor or "", mhz])
    return "CPUs\n" + table(rows, left=(0, 2, 3, 4))


def _mhz(cpu: Cpu) -> str:
    if cpu.opp:
        return " ".join(f"{point.mhz:g}" for point in cpu.opp)
    return " to ".join(f"{mhz:g}" for mhz in (cpu.min_mhz, cpu.max_mhz) if mhz)


def _idle_states(machine: Machine) -> str:
    if not machine.idle.state:
        return ""
    rows = [["state", "latency", "residency", "CPUs", "description"]]
    rows += [
        [state.name, state.latency, state.residency, state.cpus or "all", state.desc]
        for state in machine.idle.state
    ]
    governor = f", governor {machine.idle.governor}" if machine.idle.governor else ""
    return f"Idle states{governor}\n" + table(rows, left=(0, 3, 4))


def table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Write rows as columns; those not in `left` stand at the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  "
        + "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
