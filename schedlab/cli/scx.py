"""`schedlab scx`: sched_ext schedulers that a variant can name, and finding their faults."""

from collections.abc import Iterable
from pathlib import Path

import click

from schedlab.base.errors import UsageError
from schedlab.base.system.system import natural
from schedlab.cli.echo import echo
from schedlab.cli.group import Group
from schedlab.cli.names import ANY_PATH, FOLDER, MACHINE, VARIANT
from schedlab.cli.one_run import longest_simulation, seed_of_run, what_to_run


@click.group("scx", cls=Group)
def scx() -> None:
    """List the sched_ext schedulers there are, add those of the scx project, debug one.

    \b
    schedlab scx list
    schedlab scx add --tree ~/scx
    schedlab scx debug smt8 --benchmark HackbenchPipeThreads:groups=1,loops=9 \\
        --variant 'x: scx=simple' --output debugged
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


@scx.command("debug")
@click.argument("machine", type=MACHINE)
@what_to_run
@click.option(
    "--variant",
    required=True,
    type=VARIANT,
    metavar="'NAME: scx=...; ...'",
    help="The scheduler, and other settings, as in a variant.",
)
@seed_of_run
@click.option(
    "--sanitize",
    is_flag=True,
    help="Have AddressSanitizer watch the scheduler's variables, stack and maps.",
)
@longest_simulation
@click.option(
    "--output",
    required=True,
    metavar="DIR",
    type=FOLDER,
    help="A new folder for the run's files.",
)
def debug(
    machine: str,
    benchmark: str,
    variant: str,
    seed: int,
    sanitize: bool,
    timeout: str,
    output: Path,
) -> None:
    """Simulate one run with a scheduler on MACHINE, keep its files, print how gdb repeats it.

    \b
    schedlab scx debug smt8 --benchmark HackbenchPipeThreads:groups=1,loops=9 \\
        --variant 'x: kernel=7.3; scx=simple' --output debugged
    """
    from schedlab.base.duration import seconds
    from schedlab.cli.planning import single_case
    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.lab.new_folder import make_folder
    from schedlab.lab.tracing import single_run
    from schedlab.settings.kinds.scx import Scx
    from schedlab.settings.variant import parse_variant
    from schedlab.targets.sim import SimTarget

    chosen = parse_variant(variant)
    if not Scx.of(chosen):
        raise UsageError(f"variant {chosen.name}: names no scheduler to debug: scx=NAME.")
    target = SimTarget(machine, ConsoleWatcher(), sanitize=sanitize)
    case = single_case(benchmark, target.machine())
    folder = output.absolute()
    make_folder(folder)
    record = single_run(target, case, chosen, folder, seed, seconds(timeout))
    if record.status == "failed":
        echo(f"{case.label} failed: {record.error}")
    for name, value in record.metrics.items():
        echo(f"{case.label}: {name} {value:g}")
    echo(f"files: {folder}")
    echo(f"again: gdb --args {record.command}")


def _show(where: str, names: Iterable[str]) -> None:
    echo(f"{where}: {', '.join(sorted(names, key=natural)) or 'none'}")
