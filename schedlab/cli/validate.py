"""`schedlab validate`: how far the simulator is off, workload by workload, on this host."""

from datetime import date
from pathlib import Path

import click
from rich.console import Console

from schedlab.accuracy.comparison import CASES, compare, table
from schedlab.accuracy.here import calibrated
from schedlab.accuracy.worlds import Native, Simulated
from schedlab.errors import HostError, UsageError, nearest
from schedlab.interrupt import stoppable
from schedlab.machine import find_machine
from schedlab.system import LocalSystem
from schedlab.targets.sim import SimTarget
from schedlab.topology.simulator import description
from schedlab.variant import Variant


@click.command("validate")
@click.option("--machine", "which", metavar="NAME|FILE", help="This host as a machine file.")
@click.option("--kernel", metavar="NAME", help="The simulator's kernel.")
@click.option("--only", metavar="WORKLOAD,...", help="These workloads only.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the table to FILE as well.",
)
def validate(which: str | None, kernel: str | None, only: str | None, output: Path | None) -> None:
    """Run every workload here and simulated, and show both side by side.

    Without --machine this host is described and its costs are measured first, as by
    `schedlab machine --here --calibrate`.
    """
    cases = CASES
    if only:
        known = {case.workload for case in CASES}
        for name in only.split(","):
            if name not in known:
                raise UsageError(f"--only: no workload '{name}'.{nearest(name, known)}")
        cases = tuple(case for case in CASES if case.workload in only.split(","))
    variant = Variant(name="base", kernel=kernel)
    console = Console(stderr=True, highlight=False)
    with stoppable(), console.status("building") as status:
        build = SimTarget(which or "smp4").session([], [variant], limit=60.0).builds["base"]
        told = status.update
        machine = (
            find_machine(which) if which else calibrated(LocalSystem(), build.program, told).machine
        )
        simulated = Simulated(build.program, description(machine))
        compared = table(compare(Native(), simulated, cases, told))
    text = (
        f"{machine.title or machine.name}, Linux {LocalSystem().kernel_release()} against the"
        f" scheduler of Linux {build.release} (HZ {build.hz}, {build.preempt}), {date.today()}.\n"
        "In each pair the first is this host. Speed ratio: simulated over real, 1 is right.\n\n"
        f"{compared}"
    )
    click.echo(text, nl=False)
    if output:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise HostError(f"{output}: cannot be written: {error.strerror}") from error
