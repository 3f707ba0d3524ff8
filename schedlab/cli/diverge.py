"""`schedlab diverge`: where two variants part, and what they decide differently."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.names import BENCHMARK, KERNEL, MACHINE, NEW_FILE, VARIANT
from schedlab.cli.numbers import Duration
from schedlab.cli.one_run import longest_simulation, seed_of_run

if TYPE_CHECKING:
    from schedlab.benchmarks import Case
    from schedlab.machine.model import Machine
    from schedlab.settings.variant import Variant


@click.command("diverge")
@click.argument("first", metavar="A", type=VARIANT)
@click.argument("second", metavar="B", type=VARIANT)
@click.option(
    "--machine", required=True, type=MACHINE, metavar="NAME|FILE", help="The machine to simulate."
)
@click.option(
    "--kernel",
    type=KERNEL,
    metavar="TREE",
    help="The kernel of variants that name none, such as 7.3.",
)
@click.option("--benchmark", type=BENCHMARK, metavar="NAME[:KEY=VALUE,...]", help="What to run.")
@click.option(
    "--workload",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="What to run: a file of rt-app, or a scenario (docs/internals/engine.md).",
)
@seed_of_run
@click.option("--verbose", is_flag=True, help="Show all inputs, and all events around the parting.")
@click.option(
    "--window",
    "around",
    type=Duration("0us"),
    default="50us",
    show_default=True,
    metavar="TIME",
    help="With --verbose: all events of both runs this long before and after.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=NEW_FILE,
    help="Write both runs side by side, as a JSON trace for https://ui.perfetto.dev.",
)
@longest_simulation
def diverge(
    first: str,
    second: str,
    machine: str,
    kernel: str | None,
    benchmark: str | None,
    workload: Path | None,
    seed: int,
    verbose: bool,
    around: str,
    output: Path | None,
    timeout: str,
) -> None:
    """Simulate variants A and B with the same seed and explain where their decisions part.

    Shows the first decision that differs, from power-on to the end: which function, on which CPU,
    when and for whom, what each side did and what it saw; then for each function how many of its
    decisions differ, how they turned out, and the first of them.

    \b
    schedlab diverge base 'no-wa: NO_WA_IDLE' --machine epyc-7713-2p-nps1 \\
        --benchmark HackbenchPipeThreads:groups=2,loops=50
    """
    from schedlab.settings.variant import parse_variant

    variants = (_on(kernel, parse_variant(first)), _on(kernel, parse_variant(second)))
    if variants[0].name == variants[1].name:
        raise UsageError(f"both variants are called {variants[0].name}; rename one of them.")
    if bool(benchmark) == bool(workload):
        raise UsageError("name what to run: --benchmark NAME or --workload FILE.")
    from schedlab.benchmarks import Case
    from schedlab.cli.planning import single_case
    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.lab.divergence.comparison import Wanted, compare_decisions, read_scenario
    from schedlab.targets.sim import SimTarget

    target = SimTarget(machine, ConsoleWatcher())
    what: Case | Path
    if benchmark:
        what = single_case(benchmark, target.machine())
    else:
        assert workload
        what = (
            workload if read_scenario(workload) is not None else _rt_app(workload, target.machine())
        )
    wanted = Wanted(seconds(around) if verbose else None, output)
    for line in compare_decisions(target, variants, what, seed, wanted, seconds(timeout)):
        echo(line)
    if output:
        echo(f"wrote {output}")


def _on(kernel: str | None, variant: "Variant") -> "Variant":
    """Return a variant with this kernel, if it names none."""
    from schedlab.settings.kinds.kernel import Kernel

    return variant if Kernel.of(variant) else variant.model_copy(update={Kernel.key: kernel})


def _rt_app(file: Path, machine: "Machine") -> "Case":
    from schedlab.benchmarks import find_benchmark

    benchmark = find_benchmark("RtApp", "--workload")
    return benchmark.case(machine, {"file": str(file)}, file.stem, "--workload")
