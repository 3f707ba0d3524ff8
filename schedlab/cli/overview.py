"""`schedlab overview`: one page over several results."""

from contextlib import ExitStack, closing
from pathlib import Path

import click

from schedlab.cli.echo import echo
from schedlab.cli.names import ANY_PATH, NEW_FILE
from schedlab.result.folder import check_result


@click.command("overview")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=ANY_PATH)
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    type=NEW_FILE,
    help="The HTML page; it links the report.html of every DIR.",
)
def overview(folders: tuple[Path, ...], output: Path) -> None:
    """Print a line on what each DIR found; write one page over all, with links to the reports."""
    for folder in folders:
        check_result(folder)

    # Only here: a wrong name is answered at once, without loading what reads results.
    from schedlab.judging.analysis import analyse
    from schedlab.report import Report, save
    from schedlab.report.overview import overview as page_over
    from schedlab.report.overview import summary, totals
    from schedlab.result.store import Store

    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store.open(folder))) for folder in folders]
        reports = [Report(store, analyse(store)) for store in stores]
        text = page_over(reports, output)
        for line in [*summary(reports), *totals(reports)]:
            echo(line)
    echo(f"wrote {save(text, output)}")
