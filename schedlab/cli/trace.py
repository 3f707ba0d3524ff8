"""`schedlab trace`: one simulated run, recorded event by event; and what a trace shows."""

from pathlib import Path
from typing import Literal

import click

from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError, reading
from schedlab.base.files import need_regular
from schedlab.cli.echo import echo
from schedlab.cli.group import Group
from schedlab.cli.names import FILE, KERNEL, MACHINE, NEW_FILE, VARIANT
from schedlab.cli.numbers import Finite, Whole
from schedlab.cli.one_run import longest_simulation, seed_of_run, what_to_run


class _Trace(Group):
    """A group whose first word may be left out: without one, a run is simulated."""

    default = "simulate"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] not in ([name] for name in (*self.commands, *ctx.help_option_names)):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


@click.group("trace", cls=_Trace)
def trace() -> None:
    """Simulate one run of a benchmark on MACHINE and record what the scheduler does.

    `simulate` may be left out; `stats` shows what any trace contains.

    \b
    schedlab trace smp4 --benchmark HackbenchPipeThreads:groups=1,loops=9 --output trace.txt
    schedlab trace stats trace.txt
    """


@trace.command("stats")
@click.argument("file", type=FILE)
@click.option(
    "--tasks", metavar="PATTERN,...", help="Only tasks with such names, e.g. 'nginx*,php*'."
)
@click.option(
    "--machine", type=MACHINE, metavar="NAME", help="The machine whose topology names the moves."
)
@click.option(
    "--rows", type=Whole(1, 10_000), default=20, show_default=True, help="Rows of each table."
)
@click.option(
    "--html",
    metavar="PAGE",
    type=NEW_FILE,
    help="Also write a page, with who wakes whom as a graph.",
)
def stats(file: Path, tasks: str | None, machine: str | None, rows: int, html: Path | None) -> None:
    """Print what the trace in FILE shows: time by state, wakeups, who wakes whom, moves.

    FILE is text of ftrace, trace-cmd or perf script, perf.data, trace.dat, or Perfetto's.
    """
    need_regular(file)
    with reading(file):
        file.open("rb").close()

    # Only here: a wrong name is answered at once, without loading what reads traces.
    from schedlab.lab.recording.choice import Choice
    from schedlab.lab.recording.distance import mover
    from schedlab.lab.recording.page import trace_page
    from schedlab.lab.recording.reading import read_trace
    from schedlab.lab.recording.stats import describe_stats, trace_stats
    from schedlab.machine.model import find_machine

    events = read_trace(file)
    moves = mover(find_machine(machine) if machine else events.machine)
    found = trace_stats(events, Choice(tuple(tasks.split(",")) if tasks else ()), moves)
    for line in describe_stats(found, rows):
        echo(line)
    if html:
        try:
            html.write_text(trace_page(found, file.name))
        except OSError as error:
            raise UsageError(f"{html}: {error.strerror}.") from None
        echo(f"wrote {html}")


@trace.command("simulate")
@click.argument("machine", type=MACHINE)
@what_to_run
@click.option(
    "--variant",
    type=VARIANT,
    default="base",
    metavar="'NAME: SETTING; ...'",
    help="The settings to simulate, as in a variant.",
)
@click.option(
    "--kernel",
    type=KERNEL,
    metavar="NAME",
    help="The kernel to simulate; the same as the setting kernel=NAME.",
)
@seed_of_run
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
    "--from", "from_", type=Finite(min=0), metavar="SECONDS", help="Simulated time to begin at."
)
@click.option("--to", type=Finite(min=0), metavar="SECONDS", help="Simulated time to end at.")
@click.option("--ring", type=Whole(1, 2**31 - 1), metavar="N", help="Keep only the last N events.")
@longest_simulation
@click.option(
    "--output", required=True, metavar="FILE", type=NEW_FILE, help="Where the trace goes."
)
def simulate(
    machine: str,
    benchmark: str,
    variant: str,
    kernel: str | None,
    seed: int,
    format_: Literal["ftrace", "perfetto"],
    events: str | None,
    cpus: str | None,
    tasks: str | None,
    from_: float | None,
    to: float | None,
    ring: int | None,
    timeout: str,
    output: Path,
) -> None:
    """Simulate one run of a benchmark on MACHINE and record what the scheduler does.

    The same seed gives the same trace, always and everywhere. Times count from the moment the
    benchmark starts on the settled machine.

    \b
    schedlab trace epyc-7713-2p-nps1 --benchmark HackbenchPipeThreads:groups=1,loops=100 \\
        --events 'sched:sched_migrate_task,sched:sched_switch' --cpus 0-7 --output trace.txt
    """
    from schedlab.cli.planning import single_case
    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.lab.tracing import Recording, record_run
    from schedlab.settings.kinds.kernel import Kernel
    from schedlab.settings.variant import parse_variant
    from schedlab.targets.sim import SimTarget

    target = SimTarget(machine, ConsoleWatcher())
    case = single_case(benchmark, target.machine())
    chosen = parse_variant(variant)
    if kernel:
        if Kernel.of(chosen):
            raise UsageError(
                "--kernel and the variant's kernel=NAME both choose the kernel; give one."
            )
        chosen = chosen.model_copy(update={"kernel": kernel})
    recording = Recording(output, format_, events, cpus, tasks, from_, to, ring)
    record = record_run(target, case, chosen, recording, seed, seconds(timeout))
    units = {metric.name: metric.unit for metric in case.metrics}
    for name, value in record.metrics.items():
        echo(f"{case.label}: {name} {value:g} {units.get(name, '')}".rstrip())
    echo(f"wrote {output}")
    if format_ == "ftrace" and _is_empty(output):
        echo(
            "note: no event was recorded: none fits all of --events, --cpus, --tasks, --from, --to"
        )


def _is_empty(trace: Path) -> bool:
    """Return whether a trace has nothing but its heading."""
    with trace.open(errors="replace") as lines:
        return all(line.startswith("#") or not line.strip() for line in lines)
