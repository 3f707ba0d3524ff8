"""NUMA nodes as a mail lists them, `Node 0: 0-63, 128-191`: read, and checked for slips."""

import re
from collections.abc import Iterator, Sequence

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.importers.source import Line, Source

_NODE = re.compile(r"\s*Node (?P<node>\d+):\s*(?P<cpus>\d[\d,\s-]*)", re.IGNORECASE)


def node_lists(source: Source, lines: Sequence[Line]) -> tuple[dict[str, str], list[str]]:
    """Return the platform lines that node lists contain, and what is wrong with the lists."""
    lists = list(_lists(source, lines))
    counts = {len(nodes) for nodes in lists}
    cpus = {cpu for nodes in lists for _, _, found in nodes for cpu in found}
    environment = {}
    if cpus:
        environment = {
            "CPUs": str(max(cpus) + 1),
            "NUMA nodes": ", ".join(map(str, sorted(counts))),
        }
    return environment, [slip for nodes in lists for slip in _slips(source, nodes)]


def _lists(
    source: Source, lines: Sequence[Line]
) -> Iterator[list[tuple[int, Line, tuple[int, ...]]]]:
    nodes: list[tuple[int, Line, tuple[int, ...]]] = []
    for line in [*lines, Line(0, "")]:
        match = _NODE.fullmatch(line.text)
        if match and not (nodes and int(match["node"]) == 0):
            nodes.append((int(match["node"]), line, _cpus(source, line, match["cpus"])))
        elif nodes:
            yield nodes
            nodes = []


def _cpus(source: Source, line: Line, text: str) -> tuple[int, ...]:
    try:
        return parse_cpulist(text)
    except ValueError as error:
        source.refuse(line.number, f"{error}.")


def _slips(source: Source, nodes: list[tuple[int, Line, tuple[int, ...]]]) -> Iterator[str]:
    """Yield which CPUs are listed twice or not at all, and where nodes are not alike."""
    where = source.name
    owner: dict[int, int] = {}
    for node, line, cpus in nodes:
        twice = [cpu for cpu in cpus if cpu in owner]
        if twice:
            yield (
                f"{where}:{line.number}: CPU {format_cpulist(twice)} is in node {node} and in node"
                f" {owner[twice[0]]}"
            )
        owner |= dict.fromkeys(cpus, node)
    missing = set(range(max(owner))) - owner.keys()
    first, last = nodes[0][1].number, nodes[-1][1].number
    if missing:
        yield f"{where}:{first}: CPUs {format_cpulist(missing)} are in no node"
    sizes = [len(cpus) for _, _, cpus in nodes]
    if len(set(sizes)) > 1:
        listed = ", ".join(map(str, sizes))
        yield f"{where}:{first}-{last}: the nodes are not of one size: {listed} CPUs"
