"""`schedlab machine`: describe the machine we stand on, show any described one."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.data import machine_file
from schedlab.base.errors import UsageError, writing
from schedlab.base.printable import printable_lines
from schedlab.base.system import LocalSystem
from schedlab.base.system.interrupt import stoppable
from schedlab.cli.echo import echo, put
from schedlab.cli.group import Group
from schedlab.cli.names import KERNEL, MACHINE, NEW_FILE

if TYPE_CHECKING:
    from schedlab.machine.domains import Domain
    from schedlab.machine.model import Machine


@click.group("machine", cls=Group, invoke_without_command=True)
@click.option("--here", is_flag=True, help="Describe this host as a machine file.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Measure what operations cost here; without it the costs are estimates.",
)
@click.option(
    "--kernel",
    type=KERNEL,
    metavar="NAME",
    help="The kernel whose simulator the costs are fitted with.",
)
@click.option(
    "--output", metavar="FILE", type=NEW_FILE, help="Write it to FILE; without it, to the terminal."
)
@click.pass_context
def machine(
    context: click.Context, here: bool, calibrate: bool, kernel: str | None, output: Path | None
) -> None:
    """Describe and show machines: topology, caches, distances, idle states."""
    if context.invoked_subcommand:
        if here or calibrate or kernel or output:
            raise UsageError(
                "--here and its options come after the sub-command, or without one:"
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
    from schedlab.kernels.shelf import check_name
    from schedlab.machine.here import describe
    from schedlab.machine.standin import completed

    if kernel:
        check_name(kernel)
    text = _calibrated(kernel) if calibrate else completed(describe(LocalSystem())).to_toml()
    if output is None:
        put(text)
        return
    _write(output, text)
    echo(f"Wrote {output}. `schedlab machine show {output}` draws it.")


def _calibrated(kernel: str | None) -> str:
    from rich.console import Console

    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.lab.accuracy.here import calibrated
    from schedlab.lab.simulate import simulator_of

    console = Console(stderr=True, highlight=False)
    with stoppable():
        simulator_of(kernel, watch=ConsoleWatcher())  # its progress, then ours
        with console.status("measuring") as status:
            return calibrated(LocalSystem(), kernel, status.update).to_toml()


@machine.command("show")
@click.argument("which", required=False, type=MACHINE, metavar="[NAME|FILE]")
@click.option("--here", is_flag=True, help="Show this host.")
@click.option(
    "--kernel",
    type=KERNEL,
    metavar="NAME",
    help="Add the scheduling domains this kernel builds; `schedlab kernel list` names kernels.",
)
@click.option(
    "--cpus",
    metavar="LIST",
    help="The CPUs whose domains are shown: a list such as 0-3,8, or all; CPU 0 if not given.",
)
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=NEW_FILE,
    help="Write it to FILE, as a page that needs no network.",
)
@click.option(
    "--ledger",
    "as_ledger",
    is_flag=True,
    help="Print each figure with its range, its source and the published rows that set it.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the JSON the simulator reads, or the ledger's."
)
def show(
    which: str | None,
    here: bool,
    kernel: str | None,
    cpus: str | None,
    page: Path | None,
    as_ledger: bool,
    as_json: bool,
) -> None:
    """Draw a machine, with its figures and their sources: by NAME, from a FILE, or this host."""
    if here == (which is not None):
        raise UsageError("name one machine to show, or --here; `schedlab machine list` lists them.")
    if (as_json or as_ledger) and (kernel or page):
        raise UsageError(
            "--json and --ledger print the description alone; leave out --kernel and --html."
        )
    if cpus and not kernel:
        raise UsageError("--cpus chooses whose domains are shown; it needs --kernel NAME.")
    if kernel and not which:
        raise UsageError("--kernel is for a described machine; this host's domains are in debugfs.")
    shown, text = _described(which)
    _check_setups(shown, which or "")

    # Only here: a wrong name is answered at once, without loading what draws.
    from rich.console import Console

    from schedlab.kernels.shelf import check_name
    from schedlab.machine import sources
    from schedlab.machine.domains import listing
    from schedlab.machine.drawing import outline
    from schedlab.machine.figures import as_text
    from schedlab.machine.simulator import description
    from schedlab.report import ledger_table
    from schedlab.report.machine_page import machine_page

    if kernel:
        check_name(kernel)
    if as_ledger:
        from schedlab.judging.marks import rows_not_published

        for key, row in rows_not_published(shown):
            echo(
                f"note: {key}: nothing in published/ is called '{row}', so it marks a row of a file"
                " of yours, or none: DOCUMENT/LABEL or DOCUMENT/LABEL/METRIC is expected.",
                err=True,
            )
        found = ledger_table.lines(shown, sources.read(text))
        if as_json:
            click.echo(json.dumps(ledger_table.as_json(found), indent=2))
        else:
            put(f"{printable_lines(ledger_table.as_text(found))}\n")
        return
    if as_json:
        click.echo(json.dumps(description(shown, which or ""), indent=2))
        return
    built = _domains(shown, which, kernel, cpus) if which and kernel else []
    figures = sources.read(text)
    if page:
        _write(page, machine_page(shown, figures, built, kernel or ""))
        echo(f"Wrote {page}.")
        return
    parts = [outline(shown), *_setups(shown), "Figures and their sources", as_text(shown, figures)]
    if built:
        title = f"/sys/kernel/debug/sched/domains, as kernel {kernel} builds them, with their CPUs"
        parts.append("\n".join([title, *listing(built)]))
    Console(highlight=False, markup=False, soft_wrap=True).print(
        printable_lines("\n\n".join(parts))
    )


def _described(which: str | None) -> "tuple[Machine, str]":
    """Return a machine and the text of its file; this host's without a name."""
    file = machine_file(which) if which else None

    from schedlab.machine.here import describe
    from schedlab.machine.model import find_machine

    if which and file:
        return find_machine(which), file.read_text(encoding="utf-8")
    here = describe(LocalSystem())
    return here.machine, here.to_toml()


