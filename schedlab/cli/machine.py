"""`schedlab machine`: describe the machine we stand on, show any described one."""

import json
from pathlib import Path

import click
from rich.console import Console

from schedlab.accuracy.here import calibrated
from schedlab.errors import HostError, UsageError
from schedlab.interrupt import stoppable
from schedlab.machine import find_machine, known_machines
from schedlab.system import LocalSystem
from schedlab.targets.sim import SimTarget
from schedlab.topology.drawing import draw
from schedlab.topology.here import describe
from schedlab.topology.simulator import description
from schedlab.variant import Variant


@click.group("machine", invoke_without_command=True)
@click.option("--here", is_flag=True, help="Describe this host as a machine file.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Measure what operations cost here, so that the simulator can take the file.",
)
@click.option("--kernel", metavar="NAME", help="Whose simulator the costs are fitted in.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it to FILE; without it, to the terminal.",
)
@click.pass_context
def machine(
    context: click.Context, here: bool, calibrate: bool, kernel: str | None, output: Path | None
) -> None:
    """Describe and show machines: topology, caches, distances, idle states."""
    if context.invoked_subcommand:
        if here or calibrate or kernel or output:
            raise UsageError(
                "--here and what goes with it stand behind the sub-command, or without one:"
                "\n  `schedlab machine --here --output FILE`, `schedlab machine show --here`."
            )
        return
    if not here:
        if calibrate or kernel or output:
            raise UsageError(
                "--calibrate, --kernel and --output need --here:"
                " `schedlab machine --here --output FILE`."
            )
        click.echo(context.get_help())
        return
    if kernel and not calibrate:
        raise UsageError("--kernel belongs to --calibrate.")
    text = _calibrated(kernel) if calibrate else describe(LocalSystem()).to_toml()
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HostError(f"{output}: cannot be written: {error.strerror}") from error
    click.echo(f"Wrote {output}. `schedlab machine show {output}` draws it.")


def _calibrated(kernel: str | None) -> str:
    console = Console(stderr=True, highlight=False)
    variant = Variant(name="base", kernel=kernel)
    with stoppable():
        build = SimTarget("smp4").session([], [variant], limit=60.0).builds["base"]
        with console.status("measuring") as status:
            return calibrated(LocalSystem(), build.program, status.update).to_toml()


@machine.command("show")
@click.argument("which", required=False, metavar="[NAME|FILE]")
@click.option("--here", is_flag=True, help="Show this host.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON the simulator reads.")
@click.option("--domains", is_flag=True, help="Print the scheduling domains the kernel builds.")
@click.option("--kernel", metavar="NAME", help="Which kernel's; `schedlab kernel list` lists them.")
def show(which: str | None, here: bool, as_json: bool, domains: bool, kernel: str | None) -> None:
    """Draw a machine: a NAME that comes with schedlab, a FILE, or this host."""
    if here == (which is not None):
        raise UsageError("name one machine to show, or --here; `schedlab machine list` lists them.")
    if domains:
        if not which:
            raise UsageError("--domains is for a described machine; this host's are in debugfs.")
        with stoppable():
            click.echo(SimTarget(which).domains(kernel), nl=False)
        return
    if kernel:
        raise UsageError("--kernel belongs to --domains.")
    shown = find_machine(which) if which else describe(LocalSystem()).machine
    if as_json:
        click.echo(json.dumps(description(shown), indent=2))
        return
    Console(highlight=False, markup=False, soft_wrap=True).print(draw(shown))


@machine.command("list")
def list_machines() -> None:
    """List the machines that come with schedlab."""
    for name in known_machines():
        known = find_machine(name)
        click.echo(f"{name:24} {known.nr_cpus:>4} CPUs  {known.title}")
