"""A machine as SVG: boxes within boxes, down to each CPU; and the domains a CPU balances over.

Colours come from the page's style sheet, by class; sizes are those of the text inside.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from math import ceil

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.machine.domains import Domain
from schedlab.machine.model import Machine
from schedlab.machine.tree import Group, named, tree

_CPU_HEIGHT = 16
_DIGIT = 6
"""The width of a digit of a CPU's number, at the style sheet's size of text."""
_LETTER = 5.6
_TITLE = 15
_GAP = 3
_SHAPE = 2.0
"""Boxes are about this much wider than high."""
_HOLES = 5
"""How much a row with empty places is worse than another shape."""
_WIDEST = 1180
_NAMES = 120
"""The width of the domains' names, left of their bars."""
_BAR, _LINE = 14, 24
"""The height of a domain's bar, and of its line."""
_SMALLEST = 600
"""A drawing less wide than this is magnified, at most twice."""
_FULL = 0.6
"""The opacity of a CPU of full capacity; its number has to stay readable."""


@dataclass(frozen=True)
class _Box:
    """Something placed: its size and the SVG inside, drawn from its own corner."""

    width: float
    height: float
    inside: str

    def at(self, x: float, y: float) -> str:
        """Return it at a place."""
        return f'<g transform="translate({x:g} {y:g})">{self.inside}</g>'


def topology(machine: Machine) -> str:
    """Draw a machine's boxes; a CPU is the paler, the smaller its capacity."""
    capacity = {
        cpu: entry.capacity
        for entry in machine.cpu
        if entry.capacity
        for cpu in parse_cpulist(entry.cpus)
    }
    cpus = parse_cpulist(machine.cpus)
    cell = max(len(str(cpus[-1])) * _DIGIT + 6, 16)
    roots = [_group(group, cell, capacity) for group in tree(machine)]
    whole = _grid(roots or [_cpus(cpus, cell, capacity)], _SHAPE)
    return _svg(whole, f"The topology of {machine.name}", "CPUs in their cores, caches and nodes")


def domains(of_cpu: Sequence[Domain], machine: Machine) -> str:
    """Draw the domains of one CPU: a line for each, its groups over the CPUs of the machine."""
    order = {cpu: place for place, cpu in enumerate(_in_order(machine))}
    step = (_WIDEST - _NAMES) / len(order)
    lines = [
        _Box(_WIDEST, _LINE, "".join(_domain(domain, order, step))) for domain in reversed(of_cpu)
    ]
    height = _LINE * len(lines)
    body = "".join(line.at(0, _LINE * index) for index, line in enumerate(lines))
    here = _NAMES + (order[of_cpu[0].cpu] + 0.5) * step
    body += f'<path class="here" d="M{here:g} 0V{height}"/>'
    title = f"The scheduling domains of CPU {of_cpu[0].cpu}"
    words = "; ".join(
        f"{domain.name} spans CPUs {domain.files['span']} in {len(domain.groups)} groups"
        for domain in of_cpu
    )
    return _svg(_Box(_WIDEST, height, body), title, words)


