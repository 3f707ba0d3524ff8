"""What a trace shows as one HTML page without a network: who wakes whom, and where time went."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, log, pi, sin, sqrt

from schedlab.lab.recording.stats import TraceStats
from schedlab.report.page import environment

_MOST_NODES = 16
"""A circle of more has no room for their names."""
_MOST_ROWS = 40
_WIDTH, _HEIGHT = 1000, 640
_RADIUS = (300.0, 240.0)
_LARGEST, _SMALLEST = 26.0, 6.0
"""Radii of the circles of groups."""
_WIDEST = 7.0
_BEND = 34.0
"""How far an arrow leaves the straight line, so that two ways between two groups are apart."""


@dataclass(frozen=True)
class Node:
    """A group of tasks; its area is the time it ran."""

    name: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Arrow:
    """Wakes of one group by another; its width goes with the logarithm of their number."""

    path: str
    width: float
    who: str
    whom: str
    times: int


def trace_page(stats: TraceStats, name: str) -> str:
    """Return the page of a trace."""
    nodes = {node.name: node for node in _nodes(stats)}
    return (
        environment()
        .get_template("trace.html.j2")
        .render(
            name=name,
            stats=stats,
            nodes=list(nodes.values()),
            arrows=list(_arrows(stats.wakes, nodes)),
            size=(_WIDTH, _HEIGHT),
            left_out=max(0, len(stats.groups) - len(nodes)),
            groups=stats.groups[:_MOST_ROWS],
            wakes=stats.wakes[:_MOST_ROWS],
            moves=sorted(stats.moves.items()),
        )
    )


def _nodes(stats: TraceStats) -> Iterator[Node]:
    """Yield the groups that wake or are woken most, around an ellipse."""
    times: dict[str, int] = {}
    for who, whom, count in stats.wakes:
        for name in {who, whom}:
            times[name] = times.get(name, 0) + count
    ran = {group.name: group.running for group in stats.groups}
    longest = max(ran.values(), default=0) or 1
    chosen = sorted(times, key=lambda name: (-times[name], name))[:_MOST_NODES]
    for at, name in enumerate(chosen):
        angle = 2 * pi * at / len(chosen) - pi / 2
        radius = max(_SMALLEST, _LARGEST * sqrt(ran.get(name, 0) / longest))
        x, y = _WIDTH / 2 + _RADIUS[0] * cos(angle), _HEIGHT / 2 + _RADIUS[1] * sin(angle)
        yield Node(name, x, y, radius)


def _arrows(wakes: Sequence[tuple[str, str, int]], nodes: dict[str, Node]) -> Iterator[Arrow]:
    most = max((times for _, _, times in wakes), default=1)
    for who, whom, times in wakes:
        if who in nodes and whom in nodes:
            width = max(1.0, _WIDEST * log(1 + times) / log(1 + most))
            yield Arrow(_path(nodes[who], nodes[whom]), width, who, whom, times)


def _path(start: Node, end: Node) -> str:
    if start is end:
        x, y, r = start.x, start.y - start.radius, start.radius + 12
        loop = f"C{x - r:.1f} {y - r:.1f} {x + r:.1f} {y - r:.1f} {x + 4:.1f} {y:.1f}"
        return f"M{x - 4:.1f} {y:.1f} {loop}"
    angle = atan2(end.y - start.y, end.x - start.x)
    across, along = (-sin(angle), cos(angle)), (cos(angle), sin(angle))
    middle = (start.x + end.x) / 2 + _BEND * across[0], (start.y + end.y) / 2 + _BEND * across[1]
    gap = end.radius + 8
    from_ = start.x + start.radius * along[0], start.y + start.radius * along[1]
    to = end.x - gap * along[0], end.y - gap * along[1]
    return (
        f"M{from_[0]:.1f} {from_[1]:.1f} Q{middle[0]:.1f} {middle[1]:.1f} {to[0]:.1f} {to[1]:.1f}"
    )
