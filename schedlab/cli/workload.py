"""`schedlab workload`: recordings as workloads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.group import Group
from schedlab.cli.names import FILE, MACHINE, NEW_FILE
from schedlab.cli.numbers import Duration, Finite

if TYPE_CHECKING:
    from schedlab.lab.recording.workload import RecordedWorkload

TASKS = click.option(
    "--tasks", metavar="PATTERN,...", help="Only tasks with such names, e.g. 'nginx*,php*'."
)
OUTPUT = click.option(
    "--output",
    required=True,
    metavar="FILE.slw",
    type=NEW_FILE,
    help="The workload file to write; FILE.slw.gz is compressed.",
)


@click.group("workload", cls=Group)
def workload() -> None:
    """Make a workload of a trace; show, trim, scale and merge such files.

    \b
    schedlab workload import trace.txt --output prod.slw
    schedlab run --workload prod.slw --target sim:smp4 --variant 'no-wa: NO_WA_IDLE'
    """


@workload.command("import")
@click.argument("trace", type=FILE)
@TASKS
@click.option(
    "--machine",
    type=MACHINE,
    metavar="NAME",
    help="Where it was recorded; recordings of `schedlab record` name it themselves.",
)
@click.option(
    "--probe",
    type=FILE,
    metavar="TRACE",
    help="A trace, from the same system, of a replay of what `schedlab workload probe` writes.",
)
@OUTPUT
def import_(
    trace: Path, tasks: str | None, machine: str | None, probe: Path | None, output: Path
) -> None:
    """Make a workload file of a trace: text of ftrace, trace-cmd, perf script; binary forms too."""
    from schedlab.lab.recording.choice import Choice
    from schedlab.lab.recording.inference import call_costs, infer
    from schedlab.lab.recording.pace import speeds
    from schedlab.lab.recording.reading import read_trace
    from schedlab.machine.model import find_machine

    given = find_machine(machine) if machine else None
    costs: dict[str, float] = {}
    if probe:
        known = read_trace(probe)
        costs = call_costs(known, speeds(given or known.machine))
        if not costs:
            raise UsageError(
                f"{probe}: contains no replay of this schedlab's probe."
                "\n  `schedlab workload probe` writes it; record its replay again."
            )
    patterns = tuple(tasks.split(",")) if tasks else ()
    events = read_trace(trace)
    choice = Choice(patterns, speeds(given or events.machine), costs)
    made = infer(events, choice, trace.name)
    _write(made, output)


@workload.command("show")
@click.argument("file", type=FILE)
def show(file: Path) -> None:
    """Print what a workload file does, and what it leaves out."""
    from schedlab.lab.recording.showing import describe
    from schedlab.lab.recording.workload import read_workload

    for line in describe(read_workload(file)):
        echo(line)


@workload.command("trim")
@click.argument("file", type=FILE)
@click.option(
    "--first",
    type=Duration("1us"),
    metavar="TIME",
    help="Length of the beginning to keep, in the run with a CPU for each task.",
)
@TASKS
@OUTPUT
def trim(file: Path, first: str | None, tasks: str | None, output: Path) -> None:
    """Write the beginning of a workload, or some of its tasks.

    A workload has no recorded times of its steps, but work and waits. So --first cuts where its run
    would be at that time if each task had a CPU of its own, not where the recording was.
    """
    from schedlab.lab.recording import trimming
    from schedlab.lab.recording.workload import read_workload

    if first is None and not tasks:
        raise UsageError("give --first TIME, --tasks PATTERN, or both.")
    patterns = tuple(tasks.split(",")) if tasks else ()
    whole = read_workload(file)
    made = trimming.trim(whole, seconds(first) if first else None, patterns)
    _write(made, output)
    echo(f"kept: {trimming.kept(whole, made)}")
    if first:
        echo(f"cut: {first} into the run with a CPU for each task, not into the recorded time")


@workload.command("scale")
@click.argument("file", type=FILE)
@click.option(
    "--clients",
    default="x1",
    show_default=True,
    metavar="xN",
    help="Number of copies of all tasks, side by side.",
)
@click.option(
    "--rate",
    type=Finite(min=0.001, max=1000),
    default=1.0,
    show_default=True,
    metavar="R",
    help="Make sleeps, timers and arrivals R times as frequent.",
)
@OUTPUT
def scale(file: Path, clients: str, rate: float, output: Path) -> None:
    """Write a workload with more clients, or faster ones."""
    from schedlab.lab.recording import editing
    from schedlab.lab.recording.workload import read_workload

    number = clients.removeprefix("x")
    if not number.isdecimal() or not 1 <= int(number) <= editing.MOST_TASKS:
        raise UsageError(f"--clients: '{clients}' is not a whole number such as x2.")
    read = read_workload(file)
    _write(editing.scale(read, int(number), rate), output)
    if rate != 1 and not editing.timed(read):
        echo("note: --rate changed nothing: the workload has no sleeps, timers or arrivals")
    elif rate == 1 and int(number) == 1:
        echo("note: nothing was changed: give --clients xN, --rate R, or both")


@workload.command("summarise")
@click.argument("file", type=FILE)
@OUTPUT
def summarise(file: Path, output: Path) -> None:
    """Write a workload with times as distributions: small, and runs wherever the other does."""
    from schedlab.benchmarks.recorded_file import one_line_each, write_workload_text
    from schedlab.benchmarks.recordings.summary import summarised
    from schedlab.lab.recording.ideal import other_length
    from schedlab.lab.recording.workload import read_workload

    made = read_workload(file)
    write_workload_text(output, one_line_each(summarised(made.document())))
    if note := other_length(made, read_workload(output)):
        notes = [*made.recorded.get("notes", []), note]
        made = replace(made, recorded={**made.recorded, "notes": notes})
        write_workload_text(output, one_line_each(summarised(made.document())))
        echo(f"note: {note}")
    _wrote(made, output)


@workload.command("expand")
@click.argument("file", type=FILE)
@OUTPUT
def expand(file: Path, output: Path) -> None:
    """Write a summarised or compressed workload as one that programs of its own can read."""
    from schedlab.lab.recording.workload import read_workload

    _write(read_workload(file), output)


@workload.command("merge")
@click.argument("files", type=FILE, nargs=-1, required=True)
@OUTPUT
def merge(files: Sequence[Path], output: Path) -> None:
    """Merge several workloads into one, started together."""
    from schedlab.lab.recording import editing
    from schedlab.lab.recording.workload import read_workload

    _write(editing.merge([read_workload(file) for file in files]), output)


@workload.command("probe")
@OUTPUT
def probe(output: Path) -> None:
    """Write the workload whose replay shows what a replay's own calls cost (`import --probe`)."""
    from schedlab.lab.recording import closure

    _write(closure.probe(), output)


def _write(made: "RecordedWorkload", output: Path) -> None:
    made.write(output)
    for note in made.recorded.get("notes", []):
        echo(f"note: {note}")
    _wrote(made, output)


def _wrote(made: "RecordedWorkload", output: Path) -> None:
    size = output.stat().st_size
    echo(f"wrote {output}: {len(made.tasks)} tasks, {size / 1e6:.2f} MB")
