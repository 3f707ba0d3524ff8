"""`schedlab scx`: sched_ext schedulers that a variant can name."""

from collections.abc import Iterable
from pathlib import Path

import click

from schedlab.base.system.system import natural
from schedlab.cli.echo import echo
from schedlab.cli.names import ANY_PATH


@click.group("scx")
def scx() -> None:
    """List the sched_ext schedulers there are, and add those of the scx project.

    \b
    schedlab scx list
    schedlab scx add --tree ~/scx
    """


@scx.command("add")
@click.option(
    "--tree",
    required=True,
    metavar="PATH",
    type=ANY_PATH,
    help="A clone of the scx project; nothing of it is copied.",
)
def add(tree: Path) -> None:
    """Let variants name the schedulers of a clone of the scx project: scx=bpfland."""
    from schedlab.kernels.scx_tree import add_scx_tree
    from schedlab.kernels.shelf import Shelf

    _show(str(tree), add_scx_tree(Shelf(), tree))


@scx.command("list")
def list_() -> None:
    """List the schedulers of each kernel tree, and of the scx project's."""
    from schedlab.kernels.schedulers import has_sched_ext, tree_schedulers
    from schedlab.kernels.scx_tree import scx_sources, scx_tree
    from schedlab.kernels.shelf import Shelf

    shelf = Shelf()
    for base in shelf.bases():
        if not has_sched_ext(base):
            echo(f"{base.name}: no sched_ext")
        else:
            _show(base.name, tree_schedulers(base))
    if tree := scx_tree(shelf):
        _show(str(tree), scx_sources(tree))


def _show(where: str, names: Iterable[str]) -> None:
    echo(f"{where}: {', '.join(sorted(names, key=natural)) or 'none'}")