def _domain(domain: Domain, order: Mapping[int, int], step: float) -> Iterator[str]:
    yield f'<text x="0" y="15">{escape(f"domain{domain.level} {domain.name}")}</text>'
    yield f'<rect class="rest" x="{_NAMES}" y="4" width="{step * len(order):g}" height="{_BAR}"/>'
    overlap = sum(len(group) for group in domain.groups) > len(domain.span)
    height = _BAR / 2 if overlap else _BAR
    for index, group in enumerate(domain.groups or (domain.span,)):
        y = 4 + index % 2 * (_BAR - height)
        yield f'<g class="group{index % 2}"><title>CPUs {format_cpulist(group)}</title>'
        for first, last in _runs(sorted(order[cpu] for cpu in group)):
            x, width = _NAMES + first * step, (last - first + 1) * step
            yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
        yield "</g>"


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each stretch without a hole."""
    for text in format_cpulist(places).split(","):
        first, _, last = text.partition("-")
        yield int(first), int(last or first)


def _in_order(machine: Machine) -> list[int]:
    """Return all CPUs, neighbours in the topology side by side."""

    def inside(group: Group) -> Iterator[int]:
        within = list(chain.from_iterable(inside(inner) for inner in group.inner))
        return iter(within or group.cpus)

    ordered = list(chain.from_iterable(inside(group) for group in tree(machine)))
    return ordered or list(parse_cpulist(machine.cpus))


def _group(group: Group, cell: float, capacity: Mapping[int, int]) -> _Box:
    boxes = [_group(inside, cell, capacity) for inside in group.inner]
    inner = _grid(boxes, _SHAPE) if boxes else _cpus(group.cpus, cell, capacity)
    words = escape(named([label for label in group.labels if label.level != "core"]))
    top = _TITLE if words else 0
    width = max(inner.width, len(words) * _LETTER) + 2 * _GAP
    height = inner.height + top + 2 * _GAP
    title = f"<title>{words or 'core'}: CPUs {format_cpulist(group.cpus)}</title>"
    label = f'<text x="{_GAP + 1}" y="{_TITLE - 3}">{words}</text>' if words else ""
    level = group.labels[0].level
    rect = f'<rect class="{level}" width="{width:g}" height="{height:g}" rx="3"/>'
    return _Box(width, height, f"{title}{rect}{label}{inner.at(_GAP, _GAP + top)}")


def _cpus(cpus: Sequence[int], cell: float, capacity: Mapping[int, int]) -> _Box:
    return _grid([_cpu(cpu, cell, capacity) for cpu in cpus], 2 * _SHAPE)


def _cpu(cpu: int, cell: float, capacity: Mapping[int, int]) -> _Box:
    known = capacity.get(cpu)
    said = f"CPU {cpu}, capacity {known}" if known else f"CPU {cpu}"
    opacity = _FULL * (known or 1024) / 1024
    inside = (
        f"<title>{said}</title>"
        f'<rect class="cpu" width="{cell:g}" height="{_CPU_HEIGHT}" rx="2"'
        f' fill-opacity="{opacity:.2f}"/>'
        f'<text class="cpu" x="{cell / 2:g}" y="{_CPU_HEIGHT - 4}">{cpu}</text>'
    )
    return _Box(cell, _CPU_HEIGHT, inside)


def _grid(boxes: Sequence[_Box], shape: float) -> _Box:
    """Place boxes in rows, as many a row as comes nearest to the shape."""
    width = max(box.width for box in boxes) + _GAP
    height = max(box.height for box in boxes) + _GAP

    def miss(columns: int) -> float:
        rows = ceil(len(boxes) / columns)
        ratio = columns * width / (rows * height)
        holes = columns * rows - len(boxes)
        return max(ratio / shape, shape / ratio) * (1 + _HOLES * holes / len(boxes))

    fitting = [n for n in range(1, len(boxes) + 1) if n == 1 or n * width <= _WIDEST]
    columns = min(fitting, key=miss)
    placed = "".join(
        box.at(index % columns * width, index // columns * height)
        for index, box in enumerate(boxes)
    )
    rows = ceil(len(boxes) / columns)
    return _Box(columns * width - _GAP, rows * height - _GAP, placed)


def _svg(box: _Box, title: str, words: str) -> str:
    name = escape(title.lower().replace(" ", "-"))
    width, height = box.width + 2, box.height + 2
    scale = min(2, max(1, _SMALLEST / width))
    return (
        f'<svg role="img" aria-labelledby="{name}" viewBox="-1 -1 {width:g} {height:g}"'
        f' width="{scale * width:g}" height="{scale * height:g}">'
        f'<title id="{name}">{escape(title)}: {escape(words)}</title>{box.inside}</svg>'
    )
