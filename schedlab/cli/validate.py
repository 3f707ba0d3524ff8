"""`schedlab validate`: how far the simulator is off, workload by workload, on this host."""

import sys
from contextlib import closing
from datetime import date
from pathlib import Path

import click
from rich.console import Console

from schedlab.accuracy.comparison import CASES, compare, disturbed, table
from schedlab.accuracy.here import calibrated
from schedlab.accuracy.kernel import VERBOSE, aspects, counts
from schedlab.accuracy.worlds import Native, Simulated
from schedlab.doctor.kernel import foreign_parameters
from schedlab.errors import HostError, UsageError, nearest
from schedlab.interrupt import stoppable
from schedlab.machine import find_machine
from schedlab.system import LocalSystem
from schedlab.targets.sim import SimTarget
from schedlab.targets.vm import VmTarget
from schedlab.topology.here import describe
from schedlab.topology.simulator import description
from schedlab.topology.standin import completed
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
@click.option(
    "--target", metavar="vm:KERNEL", help="Against that kernel in a guest, shown --machine."
)
def validate(
    which: str | None, kernel: str | None, only: str | None, output: Path | None, target: str | None
) -> None:
    """Run every workload here and simulated, and show both side by side.

    Without --machine this host is described and its costs are measured first, as by
    `schedlab machine --here --calibrate`.

    With --target vm:KERNEL the simulator is held against the real kernel on the same CPUs:
    scheduling domains, sched features and placement decisions have to be identical; exit status 1
    if not.
    """
    if target:
        _against_kernel(target, which, kernel)
        return
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
        compared = list(compare(Native(), simulated, cases, told))
    host = LocalSystem()
    booted = "".join(f", booted with {word}" for word in foreign_parameters(host))
    text = (
        f"{machine.title or machine.name}, Linux {host.kernel_release()}{booted} against the"
        f" scheduler of Linux {build.release} (HZ {build.hz}, {build.preempt}), {date.today()}.\n"
        "In each pair the first is this host. Speed ratio: simulated over real, 1 is right.\n"
        f"{disturbed(compared)}\n{table(compared)}"
    )
    click.echo(text, nl=False)
    if output:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise HostError(f"{output}: cannot be written: {error.strerror}") from error


def _against_kernel(target: str, which: str | None, kernel: str | None) -> None:
    kind, _, booted = target.partition(":")
    if kind != "vm" or not booted:
        raise UsageError(f"--target {target}: give vm:KERNEL; without it, this host is taken.")
    variant = Variant(name="base", cmdline=VERBOSE)
    there = VmTarget(booted, which, [variant])
    with stoppable(), closing(there.guests):
        guest = there.guest(variant)
        machine = completed(describe(guest)).machine
        here = Variant(name="base", kernel=kernel or booted)
        build = SimTarget(which or "").session([], [here], limit=60.0).builds["base"]
        simulated = Simulated(build.program, description(machine))
        click.echo(
            f"{there.booted(variant).title}\nagainst the simulator of Linux {build.release}"
            f" (HZ {build.hz}, {build.preempt}), on {machine.nr_cpus} CPUs as in {which}"
        )
        compared = []
        for aspect in aspects(guest, simulated):
            compared.append(aspect)
            click.echo(aspect.verdict)
            for line in aspect.differences:
                click.echo(f"  {line}")
        for line in counts(guest, simulated):
            click.echo(line)
    if any(aspect.differences for aspect in compared):
        sys.exit(1)
