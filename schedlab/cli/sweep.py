"""Printing what came out of a sweep."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from schedlab.cli.echo import echo
from schedlab.cli.how import How
from schedlab.judging.analysis import analyse
from schedlab.lab.result import prepare, preview
from schedlab.lab.sweep import PAGE, Swept, resume_sweep, run_sweep, sweep_points
from schedlab.plan.plan import Plan
from schedlab.report import Report, save, write_reports
from schedlab.report.overview import overview, totals
from schedlab.result.store import Store


def carry_out_sweep(plan: Plan, how: How) -> None:
    """Run all plans of a sweep, or resume it, and print what came out of each."""
    lab = how.lab()
    if how.dry_run:
        for name, point in sweep_points(plan, lab).items():
            echo(f"{name}:")
            target, cases = prepare(point.plan, lab)
            for line in preview(point.plan, cases, target, lab):
                echo(line)
        return
    swept = resume_sweep(how.resume, lab) if how.resume else run_sweep(plan, how.output, lab)
    write_reports_of(swept)
    worse = _print_comparisons(swept.whole, swept.folder / PAGE)
    swept.check()
    if how.fail_on and worse:
        sys.exit(1)


def write_reports_of(swept: Swept) -> None:
    """Write each result's reports."""
    for folder in swept.whole:
        with closing(Store.open(folder)) as store:
            write_reports(store)


def _print_comparisons(folders: Sequence[Path], page: Path) -> bool:
    """Print a line on what each result shows, write the page; return whether any got worse."""
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store.open(folder))) for folder in folders]
        reports = [Report(store, analyse(store)) for store in stores]
        for report in reports:
            for variant in report.others:
                echo(
                    f"{report.store.folder.name}: {variant} against {report.baseline}:"
                    f" {report.tally(variant)}"
                )
        for line in totals(reports):
            echo(line)
        echo(f"wrote {save(overview(reports, page), page)}")
        return any(
            outcome.verdict.word == "worse"
            for report in reports
            for outcome in report.analysis.outcomes
        )
