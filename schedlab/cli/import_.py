"""`schedlab import`: a published report in, verdicts out."""

import shlex
import sys
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console

from schedlab.analysis import analyse
from schedlab.importers.markdown_report import import_report
from schedlab.report import write_reports
from schedlab.report.terminal import print_report


@click.command("import")
@click.argument("report", type=click.Path(path_type=Path), metavar="REPORT.md")
@click.option(
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Result folder to make.",
)
def import_command(report: Path, output: Path) -> None:
    """Read a report in the shape of the Kunpeng reports, and judge its tables.

    Each benchmark is a `## Name` heading, its command between `~~~` lines, and a table with a row
    a run, named VARIANT-RUN-0, the metric first and counters behind it.
    """
    invocation = shlex.join(["schedlab", *sys.argv[1:]])
    with closing(import_report(report, output, invocation)) as store:
        print_report(store, analyse(store), Console())
        for path in write_reports(store):
            click.echo(f"wrote {path}")
