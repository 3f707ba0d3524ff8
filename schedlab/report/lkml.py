"""The report as one mail of 72 columns: one result, or several machines in one table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from schedlab.base.printable import printable
from schedlab.base.words import listing, plural
from schedlab.judging.analysis import CounterOutcome, Outcome
from schedlab.report import several
from schedlab.report.content import Report
from schedlab.report.plain import WIDTH, Page
from schedlab.report.several import Place, Table
from schedlab.report.shape import shape
from schedlab.report.wakeups import wakeups_of
from schedlab.report.why import why_of
from schedlab.report.wording import (
    CLAIMED,
    blocks_used,
    columns,
    counter_unit,
    described,
    figures_of,
    fitted,
    interval,
    mean_count,
    points,
    remark,
    row_name,
    share,
    wrapped,
)
from schedlab.result.store import CaseInfo

_NAME = 16
"""Columns of a variant's name over its figures."""
_UNDER = "    "
_BELOW = 3
"""Lines under a verdict."""
_NOTICES = 3
"""What a mail says of how it was run, a setting without effect first."""
_LINES = 80
"""A mail of several results with more has no tables of what metrics beside the first did."""
_OTHERS = 2
"""Tables of such metrics, of those that a change is claimed of."""
_FIGURE = 23
"""Columns of a counter's `12,345 (-12.34 pct)` and the gap before it."""
_VERDICT = 12


def mail(reports: Sequence[Report]) -> str:
    """Write one mail of results that share their benchmarks and variants."""
    found = several.places(reports)
    page = _written(found, _OTHERS)
    if len(found) > 1 and str(page).count("\n") > _LINES:
        page = _written(found, 0)
    return str(page)


def _written(found: Sequence[Place], others: int) -> Page:
    page = Page()
    _open(page, found)
    for heading, tables in several.tables(found):
        page.gap()
        page.lines.append(f"~ {fitted(printable(heading), WIDTH - 4)} ~")
        if len(found) == 1:
            _commands(page, found[0].report, heading)
            shown, left = tables, list[Outcome]()
        else:
            shown, left = _weighty(tables, others)
        for table in shown:
            if table is not tables[0]:
                page.gap()
            _table(page, table, heading)
        if left:
            page.gap()
            page.say(_counted(left))
        for place in found:
            if place.report.detail.counters:
                _counters(page, place, heading, len(found) > 1)
    _close(page, [place.report for place in found])
    return page


def _weighty(tables: Sequence[Table], others: int) -> tuple[list[Table], list[Outcome]]:
    """Return the tables to show, and what is left out.

    Shown are the first metric, and of the others the rows that a change is claimed of.
    """
    first = tables[0].title
    shown = [table for table in tables if table.title == first]
    rest = [table for table in tables if table.title != first]
    claimed = [
        replace(table, rows=rows)
        for table in rest
        if (rows := tuple(row for row in table.rows if row[2].verdict.word in CLAIMED))
    ]
    claimed.sort(key=lambda table: -max(abs(row[2].verdict.effect or 0.0) for row in table.rows))
    claimed = claimed[:others]
    tabled = {id(row[2]) for table in claimed for row in table.rows}
    left = [row[2] for table in rest for row in table.rows if id(row[2]) not in tabled]
    return [*shown, *claimed], left


def _counted(left: Sequence[Outcome]) -> str:
    """Return what metrics that have no table came out as."""
    metrics = len({outcome.metric.name for outcome in left})
    counted = Counter(outcome.verdict.word for outcome in left)
    words = listing([f"{number} {word}" for word, number in counted.most_common()])
    return f"Of {plural(metrics, 'other metric')}, in the reports: {words}."


@shape("lkml", suffix="txt", several=mail)
def render(report: Report) -> str:
    """Plain text of 72 columns to paste in a mail; of several results one table of all machines."""
    return mail([report])


