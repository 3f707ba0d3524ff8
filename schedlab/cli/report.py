"""`schedlab report`: write the report of a result in any of its shapes."""

import shlex
from pathlib import Path

import click

from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo, put

_SHAPES = {
    "csv": "CSV: a line a run and metric or counter; a failed run has one line without a figure.",
    "html": "HTML: one self-contained page with figures, every run and every setting.",
    "intel": "Plain text, `case load baseline(std%) compare%( std%)`: relative, positive is"
    " better.",
    "json": "JSON: the verdicts, every run, the plan and the machine.",
    "lkml": "Plain text of 72 columns, `tip / patch (pct)` tables: to paste in a mail.",
    "markdown": "Markdown: platform, verdicts, then one table a benchmark with a row a run.",
    "mmtests": "Plain text in the shape of mmtests, where a star is a verdict.",
    "terminal": "Verdicts and what needs attention, for a terminal of 100 columns.",
}
"""What each shape says of itself, so that help loads none."""


@click.command(
    "report",
    epilog="\b\n" + "\n".join(f"{name:10}{summary}" for name, summary in _SHAPES.items()),
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "name",
    type=click.Choice(list(_SHAPES)),
    default="terminal",
    show_default=True,
    help="The shape of the report; they are described below.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE; without it to standard output, and html to DIR/report.html.",
)
@click.option(
    "--counters",
    type=click.Choice(["all"]),
    help="Show all counters that changed, not only those that decided.",
)
def report(folder: Path, name: str, output: Path | None, counters: str | None) -> None:
    """Write the report of the result in DIR.

    Nothing is measured again: every report is made from what the runs left behind.
    """
    from rich.console import Console

    from schedlab.judging.analysis import analyse
    from schedlab.lab.sweep import PAGE, is_sweep, results_of_sweep
    from schedlab.report import Detail, Report, all_shapes, save, save_in
    from schedlab.report.terminal import print_report
    from schedlab.result.store import Store

    if is_sweep(folder):
        results = results_of_sweep(folder)
        shown = "".join(f"\n  schedlab report {shlex.quote(str(result))}" for result in results)
        raise UsageError(
            f"{folder}: holds a sweep, which has a result for each of its points;"
            f" {folder / PAGE} is the page over all."
            f"\n  Name one result:{shown}"
            if results
            else f"{folder}: holds a sweep of which no result is there yet;"
            f" `schedlab run --resume {folder}` goes on."
        )
    detail = Detail(counters=counters == "all")
    store = Store.open(folder)
    try:
        analysis = analyse(store)
        if name == "terminal" and output is None:
            print_report(store, analysis, Console(), detail)
            return
        text = all_shapes()[name].render(Report(store, analysis, detail))
    finally:
        store.close()
    if output is not None:
        echo(f"wrote {save(text, output)}")
    elif name == "html":
        echo(f"wrote {save_in(folder, 'report.html', text)}")
    else:
        put(text)
