"""The pictures of a benchmark: one block of all variants on one scale, and what to see in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from schedlab.base.errors import UsageError
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Outcome
from schedlab.judging.wakeups import WAKEUPS
from schedlab.report.content import CaseReport, Report
from schedlab.report.picture_data import (
    Moves,
    films,
    longer_than,
    said_of_films,
    said_of_moves,
    said_of_waits,
)
from schedlab.report.wording import points
from schedlab.result.pictures import PICTURED, Pictured, pictured

_MOST_CASES = 8
"""Benchmarks with pictures of a block; more would make a page of a large suite too long to send."""
_PERCENTILE = re.compile(r"(?P<of>.*)_p(?P<whole>\d\d)(?:_(?P<part>\d+))?")
_LATENCY = "Wakeup latency"
_WAITS = f"{_LATENCY}, block {PICTURED}"
_FEWEST = 3
"""Percentiles of one kind that make a picture."""


@dataclass(frozen=True)
class Shown:
    """A picture, or why there is none, and what to see in it."""

    title: str
    sentence: str
    drawn: tuple[tuple[str, Markup], ...] = ()
    """The drawings with their headings, one for each variant or one for all."""
    legend: tuple[tuple[str, str], ...] = ()
    """Colours and what they stand for."""
    by_variant: bool = False
    """Whether the colours are those of the variants."""


def pictures(report: Report) -> dict[str, list[Shown]]:
    """Return the pictures of the benchmarks, by their labels."""
    chosen = _most_changed(report)
    found = {}
    for index, case in enumerate(report.cases):
        shown = list(_own_latencies(report, case, index))
        of_all = list(_wakeups(report, case, index))
        if report.plan.simulated:
            if case in chosen:
                block = {each.title: each for each in _of_block(report, case, index)}
                if of_all and _WAITS in block:
                    block[_WAITS] = _beside(block[_WAITS], of_all.pop())
                shown += [*block.values(), *of_all]
            elif case.runs:
                shown.append(
                    Shown(
                        "CPUs over time",
                        f"Drawn for the {_MOST_CASES} benchmarks that changed most.",
                    )
                )
        elif of_all:
            shown += of_all
        elif case.runs and not shown:
            shown.append(
                Shown(
                    "Pictures",
                    "None: what each CPU did when is recorded of simulated runs alone, and this"
                    " benchmark prints no percentiles.",
                )
            )
        found[case.info.label] = shown
    return found


def _beside(of_block: Shown, of_all: Shown) -> Shown:
    """Put the picture of all blocks beside that of one."""
    [(_, one)], [(_, other)] = of_block.drawn, of_all.drawn
    drawn = ((f"block {PICTURED}", one), ("means of all blocks", other))
    sentence = f"{of_block.sentence} In all blocks: {of_all.sentence[0].lower()}"
    return replace(
        of_block,
        title=_LATENCY,
        sentence=f"{sentence}{of_all.sentence[1:]}",
        drawn=drawn,
    )


def _most_changed(report: Report) -> list[CaseReport]:
    """Return the cases with evidence of a change first, then by its size."""

    def size(case: CaseReport) -> tuple[bool, float]:
        verdicts = [outcome.verdict for outcome in case.outcomes]
        changed = [v for v in verdicts if v.word in ("better", "worse")]
        return bool(changed), max((abs(v.effect or 0.0) for v in changed or verdicts), default=0.0)

    return sorted(report.cases, key=size, reverse=True)[:_MOST_CASES]


def _of_block(report: Report, case: CaseReport, index: int) -> Iterator[Shown]:
    """Yield the pictures of the block; a sentence in their place where nothing was recorded."""
    try:
        recorded = _recorded(report, case)
    except UsageError as error:
        yield Shown("CPUs over time", f"Not drawn: {error}.")
        return
    if not recorded:
        if any(run.key.block == PICTURED for run in case.runs):
            yield Shown(
                "CPUs over time",
                "Not drawn: the raw output of the first block is not beside the result.",
            )
        return
    yield _cpus(recorded, index)
    yield _waits(recorded, index)
    moves = {variant: Moves.of_picture(each.picture) for variant, each in recorded.items()}
    if any(len(each.node_of) > 1 for each in moves.values()):
        yield _migrations(moves, index)


def _recorded(report: Report, case: CaseReport) -> dict[str, Pictured]:
    """Return what was recorded in the block, by variant, in the plan's order."""
    runs = {run.key.variant: run for run in case.runs if run.key.block == PICTURED}
    found = {}
    for variant in report.plan.variant:
        if variant.name in runs and (each := pictured(report.store.folder, runs[variant.name])):
            found[variant.name] = each
    return found