def _open(page: Page, found: Sequence[Place]) -> None:
    reports = [place.report for place in found]
    page.say(several.title(reports))
    page.gap()
    for banner in several.banners(reports):
        page.say(banner, "*** ", "*** ")
    page.gap()
    baseline = reports[0].baseline
    others = dict.fromkeys(name for report in reports for name in report.others)
    for name in others:
        page.say(f"tl;dr: {name} against {baseline}: {several.tally(reports, name)}", "", "  ")
    _heading(page, "Machines")
    for place in found:
        start = f"{place.short}: {place.name}, " if place.short else f"{place.name}: "
        page.item(f"{start}{several.about(place, WIDTH - 2 - columns(start))}")
    for place in found:
        if place.report.detail.platform:
            _heading(page, "System Details" if len(found) == 1 else f"System Details: {place.name}")
            page.pairs(list(place.report.store.environment.items()))
    _heading(page, "Kernel Versions")
    for name, sets in several.variants(reports).items():
        page.item(f"{name} - {several.kernels(reports, name)}, {sets}")
    if patches := several.patches(reports):
        _heading(page, "Patches")
        page.items(f"{names}: {text}" for names, text in patches)
    page.gap()
    page.say(f"pct: change of the mean, positive is better; n: {reports[0].unit}s")


def _heading(page: Page, text: str) -> None:
    page.gap()
    page.say(text, "o ", "  ")


def _commands(page: Page, report: Report, benchmark: str) -> None:
    """Name the cases below a benchmark's heading, with their commands."""
    cases = [case.info for case in report.cases if case.info.benchmark == benchmark]
    for info in cases:
        if (len(cases) > 1 and info.command) or not is_plain_label(info):
            page.say(f"{info.label}:")
        if info.command:
            page.say(info.command, "$ ", "      ")


def is_plain_label(case: CaseInfo) -> bool:
    """Return whether a label is the benchmark's name, a blank and the row's name."""
    name = row_name(case.label, case.benchmark)
    return case.label == f"{case.benchmark} {name}".strip()


def _table(page: Page, table: Table, heading: str) -> None:
    """Add a table: a line a row, and below it what is to be known of it."""
    _, report, first = table.rows[0]
    page.say(described(first.metric))
    names = (fitted(name, _NAME) for name in (report.baseline, table.variant))
    rows = [(name or o.metric.name, *_figures(o)) for name, _, o in table.rows]
    head = ("Test", *names, "pct", "interval", "n", "verdict")
    widths = [max(columns(row[i]) for row in (head, *rows)) for i in range(1, len(head))]
    shared = _shared_remark([outcome for _, _, outcome in table.rows])
    _row(page, head, widths, is_head=True)
    for row, (_, of, outcome) in zip(rows, table.rows, strict=True):
        _row(page, row, widths)
        if not shared:
            page.lines += _below(of, outcome)
    if shared:
        page.say(f"All rows: {shared}.", _UNDER)


def _figures(outcome: Outcome) -> tuple[str, ...]:
    verdict = outcome.verdict
    if verdict.effect is None:
        return ("-", "-", "-", "-", blocks_used(verdict), verdict.name)
    return figures_of(verdict)


def _row(page: Page, row: Sequence[str], widths: Sequence[int], is_head: bool = False) -> None:
    """Add a row; a name too long for its place stands on the lines above."""
    padded = [f"{' ' * (w - columns(text))}{text}" for w, text in zip(widths, row[1:], strict=True)]
    figures = f"{' '.join(padded[:-1])}  {row[-1]}"
    room = WIDTH - columns(" ".join(padded)) - 1
    if room < 1:  # figures of odd sizes
        figures, room = " ".join(row[1:]), 1
    name = f"{printable(row[0])}:"
    if columns(name) < room:
        page.lines.append(f"{name}{' ' * (room - columns(name))}{figures}")
    elif is_head:
        page.lines.append(" ".join([name, *row[1:]]))
    else:
        page.say(name)
        page.lines.append(f"{' ' * room}{figures}")


