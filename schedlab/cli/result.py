"""Printing what came out of a plan."""

import sys
from contextlib import closing

from schedlab.cli.echo import echo
from schedlab.cli.how import How
from schedlab.lab.result import (
    Result,
    check_lab,
    check_plan,
    prepare,
    preview,
    reopen,
    resume_plan,
    run_plan,
    say_changed,
)
from schedlab.plan.plan import Plan
from schedlab.result.store import PLAN, Store


def make_result(plan: Plan, how: How) -> None:
    """Run a plan and print what came out of it."""
    lab = how.lab()
    if not how.dry_run:
        print_result(run_plan(plan, how.output, lab), how)
        return
    check_plan(plan, lab)
    target, cases = prepare(plan, lab)
    for line in preview(plan, cases, target, lab):
        echo(line)


def go_on(how: How) -> None:
    """Resume the plan of a result, and print what it found."""
    assert how.resume
    lab = how.lab()
    if not how.dry_run:
        print_result(resume_plan(how.resume, lab), how)
        return
    result: Result = reopen(how.resume, lab)
    with closing(result.store) as store:
        check_lab(store.plan, lab)
        say_changed(store.plan_files.given, store.folder / PLAN, lab)
        for line in preview(store.plan, result.cases, result.target, lab, store):
            echo(line)


def print_result(store: Store, how: How | None = None) -> None:
    """Print the report of a result and leave the others in its folder; close it.

    With `--fail-on worse` the process ends with exit status 1 where something got worse.
    """
    from rich.console import Console

    from schedlab.cli.screen import print_report
    from schedlab.judging.analysis import analyse
    from schedlab.report import write_reports

    with closing(store):
        analysis = analyse(store)
        print_report(store, analysis, Console())
        for path in write_reports(store):
            echo(f"wrote {path}")
    if how and how.fail_on and any(o.verdict.word == "worse" for o in analysis.outcomes):
        sys.exit(1)
