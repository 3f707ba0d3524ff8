"""Several results on one page: what was found, then what was asked and the way to each report."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from schedlab.base.printable import printable
from schedlab.base.words import plural
from schedlab.report import wording
from schedlab.report.beside import beside
from schedlab.report.content import Report
from schedlab.report.findings import findings, further, headline, plot_range
from schedlab.report.matrix import matrices
from schedlab.report.page import environment
from schedlab.report.several import tally


def overview(reports: Sequence[Report], page: Path) -> str:
    """Return the page; its links are relative to where `page` will lie."""
    links = [
        os.path.relpath(report.store.folder / "report.html", page.parent) for report in reports
    ]
    names = {
        "wording": wording,
        "beside": beside,
        "findings": findings,
        "further": further,
        "headline": _found,
        "kind": _kind,
        "plot_range": plot_range,
        "matrices": matrices(reports),
        "title": reports[0].title if _is_one_question(reports) else "Results",
    }
    results = list(zip(reports, headings(reports), links, strict=True))
    return environment().get_template("overview.html.j2").render(results=results, **names)


def summary(reports: Sequence[Report]) -> list[str]:
    """Return a line for each result: what it was about, and what it found."""
    return [
        printable(f"{heading}{_kind(report)}: {_found(report)}.")
        for report, heading in zip(reports, headings(reports), strict=True)
    ]


def totals(reports: Sequence[Report]) -> list[str]:
    """Return a line for each variant: its verdicts in all results together."""
    pairs = dict.fromkeys((name, report.baseline) for report in reports for name in report.others)
    lines = []
    for name, baseline in pairs:
        of = [r for r in reports if name in r.others and r.baseline == baseline]
        counted = f"{plural(len(of), 'result')}: {tally(of, name)}"
        lines.append(printable(f"In all, {name} against {baseline} in {counted}."))
    return lines


def _kind(report: Report) -> str:
    return " (simulated)" if report.plan.simulated else ""


def _found(report: Report) -> str:
    """Return the headline, without the pair of variants where that is the heading."""
    return headline(report).removeprefix(f"{report.title}: ")


def headings(reports: Sequence[Report]) -> list[str]:
    """Return a name for each result that tells it from the others."""
    if _is_one_question(reports):
        return [report.store.folder.name for report in reports]
    titles = Counter(report.title for report in reports)
    return [
        report.title if titles[report.title] == 1 else f"{report.title}: {report.store.folder.name}"
        for report in reports
    ]


def _is_one_question(reports: Sequence[Report]) -> bool:
    """Return whether several results have one title, as those of a sweep."""
    return len(reports) > 1 and len({report.title for report in reports}) == 1
