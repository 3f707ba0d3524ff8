"""`schedlab check`: scenarios as regression tests."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedlab.base.duration import seconds
from schedlab.base.errors import Interrupted, UsageError
from schedlab.cli.echo import echo
from schedlab.cli.names import CHECK, FOLDER, KERNEL, MACHINE, NEW_FILE
from schedlab.cli.numbers import Duration, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedlab.lab.checks.check import Named
    from schedlab.lab.checks.checking import Options, Verdict


@click.command("check")
@click.argument("checks", nargs=-1, type=CHECK, metavar="[NAME|FILE|FOLDER]...")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    type=KERNEL,
    metavar="NAME",
    help="Run on this kernel instead of those that the checks name.",
)
@click.option(
    "--machine",
    "machines",
    multiple=True,
    type=MACHINE,
    metavar="NAME|FILE",
    help="Run on this machine instead of those that the checks name.",
)
@click.option("--seeds", type=Whole(1, 1000), metavar="N", help="Number of seeds for each run.")
@click.option(
    "--bugs",
    is_flag=True,
    help="Also run each check on a kernel with its bug, where the check must fail.",
)
@click.option("--jobs", type=Whole(1, 1024), metavar="N", help="Runs at a time.")
@click.option(
    "--budget",
    type=Duration("1s"),
    metavar="TIME",
    help="Start no run after this time; runs that are left out are listed.",
)
@click.option(
    "--output",
    type=FOLDER,
    metavar="DIR",
    help="Keep verdicts here, and the files of failed checks; a run that already has a verdict"
    " here is skipped.",
)
@click.option(
    "--junit",
    "junit_file",
    type=NEW_FILE,
    metavar="FILE",
    help="Write the verdicts as JUnit's XML.",
)
@click.option(
    "--reduce/--no-reduce",
    "reduce_",
    default=True,
    show_default=True,
    help="Reduce failed checks: fewer tasks and CPUs, less time. Needs --output.",
)
@click.option(
    "--coverage",
    type=FOLDER,
    metavar="DIR",
    help="Count which of the scheduler's lines run, add that up in DIR, write coverage.html there.",
)
@click.option("--list", "list_", is_flag=True, help="List the checks and what they are for.")
def check_command(
    checks: tuple[str, ...],
    kernels: tuple[str, ...],
    machines: tuple[str, ...],
    seeds: int | None,
    bugs: bool,
    jobs: int | None,
    budget: str | None,
    output: Path | None,
    junit_file: Path | None,
    reduce_: bool,
    coverage: Path | None,
    list_: bool,
) -> None:
    """Simulate scenarios and check what must hold in them: a kernel's regression tests.

    Without names, all checks that come with schedlab. Exit status: 0 all passed, 1 some failed
    or a budget left a check without any run, 2 a check or the command is invalid.

    \b
    schedlab check --kernel mybranch --jobs 2 --budget 5min --junit check.xml
    schedlab check --bugs isolated-sibling
    schedlab check features --coverage covered
    """
    from schedlab.kernels.shelf import Shelf
    from schedlab.lab.checks.files import check_files

    files = check_files(checks)
    for name in kernels:
        Shelf().recipe(name)
    from schedlab.lab.checks.check import Named

    found = [Named(file) for file in files]
    if list_:
        width = max(len(named.name) for named in found)
        for named in found:
            echo(f"{named.name:{width}}  {named.check.title}")
        return
    if coverage and bugs:
        raise UsageError("--coverage counts lines of kernels as they are; leave out --bugs.")
    if coverage and output:
        raise UsageError(
            "--coverage counts what runs, but --output leaves out runs that have a"
            " verdict; give one."
        )
    from schedlab.lab.checks.checking import Options

    options = Options(
        kernels, machines, seeds, bugs, jobs, seconds(budget) if budget else None, output, coverage
    )
    try:
        verdicts = _run(found, options, reduce_)
    except Interrupted as error:
        if coverage:
            raise Interrupted(
                f"{error}\n  What was counted is in {coverage}; the same command adds to it."
            ) from error
        raise
    if coverage:
        _write_coverage(coverage)
    if junit_file:
        from schedlab.lab.checks.junit import junit
        from schedlab.report import save

        echo(f"wrote {save(junit(verdicts), junit_file)}")
    words = {verdict.word for verdict in verdicts}
    if "refused" in words:
        sys.exit(2)
    if words & {"failed", "missed"}:
        sys.exit(1)
    if words == {"not run"}:
        raise UsageError("the budget left no time for a single run.")
    ran = {verdict.check for verdict in verdicts if verdict.word != "not run"}
    if never := list(dict.fromkeys(v.check for v in verdicts if v.check not in ran)):
        echo(f"the budget left no time for: {', '.join(never)}")
        sys.exit(1)


def _write_coverage(folder: Path) -> None:
    from schedlab.lab.checks.coverage import read_coverage
    from schedlab.lab.checks.coverage_page import PAGE, coverage_html, coverage_page, shares
    from schedlab.report import save

    kernels = read_coverage(folder)
    for covered in kernels:
        echo(f"{covered.kernel}: of the lines that can run, {shares(covered)} ran")
    echo(f"wrote {save(coverage_page(kernels), folder / 'coverage.md')}")
    for name, text in coverage_html(kernels).items():
        save(text, folder / name)
    echo(f"wrote {folder / PAGE}")


def _run(found: "Sequence[Named]", options: "Options", reduce_: bool) -> "list[Verdict]":
    """Make the runs, print what comes out, and leave the files of what failed."""
    from schedlab.base.system.interrupt import stoppable
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.lab.checks.checking import BAD, Checking

    steps = ConsoleSteps()
    with stoppable():
        checking = Checking(found, options, steps)
        for name in checking.without:
            steps.say(f"{name}: left out: none of its kernels has been added")
        verdicts = []
        for verdict in checking.run():
            verdicts.append(verdict)
            place = f"[{len(verdicts)}/{len(checking.planned)}] {verdict.place}"
            echo(f"{place}: {verdict.word} ({verdict.seconds:.1f} s)")
            for line in verdict.shown if verdict.word in BAD else ():
                echo(f"    {line}")
        if options.output:
            for line in checking.leave(verdicts, options.output, reduce_):
                echo(line)
    counts = Counter(verdict.word for verdict in verdicts)
    echo(", ".join(f"{number} {word}" for word, number in sorted(counts.items())))
    return verdicts
