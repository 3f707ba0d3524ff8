"""The misfit series: completion times of the tasks of single runs, and a summary of ten.

The tasks of one run are not repetitions of each other, so a run gives one figure for each rank.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from schedlab.importers.number import PATTERN, Number
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table

_RUN = re.compile(r"(?P<machine>\S.*?)\s+\((?P<variant>[^()]+)\)")
_TIME = re.compile(rf"total time:\s*(?P<time>{PATTERN}\s*m?s)")
_SUMMARY = re.compile(r"(?P<runs>\d+) runs? summary\b.*")
_BENCHMARK = "Misfit"


@table("misfit runs")
def read_runs(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read the runs of all machines, each `MACHINE (VARIANT)` over its tasks' times."""
    runs: dict[str, dict[str, tuple[int, list[Number]]]] = {}
    while at < len(lines) and (run := _RUN.fullmatch(lines[at].text.strip())):
        end = at + 1
        times: list[Number] = []
        while end < len(lines) and (text := lines[end].text.strip()):
            time = _TIME.fullmatch(text)
            if not time:
                if not times:
                    break
                context.source.refuse(
                    lines[end].number, f"'total time:' is expected, not '{text[:60]}'."
                )
            times.append(context.number(time["time"], lines[end].number).in_unit("s"))
            end += 1
        if not times:
            break
        variant = context.variant(run["variant"])
        runs.setdefault(run["machine"], {})[variant] = (lines[at].number, sorted(times, key=_value))
        at = end
        while at < len(lines) and not lines[at].text.strip():
            at += 1
    if not runs:
        return None
    rows = [row for machine, found in runs.items() for row in _ranked(context, machine, found)]
    return rows, at


def _value(number: Number) -> float:
    return number.value


def _ranked(context: Context, machine: str, runs: dict[str, tuple[int, list[Number]]]) -> list[Row]:
    """Return a row for the longest task, the next, and so on, and one for their mean."""
    (line, first), *others = runs.values()
    for number, times in others:
        if len(times) != len(first):
            context.source.refuse(
                number, f"{machine}: {len(times)} tasks finished, in line {line} {len(first)}."
            )
    if len(runs) < 2:
        context.source.refuse(line, f"{machine}: there is one run only; nothing to compare.")
    ranks = ["longest", *(f"{rank}. longest" for rank in range(2, len(first) + 1))]
    figures = {
        rank: [times[-1 - i] for _, times in runs.values()] for i, rank in enumerate(ranks)
    } | {"mean": [_mean(times) for _, times in runs.values()]}
    return [
        Row(
            line=line,
            benchmark=_BENCHMARK,
            cells=tuple(Cell(v, figure) for v, figure in zip(runs, of_variants, strict=True)),
            label=f"{_BENCHMARK} {machine}, one run",
            params={"machine": machine, "runs": 1},
            metric=rank,
            unit="s",
            better="lower",
        )
        for rank, of_variants in figures.items()
    ]


def _mean(times: Sequence[Number]) -> Number:
    return Number(sum(time.value for time in times) / len(times), times[0].step, "s")


@table("misfit summary")
def read_summary(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read machines over statistics over a line for each variant."""
    summary = _SUMMARY.fullmatch(lines[at].text.strip())
    if not summary:
        return None
    end = at + 1
    while end < len(lines) and lines[end].text.strip():
        end += 1
    words = [(line.number, line.text.split()) for line in lines[at + 1 : end]]
    if len(words) < 4:
        context.source.refuse(lines[at].number, "the summary is cut off.")
    (_, machines), (head, statistics), *body = words
    if len(statistics) % len(machines):
        context.source.refuse(
            head, f"{len(statistics)} columns cannot belong to {len(machines)} machines."
        )
    each = len(statistics) // len(machines)
    cells: dict[tuple[str, str], list[Cell]] = {}
    for number, (variant, *figures) in body:
        if len(figures) != len(statistics):
            context.source.refuse(
                number, f"{variant} has {len(figures)} figures, the head {len(statistics)}."
            )
        for i, (statistic, figure) in enumerate(zip(statistics, figures, strict=True)):
            parsed = context.number(figure, number)
            key = (machines[i // each], statistic)
            cells.setdefault(key, []).append(Cell(context.variant(variant), parsed))
    _check(context, cells, [number for number, _ in body])
    rows = [
        Row(
            line=lines[at].number,
            benchmark=_BENCHMARK,
            cells=tuple(found),
            label=f"{_BENCHMARK} {machine}, {summary['runs']} runs",
            params={"machine": machine, "runs": int(summary["runs"])},
            metric=f"longest, {statistic}",
            unit="s",
            better="lower",
        )
        for (machine, statistic), found in cells.items()
    ]
    return rows, end


def _check(context: Context, cells: dict[tuple[str, str], list[Cell]], numbers: list[int]) -> None:
    """Refuse figures of which a mean is larger than the maximum."""
    for (machine, low), (other, high) in pairwise(cells):
        if machine == other and (low, high) == ("avg", "max"):
            means, maxima = cells[machine, low], cells[machine, high]
            for number, mean, most in zip(numbers, means, maxima, strict=True):
                if mean.figure.value > most.figure.value:
                    context.source.refuse(
                        number, f"{machine}: the mean of {mean.variant} is above its maximum."
                    )
