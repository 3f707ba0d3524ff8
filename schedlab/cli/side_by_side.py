"""Two results on a terminal, side by side; every claim across them says `between sessions`."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedlab.base.printable import printable
from schedlab.benchmarks.metric import Metric
from schedlab.cli.screen import show
from schedlab.judging.sessions import Sessions
from schedlab.judging.verdict import Verdict
from schedlab.report.screen import Screen
from schedlab.report.wording import blocks_used, interval, number, points
from schedlab.result.store import Store

BETWEEN = "between sessions"

_WHY = (
    "Runs of one session have in common what another session's have not: the boot, the"
    " temperature, other versions. So a difference between sessions says that the sessions differ,"
    " not why, however many runs it rests on. Only the verdicts inside a session are claims about"
    " a variant."
)


def print_sessions(first: Store, second: Store, sessions: Sessions, console: Console) -> None:
    """Print what two results say of the same variants, and what changed from one to the other."""
    names = [_name(store, letter) for store, letter in ((first, "A"), (second, "B"))]
    baselines = [store.plan.baseline.name for store in (first, second)]
    screen = Screen(console.width)
    screen.say(f"{names[0]} and {names[1]}", "bold")
    screen.bullets([_WHY])
    screen.section(f"Effects inside each session, against {' and '.join(dict.fromkeys(baselines))}")
    show(screen, console)
    console.print(_effects(sessions))
    _section(console, f"The same variant in A and B: {BETWEEN}")
    console.print(_levels(sessions))
    if sessions.platform:
        _section(console, "What differs in the platform")
        table = _new_table("", "A", "B")
        for row in sessions.platform:
            table.add_row(*(Text(printable(cell)) for cell in row))
        console.print(table)
    lines = [*sessions.unlike, *_missing("A", sessions.missing[0])]
    lines += _missing("B", sessions.missing[1])
    if lines:
        _section(console, "Not compared", lines)


def _section(console: Console, heading: str, lines: Sequence[str] = ()) -> None:
    screen = Screen(console.width)
    screen.section(heading)
    screen.bullets(lines)
    show(screen, console)


def _new_table(*names: str) -> Table:
    """Begin a table with columns of names."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _add_figures(table: Table, *headings: str) -> None:
    """Add columns of figures."""
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)


def _name(store: Store, letter: str) -> str:
    runs = store.records()
    began = f", {runs[0].started[:10]}" if runs and runs[0].started else ""
    return f"{letter}: {store.folder} ({store.plan.target}{began})"


def _missing(letter: str, names: Sequence[str]) -> list[str]:
    return [f"only in {letter}: {name}" for name in names]


def _effects(sessions: Sessions) -> Table:
    table = _new_table("benchmark, variant")
    _add_figures(table, "in A, %\n+ = better", "in B, %\n+ = better", "B against A, %\ninterval, %")
    table.add_column("verdict in A, in B\nof the effects", overflow="fold")
    for row in sessions.effects:
        between = row.between
        table.add_row(
            Text(f"{_result(row.label, row.metric)}\n{printable(row.variant)}"),
            points(row.first.effect_better),
            points(row.second.effect_better),
            Text(_change(between)),
            Text(
                f"{row.first.name}, {row.second.name}\n"
                + (labelled(between) if between else "not in pairs")
            ),
        )
    return table


def _levels(sessions: Sessions) -> Table:
    table = _new_table("benchmark, variant")
    _add_figures(table, "A", "B", "change, %\ninterval, %", "runs")
    table.add_column("verdict", overflow="fold")
    for row in sessions.levels:
        table.add_row(
            Text(f"{_result(row.label, row.metric)}\n{printable(row.variant)}"),
            number(row.between.base_mean),
            number(row.between.other_mean),
            Text(_change(row.between)),
            blocks_used(row.between),
            labelled(row.between),
        )
    return table


def _result(label: str, metric: Metric) -> str:
    return printable(f"{label}, {metric.name}, {metric.unit}, {metric.better}")


def _change(verdict: Verdict | None) -> str:
    if verdict is None:
        return "-"
    return f"{points(verdict.effect_better)}\n{interval(verdict.interval_adjusted_better)}"


def labelled(verdict: Verdict) -> str:
    """Return a verdict across two sessions, which is never without that label."""
    word = verdict.name
    return word if word == "can't tell" else f"{word} {BETWEEN}"
