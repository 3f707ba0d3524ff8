"""`schedlab import`: published results in, verdicts out."""

import shlex
import sys
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console

from schedlab.analysis import analyse
from schedlab.importers import import_file
from schedlab.report import write_reports
from schedlab.report.terminal import print_report

_IMPORTED = Path("results") / "imported"


@click.command("import")
@click.argument(
    "files", type=click.Path(path_type=Path), metavar="FILE...", nargs=-1, required=True
)
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=f"Result folder to make; with several files, a folder in it for each. {_IMPORTED}/NAME"
    " if not given.",
)
def import_command(files: tuple[Path, ...], output: Path | None) -> None:
    """Read published results, recompute their percentages, and judge what can be judged.

    Each file becomes a result folder of its own, the document kept in it. docs/import.md shows
    the shapes that are read.
    """
    invocation = shlex.join(["schedlab", *sys.argv[1:]])
    for file in files:
        folder = (output or _IMPORTED) / file.stem
        if output and len(files) == 1:
            folder = output
        with closing(import_file(file, folder, invocation)) as store:
            print_report(store, analyse(store), Console())
            for path in write_reports(store):
                click.echo(f"wrote {path}")
