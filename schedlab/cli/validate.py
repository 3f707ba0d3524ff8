"""`schedlab validate`: how far the simulator is off, workload by workload, on this host."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from schedlab.base.cpulist import MOST_CPUS
from schedlab.base.data import published_file
from schedlab.base.errors import UsageError, writing
from schedlab.base.files import need_place
from schedlab.cli.echo import echo, put
from schedlab.cli.how import How
from schedlab.cli.names import FILE, FOLDER, KERNEL, MACHINE, PUBLISHED, TARGET, VARIANT
from schedlab.cli.numbers import Whole

HERE = Path("results") / "here"


@click.command("validate")
@click.option(
    "--machine", "which", type=MACHINE, metavar="NAME|FILE", help="This host as a machine file."
)
@click.option("--kernel", type=KERNEL, metavar="NAME", help="The simulator's kernel.")
@click.option("--only", metavar="WORKLOAD,...", help="These workloads only.")
@click.option("--output", metavar="FILE", type=FILE, help="Write the table to FILE as well.")
@click.option(
    "--target",
    type=TARGET,
    metavar="vm:KERNEL",
    help="Compare with that kernel in a guest that sees --machine.",
)
@click.option(
    "--variant",
    type=VARIANT,
    metavar="'NAME: SETTING; ...'",
    help="With --target: settings of both the guest and the simulator.",
)
@click.option(
    "--published",
    type=PUBLISHED,
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Score predictions of published changes, all or one of published/.",
)
@click.option(
    "--applications",
    is_flag=True,
    help="Compare Debian's applications with their models, at three loads each.",
)
@click.option(
    "--real-time",
    is_flag=True,
    help="With --applications: here as real-time tasks, whom other work does not disturb; root.",
)
@click.option("--changes", is_flag=True, help="Compare the effects of changes, not of loads.")
@click.option(
    "--results",
    metavar="DIR",
    type=FOLDER,
    help="Where results are kept and found again; results/published or results/here if not given.",
)
@click.option(
    "--jobs",
    type=Whole(min=1, max=MOST_CPUS),
    metavar="N",
    help="Simulated runs at a time; as many as there are CPUs if not given.",
)
def validate(
    which: str | None,
    kernel: str | None,
    only: str | None,
    output: Path | None,
    target: str | None,
    variant: str | None,
    published: str | None,
    applications: bool,
    real_time: bool,
    changes: bool,
    results: Path | None,
    jobs: int | None,
) -> None:
    """Run every workload here and simulated, and show both side by side.

    Without --machine this host is described and its costs are measured first, as by
    `schedlab machine --here --calibrate`. The machine and both results are kept in --results, and
    nothing is run again for the same host, machine and kernel; remove the folder to measure again.

    With --applications Debian's servers, a build and x264 run here, and their models simulated;
    --only takes names of benchmarks. With --real-time they have the policy SCHED_FIFO here, so that
    other work takes none of their time; simulated they have the usual policy.

    With --changes the effects of changes are compared: nice values, policies, control groups, CPUs,
    the number of tasks. Each has its effect here and its simulated effect, with intervals. Changes
    that need rights you do not have are left out.

    Both can be stopped: the same command continues them.

    With --published the quick plans of published changes are simulated, and the score of the
    predictions is printed. If all changes are simulated, the score is also written to
    docs/studies/predictions.md or --output, after each case; cases that a change's file calls long
    are simulated only if that change is named, and are in the score from then on. A .json file
    beside that page records the same rows: what this engine has simulated is not simulated again,
    here or elsewhere; remove the file to begin again. It can be stopped; the same command continues
    it.

    If one change is named, only its plans are simulated and printed, and a page is written with
    --output alone: a new one of that change; one whose record has other changes stays one of all,
    with their rows as recorded.

    With --target vm:KERNEL the simulator is compared with the real kernel on the same CPUs:
    scheduling domains, sched features and placement decisions must be identical, otherwise the exit
    status is 1. With `scx=NAME` in --variant, a sched_ext scheduler of the kernel's tree is
    compared instead, operation by operation, with the kfuncs that each calls (docs/manual/scx.md).
    """
    if variant and not target:
        raise UsageError("--variant goes with --target.")
    if published is not None:
        if which or kernel or only or target or changes or applications:
            raise UsageError(
                "--published simulates whole plans: leave out --machine, --kernel, --only,"
                " --target, --applications and --changes."
            )
        if published:
            published_file(published)  # a name that nothing has: before much is loaded
        from schedlab.cli.published import RESULTS, validate_published

        validate_published(published, results or RESULTS, jobs, output)
        return
    if applications and (changes or target):
        raise UsageError("--applications compares this host; leave out --changes and --target.")
    if real_time and not applications:
        raise UsageError("--real-time goes with --applications.")
    if changes and (only or target):
        raise UsageError("--changes compares this host; leave out --only and --target.")
    if jobs and (changes or target):
        raise UsageError("--jobs goes with loads and with --published.")
    if output:
        need_place(output)
    from schedlab.kernels.shelf import check_name
    from schedlab.lab.accuracy.applications import chosen as applications_of
    from schedlab.lab.accuracy.loads import chosen

    if kernel:
        check_name(kernel)
    choose = applications_of if applications else chosen
    those = choose(only.split(",")) if only else ()
    from schedlab.lab.accuracy.validation import Validation
    from schedlab.settings.variant import parse_variant

    lab, folder = How(jobs=jobs).lab(), results or HERE
    validation = Validation(which, kernel, lab.watcher)
    if target:
        under = parse_variant(variant or "base")
        if not validation.of_guest(_kernel_of(target), under, echo):
            sys.exit(1)
        return
    if changes:
        with _one_line() as say:
            text = validation.of_changes(folder, say)
    elif applications:
        text = validation.of_applications(folder, those, lab, as_real_time=real_time)
    else:
        text = validation.of_loads(folder, those, lab)
    put(text)
    if output:
        with writing(output):
            output.write_text(text, encoding="utf-8")


@contextmanager
def _one_line() -> Iterator[Callable[[str], None]]:
    """Yield what shows each step in the place of the one before; in a log, one after the other."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    with console.status("building") as status:

        def say(words: str) -> None:
            status.update(words)
            if not console.is_terminal:
                console.print(words, soft_wrap=True)

        yield say


def _kernel_of(target: str) -> str:
    """Return the kernel of a target vm:KERNEL; UsageError for another target."""
    from schedlab.plan.targets import VM, split

    kind, booted = split(target)
    if kind is not VM or not booted:
        raise UsageError(
            f"--target {target}: give vm:KERNEL, or leave it out to compare this host."
        )
    return booted