def _below(report: Report, outcome: Outcome) -> list[str]:
    """Return what stands under a verdict, in so many lines at most."""
    lines: list[str] = []
    reasons = []
    if outcome.metric == outcome.case.metrics[0]:
        reasons = [*why_of(report, outcome), *wakeups_of(report, outcome)]
    for text in filter(None, [remark(outcome.verdict), *reasons]):
        more = wrapped(text, WIDTH, _UNDER)
        if not lines or len(lines) + len(more) <= _BELOW:
            lines += more
    return lines


def _shared_remark(outcomes: Sequence[Outcome]) -> str:
    """Return what is to be said of every row of a table and of none more, if that is so."""
    remarks = {remark(outcome.verdict) for outcome in outcomes}
    return remarks.pop() if len(outcomes) > 1 and len(remarks) == 1 else ""


def _counters(page: Page, place: Place, heading: str, on: bool) -> None:
    """Add the counters of a benchmark that changed on a machine, in each variant."""
    report = place.report
    cases = [c for c in report.cases if heading == (c.info.label if on else c.info.benchmark)]
    for variant in report.others:
        changed = [counter for case in cases for counter in case.changed_in(variant)]
        if changed:
            page.gap()
            page.say("Counters that changed")
            room = _FIGURE - 2
            base, other = fitted(report.baseline, room), fitted(variant, room)
            _counter_row(page, "Test:", base, other, "verdict")
        for counter in changed:
            label = f"{counter.case.label} " if on or len(cases) > 1 else ""
            _counter(page, f"{label}{place.label} " if on else label, counter)


def _counter(page: Page, prefix: str, counter: CounterOutcome) -> None:
    verdict = counter.verdict
    page.say(f"{prefix}{counter.counter}, {counter_unit(counter.counter)}:", "", "  ")
    change = points(verdict.effect, plus=False)
    base = f"{mean_count(verdict.base_mean)} (0.00 pct)"
    other = f"{mean_count(verdict.other_mean)} ({change} pct)"
    _counter_row(page, "", base, other, verdict.word)
    page.say(f"{interval(verdict.interval_adjusted)} pct", _UNDER)


def _counter_row(page: Page, name: str, base: str, other: str, verdict: str) -> None:
    room = WIDTH - 2 * _FIGURE - _VERDICT
    row = f"{name:<{room}}{base:>{_FIGURE}}{other:>{_FIGURE}}  {verdict}"
    if columns(row) <= WIDTH:
        page.lines.append(row)
    else:  # figures of odd sizes
        page.say(f"{base}, {other}, {verdict}", _UNDER)


def _close(page: Page, reports: Sequence[Report]) -> None:
    for report in reports:
        for name in report.others:
            if trends := report.trends(name):
                page.heading(f"Trends of {name} along sweeps; a change that rises gets better")
                page.items(trends)
    if notices := list(dict.fromkeys(text for report in reports for text in report.notices)):
        _heading(page, "Notices")
        page.items(notices[:_NOTICES])
        if len(notices) > _NOTICES:
            page.item(f"and {len(notices) - _NOTICES} more, in the reports")
    page.gap()
    for report in reports:
        if report.failed:
            runs = plural(len(report.records), "run")
            first = report.failed[0]
            key = first.key
            page.say(
                f"Failed: {len(report.failed)} of {runs} ({key.case}, {key.variant}, block"
                f" {key.block}: {first.error})."
            )
        if report.disturbed:
            page.say(
                f"Disturbed: others took {share(report.disturbed[0].busy_during or 0)} of all CPUs"
                f" in the worst of {plural(len(report.disturbed), 'run')}."
            )
    for text in dict.fromkeys(report.method_in_short() for report in reports):
        page.say(text)
    page.gap()
    versions = listing(list(dict.fromkeys(report.store.version for report in reports)))
    targets = listing(list(dict.fromkeys(report.plan.target for report in reports)))
    seeds = listing(list(dict.fromkeys(str(report.plan.blocks.seed) for report in reports)))
    page.say(f"Made with schedlab {versions}, target {targets}, seed {seeds}")
    if len(reports) == 1:
        page.say(reports[0].store.invocation, "  ", "      ")
