"""`schedlab diverge`: the first decision in which two variants part."""

import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from schedlab.base.errors import UsageError
from schedlab.benchmarks import Case
from schedlab.cli.echo import echo
from schedlab.cli.finite import Finite
from schedlab.cli.names import BENCHMARK, MACHINE
from schedlab.cli.run import single_case
from schedlab.lab.divergence.runs import Side, find_divergence, window
from schedlab.lab.divergence.wording import tell
from schedlab.plan.plan import LARGEST_SEED
from schedlab.settings.variant import Variant, parse_variant
from schedlab.simulation.scenario import scenario, under
from schedlab.system.interrupt import stoppable
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
    variants = [parse_variant(first), parse_variant(second)]
    if variants[0].name == variants[1].name:
        raise UsageError(f"both variants are called {variants[0].name}; name one of them anew.")
    target = SimTarget(machine)
    case = single_case(benchmark, target.machine()) if benchmark else None
    with (
        stoppable(),
        tempfile.TemporaryDirectory() as name,
        closing(target.session([case] if case else [], variants, timeout)) as session,
    ):
        folder = Path(name)
        session.begin(variants, folder)
        one, other = (
            Side(
                variant.name,
                session.builds[variant.name].program,
                folder / "machine.json",
                _scenario(case, file, variant, timeout),
                model.enclosures if case and (model := case.model()) else (),
            )
            for variant in variants
        )
        names = (one.name, other.name)
        found = find_divergence((one, other), seed, timeout, folder)
        for line in tell(found, names):
            echo(line)
        parting = found.choice or found.anything
        if not parting or not around:
            return
        begin, end = parting.time - around / 1e6, parting.time + around / 1e6
        for number, side in enumerate((one, other)):
            echo(f"\n{side.name}, {begin:.6f} to {end:.6f} s:")
            for line in window(side, seed, timeout, folder / f"window{number}", begin, end):
                echo(line)


def _scenario(
    case: Case | None, file: Path | None, variant: Variant, limit: float
) -> Mapping[str, Any]:
    if case:
        model = case.model()
        assert model, "the session has refused what has no model"
        return scenario(model, variant, limit)
    assert file
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: no scenario: {error}") from error
    if not isinstance(told, dict):
        raise UsageError(f"{file}: a scenario is a JSON object.")
    for workload in told.get("workloads", []):
        if "file" in workload:  # seen from the scenario's folder, of which a copy is read
            workload["file"] = str(file.parent.absolute() / workload["file"])
    return under(variant, told)
