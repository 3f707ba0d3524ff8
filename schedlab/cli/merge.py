"""`schedlab merge`: results of several boots in, verdicts that rest on boots out."""

from contextlib import ExitStack, closing
from pathlib import Path

import click

from schedlab.base.system.interrupt import stoppable
from schedlab.cli.how import invocation
from schedlab.cli.names import ANY_PATH
from schedlab.cli.numbers import Looks
from schedlab.result.folder import check_result


@click.command("merge")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=ANY_PATH)
@click.option(
    "--output", required=True, metavar="DIR", type=ANY_PATH, help="Result folder to make."
)
@click.option(
    "--looks",
    type=Looks(),
    metavar="N,...",
    default="6,12,24,40",
    show_default=True,
    help="Boots of each variant after which the evidence is judged.",
)
def merge_command(folders: tuple[Path, ...], output: Path, looks: list[int]) -> None:
    """Merge the results of several boots of a host into one.

    A boot counts as one value of each variant that ran at it, however many runs it had. Run the
    same plan at every boot, and boot the variants in turn.

    \b
    schedlab run nps.toml --output boot1          # at a boot with NPS1
    schedlab run nps.toml --output boot2          # at one with NPS4; and so on
    schedlab merge boot* --output merged
    """
    for folder in folders:
        check_result(folder)

    # Only here: a wrong name is answered at once, without loading what reads results.
    from schedlab.cli.result import print_result
    from schedlab.result.merge import merge
    from schedlab.result.store import Store

    with ExitStack() as open_stores:
        stores = [open_stores.enter_context(closing(Store.open(folder))) for folder in folders]
        with stoppable():
            merged = merge(stores, output, looks, invocation())
    print_result(merged)