def _cpus(recorded: Mapping[str, Pictured], index: int) -> Shown:
    from schedlab.report.drawings import heat

    shown = films({variant: each.picture for variant, each in recorded.items()})
    longest = max(film.length for film in shown.values())
    said = said_of_films(shown)
    drawn = tuple(
        (variant, heat.heat_map(film, longest, f"heat{index}-{number}", f"{variant}. {said}"))
        for number, (variant, film) in enumerate(shown.items())
    )
    legend = heat.legend(next(iter(shown.values())))
    legend.append((heat.WAITING, "below a CPU: tasks wait for it; the stronger, the more"))
    return Shown(f"CPUs over time, block {PICTURED}", said, drawn, tuple(legend))


def _waits(recorded: Mapping[str, Pictured], index: int) -> Shown:
    from schedlab.report.drawings import plots

    waited = {variant: each.waits for variant, each in recorded.items() if each.waits.count}
    if not waited:
        return Shown(_LATENCY, "No task was woken in the measured part.")
    said = said_of_waits(waited)
    curves = {
        variant: longer_than(waited[variant]) if variant in waited else [] for variant in recorded
    }
    caption = plots.Caption(f"waits{index}", _WAITS, said)
    return Shown(_WAITS, said, (("", plots.waits(curves, caption)),), by_variant=True)


def _migrations(moves: Mapping[str, Moves], index: int) -> Shown:
    from schedlab.report.drawings import heat

    most = max((n for each in moves.values() for n in each.counts.values()), default=0)
    said = said_of_moves(moves)
    title = f"Migrations between LLCs, block {PICTURED}"
    if not most:
        return Shown(title, said)
    drawn = tuple(
        (variant, heat.matrix(each, most, f"moves{index}-{number}", f"{variant}. {said}"))
        for number, (variant, each) in enumerate(moves.items())
    )
    note = f" The darkest cell is {most:,}; depth goes with the logarithm."
    return Shown(title, said + note, drawn)


def _own_latencies(report: Report, case: CaseReport, index: int) -> Iterator[Shown]:
    """Yield a picture of each kind of percentiles that the benchmark prints."""
    kinds: dict[str, dict[float, Metric]] = {}
    for metric in case.info.metrics:
        if found := _PERCENTILE.fullmatch(metric.name):
            percent = float(f"{found['whole']}.{found['part'] or 0}")
            kinds.setdefault(found["of"], {})[percent] = metric
    for number, (kind, metrics) in enumerate(kinds.items()):
        if len(metrics) >= _FEWEST:
            title = f"{kind.replace('_', ' ').capitalize()} by percentile, means of all blocks"
            name = f"percentiles{index}-{number}"
            yield from _percentiles(report, case.outcomes, metrics, title, name)


def _wakeups(report: Report, case: CaseReport, index: int) -> Iterator[Shown]:
    """Yield a picture of the percentiles of wakeup latency, if they were counted."""
    outcomes = [outcome for outcome in report.wakeups if outcome.case == case.info]
    title = "Wakeup latency by percentile, means of all blocks"
    yield from _percentiles(report, outcomes, WAKEUPS, title, f"wakeups{index}")


def _percentiles(
    report: Report,
    outcomes: Sequence[Outcome],
    metrics: Mapping[float, Metric],
    title: str,
    name: str,
) -> Iterator[Shown]:
    """Yield a picture of percentiles with their verdicts; none where there are no figures."""
    from schedlab.report.drawings import plots

    curves: dict[str, list[tuple[float, float]]] = {
        variant.name: [] for variant in report.plan.variant
    }
    said = []
    for percent, metric in sorted(metrics.items()):
        for outcome in outcomes:
            verdict = outcome.verdict
            if outcome.metric != metric or not verdict.base_mean or not verdict.other_mean:
                continue
            if outcome.variant == report.others[0]:
                curves[report.baseline].append((percent, verdict.base_mean))
            curves[outcome.variant].append((percent, verdict.other_mean))
            whose = f" in {outcome.variant}" if len(report.others) > 1 else ""
            change = f"{points(verdict.effect_better)} % ({verdict.name})"
            said.append(f"p{percent:g}{whose} {change}")
    if said:
        sentence = f"Change, positive = better: {', '.join(said)}."
        unit = next(iter(metrics.values())).unit
        drawing = plots.percentiles(curves, unit, plots.Caption(name, title, sentence))
        yield Shown(title, sentence, (("", drawing),), by_variant=True)
