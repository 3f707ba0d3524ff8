"""`schedlab record`: what runs on a host, recorded for `schedlab workload import`."""

import tempfile
from pathlib import Path

import click

from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.names import MACHINE, NEW_FILE
from schedlab.cli.numbers import Duration

RECORDERS = ("ftrace", "perf")


@click.command("record")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--duration",
    type=Duration("10ms", "1h"),
    metavar="TIME",
    help="How long; 10s where there is no COMMAND.",
)
@click.option(
    "--cgroup",
    default="",
    metavar="PATH",
    help="Only its tasks are the workload, e.g. /system.slice/nginx.service.",
)
@click.option("--anonymous", is_flag=True, help="Replace the names of programs and cgroups.")
@click.option(
    "--light", is_flag=True, help="Leave reads and writes out: less overhead, no messages."
)
@click.option(
    "--recorder",
    type=click.Choice(RECORDERS),
    help="What records; by default ftrace where it can, which costs less, otherwise perf.",
)
@click.option(
    "--target",
    default="host",
    show_default=True,
    help="host, ssh:[USER@]HOST, or vm:KERNEL: a guest that is booted for COMMAND.",
)
@click.option(
    "--machine", type=MACHINE, help="What a guest is shown, as for `schedlab run --target vm:`."
)
@click.option(
    "--output", required=True, metavar="FILE.gz", type=NEW_FILE, help="Where the recording goes."
)
def record(
    command: tuple[str, ...],
    duration: str | None,
    cgroup: str,
    anonymous: bool,
    light: bool,
    recorder: str | None,
    target: str,
    machine: str | None,
    output: Path,
) -> None:
    """Record what a host's scheduler does: for a while, or as long as COMMAND runs.

    All tasks are recorded; the workload of the recording is what COMMAND does, or the tasks of
    --cgroup, or all tasks. It needs root, and leaves nothing behind.

    \b
    schedlab record --duration 10s --cgroup /system.slice/nginx.service --output nginx.gz
    schedlab record --output hackbench.gz -- hackbench -g 2 -l 500
    schedlab record --target vm:7.3 --machine smp4 --output on-7.3.gz -- hackbench -g 2 -l 500
    schedlab workload import hackbench.gz --output hackbench.slw
    """
    if command and duration:
        raise UsageError("--duration and a COMMAND both say how long; give one.")
    if command and cgroup:
        raise UsageError("--cgroup and a COMMAND both say which tasks are meant; give one.")
    if output.suffix != ".gz":
        raise UsageError(f"--output: {output} does not end in .gz; a recording is compressed.")
    from schedlab.base.system.interrupt import stoppable
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.lab.recording.recorder import PROGRAMS, Request
    from schedlab.lab.recording.recorder import record as make
    from schedlab.plan.targets import kind_of
    from schedlab.targets.choice import opened_system

    if kind_of(target).shows_machine and not command:
        raise UsageError(
            f"--target {target}: a guest is booted for a COMMAND, and does nothing else; give one."
        )
    asked = Request(seconds(duration or "10s"), command, cgroup, anonymous, light, recorder or "")
    opened = opened_system(target, machine, (*PROGRAMS, *command[:1]), ConsoleSteps())
    with stoppable(), opened as system, tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        made = make(system, asked, Path(name), output)
    for line in made.restored:
        echo(f"note: before the start: {line}", err=True)
    if made.printed:
        echo(made.printed)
    for line in made.notes():
        echo(f"note: {line}", err=True)
    size = output.stat().st_size
    echo(f"wrote {output}: {made.lines:,} lines, {size / 1e6:.2f} MB")
