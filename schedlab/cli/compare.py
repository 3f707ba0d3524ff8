"""`schedlab compare`: two results side by side."""

from contextlib import closing
from pathlib import Path

import click

from schedlab.cli.names import ANY_PATH
from schedlab.result.folder import check_result


@click.command("compare")
@click.argument("first", metavar="A", type=ANY_PATH)
@click.argument("second", metavar="B", type=ANY_PATH)
def compare(first: Path, second: Path) -> None:
    """Set two results side by side: two machines, or two dates.

    Shows what A and B say of each variant, side by side. A difference of the same variant between A
    and B is labelled `between sessions`: it may come from anything that differs between
    them, and is never a claim about a variant.
    """
    for folder in (first, second):
        check_result(folder)

    # Only here: a wrong name is answered at once, without loading what reads results.
    from rich.console import Console

    from schedlab.cli.side_by_side import print_sessions
    from schedlab.judging.sessions import compare as compare_sessions
    from schedlab.result.store import Store

    with closing(Store.open(first)) as ours, closing(Store.open(second)) as theirs:
        print_sessions(ours, theirs, compare_sessions(ours, theirs), Console())
