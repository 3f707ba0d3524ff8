"""`schedlab trace`: one simulated run, recorded event by event."""

import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import click

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.cli.echo import echo
from schedlab.cli.finite import Finite
from schedlab.cli.names import BENCHMARK, KERNEL, MACHINE
from schedlab.cli.run import single_case
from schedlab.plan.plan import LARGEST_SEED
from schedlab.result.record import RunKey
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.variant import parse_variant
from schedlab.system.interrupt import stoppable
from schedlab.targets.sim import SimTarget
from schedlab.targets.target import Order


@click.command("trace")
@click.argument("machine", type=MACHINE)
@click.option(
    "--benchmark",
    required=True,
    type=BENCHMARK,
    metavar="NAME[:KEY=VALUE,...]",
    help="What to run.",
)
@click.option(
    "--variant",
    default="base",
    metavar="'NAME: SETTING; ...'",
    help="Under what settings.",
)
@click.option(
    "--kernel",
    type=KERNEL,
    metavar="NAME",
    help="On which kernel; the same as the setting kernel=NAME.",
)
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), default=1, show_default=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["ftrace", "perfetto"]),
    default="ftrace",
    show_default=True,
    help="ftrace's text (Perfetto and TRAPpy read it), or Perfetto's own protobuf.",
)
@click.option("--events", metavar="NAME,...", help="Only these tracepoints; patterns as sched:*.")
@click.option("--cpus", metavar="LIST", help="Only on these CPUs, e.g. 0-3,8.")
@click.option("--tasks", metavar="PATTERN", help="Only of tasks with such a name, e.g. 'sender*'.")
@click.option(
    "--from", "from_", type=Finite(), metavar="SECONDS", help="Simulated time to begin at."
)
@click.option("--to", type=Finite(), metavar="SECONDS", help="Simulated time to end at.")
@click.option(
    "--ring", type=click.IntRange(1, 2**31 - 1), metavar="N", help="Keep only the last N events."
)
@click.option(
    "--timeout",
    type=Finite(min=1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest the simulator may work.",
)
@click.option(
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the trace goes.",
)
def trace(
    machine: str,
    benchmark: str,
    variant: str,
    kernel: str | None,
    seed: int,
    format_: str,
    events: str | None,
    cpus: str | None,
    tasks: str | None,
    from_: float | None,
    to: float | None,
    ring: int | None,
    timeout: float,
    output: Path,
) -> None:
    """Simulate one run of a benchmark on MACHINE and record what the scheduler does.

    The same seed gives the same trace, always and everywhere. Times count from the moment the
    benchmark starts on the settled machine.

    \b
    schedlab trace epyc-7713-2p-nps1 --benchmark HackbenchPipeThreads:groups=1,loops=100 \\
        --events 'sched:sched_migrate_task,sched:sched_switch' --cpus 0-7 --output trace.txt
    """
    target = SimTarget(machine)
    case = single_case(benchmark, target.machine())
    chosen = parse_variant(variant)
    if kernel:
        if Kernel.of(chosen):
            raise UsageError("--kernel and the variant's kernel=NAME say the same; give one.")
        chosen = chosen.model_copy(update={"kernel": kernel})
    options = _options(
        {
            "trace": str(output.absolute()),
            "trace-format": format_,
            "trace-events": events,
            "trace-cpus": cpus,
            "trace-tasks": tasks,
            "trace-from": from_,
            "trace-to": to,
            "trace-ring": ring,
        }
    )
    if cpus:
        _check_cpus(cpus)
    order = Order(RunKey(case.label, chosen.name, 0), case, chosen, seed, position=0)
    with (
        stoppable(),
        tempfile.TemporaryDirectory() as folder,
        closing(target.session([case], [chosen], timeout)) as session,
    ):
        session.begin([chosen], Path(folder))
        record = session.run(order, Path(folder), options)
    if record.status == "failed":
        raise IncompleteRun(f"{case.label} failed: {record.error}")
    for name, value in record.metrics.items():
        echo(f"{case.label}: {name} {value:g}")
    echo(f"wrote {output}")


def _options(given: Mapping[str, str | float | None]) -> tuple[str, ...]:
    """Return the simulator's options for what was given."""
    options: list[str] = []
    for name, value in given.items():
        if value is not None:
            options += [f"--{name}", str(value)]
    return tuple(options)


def _check_cpus(text: str) -> None:
    try:
        parse_cpulist(text)
    except ValueError as error:
        raise UsageError(f"--cpus: {error}") from None
