"""The kernel test robot's table: `%stddev  %change  %stddev` over a line for each figure.

It prints every statistic it has. Those whose name tells which way is better are results, all
others counters; its plus means more, not better.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from schedlab.benchmarks.metric import Better
from schedlab.importers.number import PATTERN, UNSIGNED
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table

_HEAD = re.compile(r"%stddev\s+%change\s+%stddev")
_RULE = re.compile(r"-{8,}\s+-{8,}")
_ROW = re.compile(
    rf"(?P<base>{PATTERN})\s*(?:±\s*(?P<base_std>\d+)%)?\s+(?P<change>[-+]{UNSIGNED})(?P<percent>%?)"
    rf"\s+(?P<other>{PATTERN})\s*(?:±\s*(?P<std>\d+)%)?\s+(?P<name>\S+)"
)
_BEGUN = re.compile(rf"{PATTERN}\s*(?:±\s*\d+%)?\s+\S.*")
_LINES_ABOVE = 4
_STATISTICS = re.compile(
    r"(perf-stat|perf-profile|perf-sched|proc-vmstat|vmstat|mpstat|turbostat|meminfo|numa-\w+|"
    r"sched_debug|slabinfo|softirqs|interrupts|iostat|boot-time|cpuidle|nfsstat)\."
)
_HIGHER = ("throughput", "per_sec", "per_min", "ops", "score", "processes", "mbps", "bandwidth")
_LOWER = ("latency", "seconds", "_us", "_ms", "_ns", "time")


@table("lkp")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read a table from its line of `%stddev` on."""
    if not _HEAD.fullmatch(lines[at].text.strip()):
        return None
    names = [context.variant(name) for name in _names(lines, at)] or ["base", "patched"]
    rows: list[Row] = []
    benchmark = ""
    end = at + 1
    if end < len(lines) and set(lines[end].text.strip()) <= set("\\| "):
        end += 1
    while end < len(lines) and (text := lines[end].text.strip()):
        row = _ROW.fullmatch(text)
        if not row:
            if _BEGUN.fullmatch(text) and "fail:runs" not in text:
                context.source.refuse(
                    lines[end].number, f"is not FIGURE CHANGE FIGURE NAME: '{text[:60]}'."
                )
            end += 1
            continue
        number = lines[end].number
        prefix, _, metric = row["name"].partition(".")
        better = _direction(row["name"])
        if better and not benchmark:
            benchmark = prefix
        change = (
            replace(context.number(row["change"], number), step=0.1) if row["percent"] else None
        )
        cells = (
            Cell(names[0], context.number(row["base"], number), spread=_spread(row["base_std"])),
            Cell(names[1], context.number(row["other"], number), change, _spread(row["std"])),
        )
        positive = all(cell.figure.value > 0 for cell in cells)
        rows.append(
            Row(
                line=lines[end].number,
                benchmark=benchmark or context.benchmark,
                cells=cells,
                label=benchmark or context.benchmark,
                metric=metric if better and positive and metric else row["name"],
                unit="as printed",
                better=better,
                plus_is_more=True,
                is_counter=not (better and positive),
            )
        )
        end += 1
    if not any(not row.is_counter for row in rows):
        context.source.refuse(
            lines[at].number,
            "no figure in this table has a name that says whether more or less is better.",
        )
    return rows, end


def _names(lines: Sequence[Line], at: int) -> list[str]:
    """Find the two commits over the rule above the head."""
    for i in range(at - 1, max(0, at - _LINES_ABOVE), -1):
        if _RULE.fullmatch(lines[i].text.strip()):
            words = lines[i - 1].text.split()
            return [word[:12] for word in words] if len(words) == 2 else []
    return []


def _spread(text: str | None) -> float | None:
    return None if text is None else float(text) / 100


def _direction(name: str) -> Better | None:
    """Infer from a figure's name which direction is better; None for the system's statistics."""
    folded = name.casefold()
    if _STATISTICS.match(folded):
        return None
    if any(word in folded for word in _HIGHER):
        return "higher"
    return "lower" if any(word in folded for word in _LOWER) else None
