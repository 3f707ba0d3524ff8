"""`schedlab import`: published results in, verdicts out."""

from pathlib import Path

import click

from schedlab.base.errors import UsageError
from schedlab.base.system.inside import inside
from schedlab.base.system.interrupt import stoppable
from schedlab.cli.how import invocation
from schedlab.cli.names import ANY_PATH

_IMPORTED = Path("results") / "imported"


@click.command("import")
@click.argument("files", type=ANY_PATH, metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--output",
    metavar="DIR",
    type=ANY_PATH,
    help=f"Result folder to make; with several files, a folder in it for each. {_IMPORTED}/NAME"
    " if not given.",
)
def import_command(files: tuple[Path, ...], output: Path | None) -> None:
    """Read published results, recompute their percentages, and judge what can be judged.

    Each file becomes a result folder of its own, the document kept in it. docs/manual/import.md
    shows the shapes that are read. Nothing is written unless all files can be read.
    """
    from schedlab.importers.files import import_files

    with stoppable():
        for store in import_files(_folders(files, output), invocation()):
            from schedlab.cli.result import print_result

            print_result(store)


def _folders(files: tuple[Path, ...], output: Path | None) -> dict[Path, Path]:
    """Return the folder of each file; refuse two of one folder."""
    found: dict[Path, Path] = {}
    for file in files:
        if output and len(files) == 1:
            folder = output
        else:
            folder = inside(output or _IMPORTED, file.stem, file)
        if folder in found:
            raise UsageError(
                f"{found[folder]} and {file} would both become {folder}."
                "\n  Import them one by one, each with its own --output."
            )
        found[folder] = file
    return found
