"""`schedlab validate`: how far the simulator is off, workload by workload, on this host."""

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click
from rich.console import Console

from schedlab.accuracy.changes import CHANGES, summary
from schedlab.accuracy.changes import table as change_table
from schedlab.accuracy.comparison import CASES, compare, disturbed, table
from schedlab.accuracy.here import calibrated
from schedlab.accuracy.journal import Journal
from schedlab.accuracy.kernel import VERBOSE, aspects, counts
from schedlab.accuracy.pairs import Groups, Here, There
from schedlab.accuracy.pairs import compare as compare_changes
from schedlab.accuracy.worlds import Native, Simulated
from schedlab.base.cpulist import MOST_CPUS
from schedlab.base.errors import HostError, UsageError, nearest
from schedlab.cli.echo import echo, put
from schedlab.cli.names import KERNEL, MACHINE, PUBLISHED, TARGET
from schedlab.cli.published import RESULTS, validate_published
from schedlab.cli.watcher import ConsoleWatcher
from schedlab.doctor.kernel import foreign_parameters
from schedlab.kernels.build import Build
from schedlab.kernels.shelf import check_name
from schedlab.lab.simulate import simulator_of
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.simulator import description
from schedlab.machine.standin import completed
from schedlab.plan.targets import VM, split
from schedlab.settings.variant import Variant
from schedlab.system import LocalSystem
from schedlab.system.interrupt import stoppable
from schedlab.targets.vm import VmTarget

HERE = Path("results") / "here"
MEASURED = "machine.toml"
"""This host as it was measured, while a comparison is not whole."""


@click.command("validate")
@click.option(
    "--machine", "which", type=MACHINE, metavar="NAME|FILE", help="This host as a machine file."
)
@click.option("--kernel", type=KERNEL, metavar="NAME", help="The simulator's kernel.")
@click.option("--only", metavar="WORKLOAD,...", help="These workloads only.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the table to FILE as well.",
)
@click.option(
    "--target",
    type=TARGET,
    metavar="vm:KERNEL",
    help="Against that kernel in a guest, shown --machine.",
)
@click.option(
    "--published",
    type=PUBLISHED,
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Score predictions of published changes, all or one of published/.",
)
@click.option("--changes", is_flag=True, help="Compare the effects of changes, not of loads.")
@click.option(
    "--results",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs are kept that are gone on with; results/published or results/here if not"
    " given.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=MOST_CPUS),
    metavar="N",
    help="Simulated runs of --published at a time; as many as there are CPUs if not given.",
)
def validate(
    which: str | None,
    kernel: str | None,
    only: str | None,
    output: Path | None,
    target: str | None,
    published: str | None,
    changes: bool,
    results: Path | None,
    jobs: int | None,
) -> None:
    """Run every workload here and simulated, and show both side by side.

    Without --machine this host is described and its costs are measured first, as by
    `schedlab machine --here --calibrate`.

    With --changes it is not a load's speed that is compared, but what this host can change about
    it: nice values, policies, control groups, CPUs, how many tasks there are; the effect here, the
    effect simulated, each with its interval. What needs a right we have not is left out.

    Both can be stopped: the same command goes on.

    With --published the quick plans of published changes are simulated, and the score of the
    predictions is printed; of all changes it is also written, to docs/studies/predictions.md or
    --output, after every plan anew. It can be stopped; the same command goes on.

    With --target vm:KERNEL the simulator is held against the real kernel on the same CPUs:
    scheduling domains, sched features and placement decisions have to be identical; exit status 1
    if not.
    """
    if published is not None:
        if which or kernel or only or target or changes:
            raise UsageError("--published takes its machines and kernels from its plans.")
        validate_published(published, results or RESULTS, jobs, output)
        return
    if jobs:
        raise UsageError("--jobs goes with --published.")
    if changes and (only or target):
        raise UsageError("--changes compares this host; give no --only and no --target with it.")
    if kernel:
        check_name(kernel)
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
    folder = results or HERE
    console = Console(stderr=True, highlight=False)
    groups = Groups()
    with stoppable(), console.status("building") as status, groups.enclosure():

        def told(words: str) -> None:
            status.update(words)
            if not console.is_terminal:
                console.print(words, soft_wrap=True)

        there = _this_host(which, kernel, folder, told)
        simulated = Simulated(there.build.program, description(there.machine))
        about = f"{there.build.key} {there.machine.to_toml({}, '')}"
        journal = Journal(folder / ("changes.jsonl" if changes else "loads.jsonl"), about)
        if changes:
            here = Here(Native(), groups)
            made = list(compare_changes(here, There(simulated), CHANGES, journal, told))
            words = f"{summary(made)}\n{change_table(made)}"
        else:
            compared = list(compare(Native(), simulated, cases, told, journal))
            words = (
                "In each pair the first is this host. Speed ratio: simulated over real, 1 is"
                f" right.\n{disturbed(compared)}\n{table(compared)}"
            )
    host = LocalSystem()
    booted = "".join(f", booted with {word}" for word in foreign_parameters(host))
    build = there.build
    text = (
        f"{there.machine.title or there.machine.name}, Linux {host.kernel_release()}{booted}"
        f" against the scheduler of Linux {build.release} ({build.config}),"
        f" {date.today()}.\n{words}"
    )
    journal.end()
    (folder / MEASURED).unlink(missing_ok=True)
    put(text)
    if output:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise HostError(f"{output}: cannot be written: {error.strerror}") from error


@dataclass(frozen=True)
class _Simulator:
    """This host as a machine, and the build that simulates it."""

    machine: Machine
    build: Build


def _this_host(
    which: str | None, kernel: str | None, folder: Path, told: Callable[[str], None]
) -> _Simulator:
    """Return this host as it was described, or as an interrupted comparison measured it, or now."""
    build = simulator_of(kernel, which or "smp4", ConsoleWatcher())
    if which:
        return _Simulator(find_machine(which), build)
    kept = folder / MEASURED
    if not kept.exists():
        measured = calibrated(LocalSystem(), build.program, told)
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(measured.to_toml(), encoding="utf-8")
    return _Simulator(find_machine(str(kept)), build)


def _against_kernel(target: str, which: str | None, kernel: str | None) -> None:
    kind, booted = split(target)
    if kind is not VM or not booted:
        raise UsageError(f"--target {target}: give vm:KERNEL; without it, this host is taken.")
    variant = Variant(name="base", cmdline=VERBOSE)
    there = VmTarget(booted, which, [variant], ConsoleWatcher())
    with stoppable(), closing(there.guests):
        guest = there.guest(variant)
        machine = completed(describe(guest)).machine
        build = simulator_of(kernel or booted, which or "", ConsoleWatcher())
        simulated = Simulated(build.program, description(machine))
        echo(
            f"{there.booted(variant).title}\nagainst the simulator of Linux {build.release}"
            f" ({build.config}), on {machine.nr_cpus} CPUs as in {which}"
        )
        compared = []
        for aspect in aspects(guest, simulated):
            compared.append(aspect)
            echo(aspect.verdict)
            for line in aspect.differences:
                echo(f"  {line}")
        for line in counts(guest, simulated):
            echo(line)
    if any(aspect.differences for aspect in compared):
        sys.exit(1)
