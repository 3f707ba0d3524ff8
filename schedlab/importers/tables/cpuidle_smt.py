"""Output of cpuidle-smt-performance, one run for each wakeup period: a period is a variant."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.importers.number import PATTERN, Number
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table

_COMMAND = re.compile(r"(?:\$\s*)?(?:\S*/)?(?P<command>cpuidle-smt-performance\s+-.*)")
_FIGURE = re.compile(rf"(?P<name>[A-Za-z][\w ]*?)\s*=\s*(?P<figure>{PATTERN})\s*(?P<unit>\S+)")
_STATE = re.compile(
    r"Overall State\s+(?P<state>\S+)\s*:\s*Usage\s*=\s*(?P<usage>\d+),\s*"
    r"Time\s*=\s*(?P<time>\d+)\s*us\s*\(\s*(?P<share>[\d.]+)\s*%\s*\)"
)
_TIMEOUT = re.compile(r"(?:-t|--timeout)[ =]?(\d+)")
_PERIOD = "Irritator wakeup period"
_THROUGHPUT = "Workload Throughput"
_SLEEP = "Overall average sleep duration"
_LATENCY = "Overall average wakeup latency"
_DEFAULT_TIMEOUT = 5
"""Seconds a run lasts that was given no -t, as the tool's page says."""


@dataclass
class _Run:
    """One summary."""

    line: int
    command: str
    figures: dict[str, Number]
    states: dict[str, tuple[float, float]]
    """Entries and seconds."""


@table("cpuidle-smt-performance")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read all runs of the text at the first; the shortest period is the baseline."""
    if not _COMMAND.fullmatch(lines[at].text.strip()):
        return None
    runs = sorted(_runs(lines[at:], context), key=lambda run: run.figures[_PERIOD].value)
    variants = [f"{run.figures[_PERIOD].value:g}us" for run in runs]
    if len(set(variants)) < 2:
        context.source.refuse(runs[0].line, "there is one wakeup period only; nothing to compare.")

    def row(name: str, figures: Sequence[Number], **more: object) -> Row:
        cells = tuple(Cell(v, f) for v, f in zip(variants, figures, strict=True))
        benchmark = "cpuidle-smt-performance"
        return Row(runs[0].line, benchmark, cells, benchmark, {}, name, **more)  # type: ignore[arg-type]

    def of_all(name: str) -> list[Number]:
        return [run.figures[name] for run in runs]

    rows = [
        row("throughput", of_all(_THROUGHPUT), unit="Mops/s", better="higher"),
        row("wakeup latency", of_all(_LATENCY), unit="us", better="lower"),
        row(
            "sleep duration:ns",
            [Number(sleep.value * 1000) for sleep in of_all(_SLEEP)],
            is_counter=True,
        ),
    ]
    for state in dict.fromkeys(name for run in runs for name in run.states):
        for i, kind in enumerate(("usage", "seconds")):
            counts = [Number(run.states.get(state, (0.0, 0.0))[i]) for run in runs]
            rows.append(row(f"cpuidle:{state}:{kind}", counts, is_counter=True))
    return rows, len(lines)


def _runs(lines: Sequence[Line], context: Context) -> Iterator[_Run]:
    run: _Run | None = None
    for line in lines:
        text = line.text.strip()
        if command := _COMMAND.fullmatch(text):
            if run:
                yield _whole(run, context)
            run = _Run(line.number, command["command"], {}, {})
        elif run and (state := _STATE.fullmatch(text)):
            _check_share(run, state, line, context)
            run.states[state["state"]] = float(state["usage"]), int(state["time"]) / 1e6
        elif run and (figure := _FIGURE.fullmatch(text)):
            unit = "us" if figure["unit"] == "us" else ""
            run.figures[figure["name"]] = context.number(figure["figure"] + unit, line.number)
    if run:
        yield _whole(run, context)


def _whole(run: _Run, context: Context) -> _Run:
    """Refuse a run that has not all figures."""
    for name in (_PERIOD, _THROUGHPUT, _SLEEP, _LATENCY):
        if name not in run.figures:
            context.source.refuse(run.line, f"the output below has no '{name}'; it is not whole.")
    return run


def _check_share(run: _Run, state: re.Match[str], line: Line, context: Context) -> None:
    """Record a share of the time that does not follow from time and duration."""
    given = _TIMEOUT.search(run.command)
    seconds = int(given[1]) if given else _DEFAULT_TIMEOUT
    share = 100 * int(state["time"]) / 1e6 / seconds
    if abs(share - context.number(state["share"], line.number).value) > 0.01:
        context.notices.append(
            f"{context.source.name}:{line.number}: {state['state']}: printed as"
            f" {state['share']} % of the time, but {state['time']} us of {seconds} s are"
            f" {share:.2f} %"
        )
