"""`schedlab report`: write the report of a result in any of its shapes."""

import re
import shlex
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

import schedlab
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo, put
from schedlab.cli.names import ANY_PATH, NEW_FILE
from schedlab.result.folder import check_result, is_sweep, results_of_sweep

if TYPE_CHECKING:
    from schedlab.report import Detail

_SHAPE = re.compile(r'^@shape\("(\w+)".*\ndef .*\n    """(.+?)(?:"""|\n)', re.MULTILINE)


def shapes() -> dict[str, str]:
    """Return what each shape says of itself, from its text, so that help loads none."""
    modules = sorted((Path(schedlab.__path__[0]) / "report").glob("*.py"))
    found = (_SHAPE.findall(module.read_text(encoding="utf-8")) for module in modules)
    return dict(sorted(shape for of_module in found for shape in of_module))


_WITH_COUNTERS = ("terminal", "lkml", "markdown")
"""The shapes that choose which counters they show."""


@click.command(
    "report", epilog="\b\n" + "\n".join(f"{name:10}{summary}" for name, summary in shapes().items())
)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=ANY_PATH)
@click.option(
    "--format",
    "name",
    type=click.Choice(list(shapes())),
    default="terminal",
    show_default=True,
    help="The shape of the report; they are described below.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=NEW_FILE,
    help="Write to FILE; without it to standard output, and html to DIR/report.html.",
)
@click.option(
    "--counters",
    type=click.Choice(["all"]),
    help="Show all counters that changed, not only those that explain results.",
)
@click.option(
    "--platform",
    is_flag=True,
    help="Show the whole platform table in a mail, including host names.",
)
def report(
    folders: tuple[Path, ...], name: str, output: Path | None, counters: str | None, platform: bool
) -> None:
    """Write the report of the result in DIR; lkml and summary also report several, or a sweep.

    Nothing is measured again: every report is made from the recorded runs.
    """
    if platform and name != "lkml":
        raise UsageError("--platform extends the table of a mail: give --format lkml with it.")
    if counters and name not in _WITH_COUNTERS:
        raise UsageError(
            f"--counters changes nothing in --format {name}; it goes with"
            f" {', '.join(_WITH_COUNTERS)}."
        )
    results = [result for folder in folders for result in _results(folder)]

    # Only here: a wrong name is answered at once, without loading what reads results.
    from schedlab.cli.screen import print_report
    from schedlab.judging.analysis import analyse
    from schedlab.report import Detail, Report, all_shapes, save, save_in
    from schedlab.result.store import Store

    detail = Detail(counters=counters == "all", platform=platform)
    if len(results) > 1 or is_sweep(folders[0]):
        text = _of_several(results, name, detail)
    else:
        with closing(Store.open(results[0])) as store:
            analysis = analyse(store)
            if name == "terminal" and output is None:
                from rich.console import Console

                print_report(store, analysis, Console(), detail)
                return
            text = all_shapes()[name].render(Report(store, analysis, detail))
    if output is not None:
        echo(f"wrote {save(text, output)}")
    elif name == "html":
        echo(f"wrote {save_in(results[0], 'report.html', text)}")
    else:
        put(text)


def _results(folder: Path) -> list[Path]:
    """Return the folder of a result, or those of a sweep."""
    if not is_sweep(folder):
        check_result(folder)
        return [folder]
    if results := results_of_sweep(folder):
        return results
    raise UsageError(
        f"{folder}: is a sweep without a result so far; `schedlab run --resume {folder}`"
        " continues it."
    )


def _of_several(results: Sequence[Path], name: str, detail: "Detail") -> str:
    """Return one report of several results, in a shape that can be."""
    from schedlab.base.words import listing
    from schedlab.judging.analysis import analyse
    from schedlab.report import Report, all_shapes
    from schedlab.result.store import Store

    known = all_shapes()
    write = known[name].several
    if write is None:
        shapes = listing([f"`--format {each.name}`" for each in known.values() if each.several])
        shown = "".join(
            f"\n  schedlab report {shlex.quote(str(result))} --format {name}" for result in results
        )
        raise UsageError(
            f"--format {name} reports one result, and these are {len(results)}; {shapes} take"
            f" several, and `schedlab overview` links the pages of all.\n  Of one:{shown}"
        )
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store.open(result))) for result in results]
        return write([Report(store, analyse(store), detail) for store in stores])