def _check_setups(shown: "Machine", which: str) -> None:
    """Refuse a machine with a set-up that no plan could name."""
    from schedlab.plan.shared_settings import check

    for name, settings in shown.setup.items():
        try:
            check(settings, f"{which}: [setup.{name}]")
        except ValueError as error:
            raise UsageError(f"{error}.") from None


def _setups(shown: "Machine") -> list[str]:
    """Return a line with the machine's set-ups, if it has any."""
    if not shown.setup:
        return []
    return [f'Set-ups (`setup = "NAME"` in a plan): {", ".join(shown.setup)}']


def _domains(shown: "Machine", which: str, kernel: str, cpus: str | None) -> "list[Domain]":
    """Return the domains that the kernel builds for the CPUs asked for."""
    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.machine.domains import read
    from schedlab.settings.variant import Variant
    from schedlab.targets.sim import SimTarget

    present = parse_cpulist(shown.cpus)
    wanted = _wanted(cpus, present)
    with stoppable():
        printed = SimTarget(which, ConsoleWatcher()).domains(Variant(name="base", kernel=kernel))
    return [domain for domain in read(printed) if domain.cpu in wanted]


def _wanted(cpus: str | None, present: tuple[int, ...]) -> frozenset[int]:
    if cpus is None:
        return frozenset(present[:1])
    if cpus == "all":
        return frozenset(present)
    try:
        beyond = any(int(number) > present[-1] for number in re.findall(r"\d+", cpus))
        wanted = frozenset(() if beyond else parse_cpulist(cpus))
    except ValueError as error:
        raise UsageError(f"--cpus: {error}") from None
    if not wanted or not wanted.issubset(present):
        raise UsageError(f"--cpus: {cpus} is not within {format_cpulist(present)}.")
    return wanted


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.write_text(text, encoding="utf-8")


@machine.command("list")
def list_machines() -> None:
    """List the machines that come with schedlab."""
    from schedlab.machine.model import find_machine, known_machines

    for name in known_machines():
        known = find_machine(name)
        echo(f"{name:24} {known.nr_cpus:>4} CPUs  {known.title}")
