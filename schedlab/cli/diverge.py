"""`schedlab diverge`: the first decision in which two variants part."""

from pathlib import Path

import click

from schedlab.base.errors import UsageError
from schedlab.benchmarks import Case
from schedlab.cli.echo import echo
from schedlab.cli.finite import Finite
from schedlab.cli.names import BENCHMARK, MACHINE
from schedlab.cli.planning import single_case
from schedlab.cli.watcher import ConsoleWatcher
from schedlab.lab.divergence.comparison import compare_decisions
from schedlab.plan.plan import LARGEST_SEED
from schedlab.settings.variant import parse_variant
from schedlab.targets.sim import SimTarget


@click.command("diverge")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--machine", required=True, type=MACHINE, metavar="NAME|FILE", help="On which machine."
)
@click.option("--benchmark", type=BENCHMARK, metavar="NAME[:KEY=VALUE,...]", help="What to run.")
@click.option(
    "--scenario",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="What to run: a scenario of the simulator (docs/internals/engine.md).",
)
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), default=1, show_default=True)
@click.option(
    "--window",
    "around",
    type=Finite(min=0),
    default=50.0,
    show_default=True,
    metavar="US",
    help="Show all events of both runs this long before and after.",
)
@click.option(
    "--timeout",
    type=Finite(min=1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest a simulator may work.",
)
def diverge(
    first: str,
    second: str,
    machine: str,
    benchmark: str | None,
    file: Path | None,
    seed: int,
    around: float,
    timeout: float,
) -> None:
    """Simulate variants A and B with the same seed up to the first decision that differs.

    Shows which function decided what on which CPU, when and for whom, what it was decided from,
    and all events around it.

    \b
    schedlab diverge base 'no-wa: NO_WA_IDLE' --machine epyc-7713-2p-nps1 \\
        --benchmark HackbenchPipeThreads:groups=2,loops=50
    """
    if (benchmark is None) == (file is None):
        raise UsageError("say what to run: --benchmark NAME or --scenario FILE.")
    variants = (parse_variant(first), parse_variant(second))
    if variants[0].name == variants[1].name:
        raise UsageError(f"both variants are called {variants[0].name}; name one of them anew.")
    target = SimTarget(machine, ConsoleWatcher())
    if benchmark:
        what: Case | Path = single_case(benchmark, target.machine())
    else:
        assert file
        what = file
    for line in compare_decisions(target, variants, what, seed, around, timeout):
        echo(line)
