"""`schedlab bisect`: the commit of a range at which something got worse, on a simulated machine."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedlab.base.data import is_path
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.how import How, given_options
from schedlab.cli.names import ANY_PATH, CHECK, MACHINE, PLAN
from schedlab.cli.run import evidence_options, load_options
from schedlab.kernels.patch_series import ends_of_range

if TYPE_CHECKING:
    from schedlab.lab.bisecting.record import Asked
    from schedlab.lab.result import Lab

ANSWER = "answer.txt"


@click.command("bisect")
@click.argument("commits", required=False, metavar="[GOOD..BAD]")
@click.option(
    "--tree",
    type=ANY_PATH,
    metavar="PATH",
    help="The git tree of the commits; otherwise the current folder's.",
)
@click.option(
    "--plan", "plan_name", type=PLAN, metavar="PLAN", help="The plan whose benchmarks are run."
)
@click.option("--metric", metavar="NAME", help="The metric that got worse.")
@click.option("--decision", is_flag=True, help="Find the first commit with other decisions.")
@click.option(
    "--scenario", type=CHECK, metavar="NAME|FILE", help="Find the first commit failing this check."
)
@click.option(
    "--machine",
    "machines",
    multiple=True,
    type=MACHINE,
    metavar="NAME|FILE",
    help="For --scenario: instead of its own; several times: a search on each.",
)
@click.option(
    "--settings", metavar="'SETTING; ...'", help="Settings of all commits, as in a variant."
)
@load_options
@evidence_options
def bisect_command(
    commits: str | None,
    tree: Path | None,
    plan_name: str | None,
    metric: str | None,
    decision: bool,
    scenario: str | None,
    machines: tuple[str, ...],
    settings: str | None,
    **options: Any,
) -> None:
    """Find the commit of GOOD..BAD at which something got worse, on a simulated machine.

    Builds commits that change what the simulator compiles, several in a step, and compares each
    with GOOD, with more seeds until it can tell. Commits that do not build are skipped. At the end
    the whole plan compares the culprit with its parent.

    \b
    schedlab bisect v6.12..topic --tree ~/linux --target sim:smt8 --suite hackbench --metric time
    schedlab bisect v6.12..topic --tree ~/linux --scenario smt-spread
    schedlab bisect --resume results/...
    """
    how = How(**{f.name: options.pop(f.name) for f in fields(How) if f.name in options})
    evidence = list(given_options(options))
    named = [commits, tree, plan_name, metric, decision, scenario, machines, settings]
    if how.resume and (how.output or evidence or any(named)):
        raise UsageError("--resume takes everything from DIR; leave out the commits and the plan.")
    if not how.resume:
        if commits is None:
            raise UsageError("name the commits and their tree: GOOD..BAD --tree PATH.")
        looked_for = [metric is not None, decision, scenario is not None].count(True)
        if not looked_for:
            raise UsageError("name what to look for: --metric, --decision or --scenario.")
        if looked_for > 1:
            raise UsageError("--metric, --decision and --scenario exclude each other; give one.")
        if scenario and (plan_name or settings or evidence):
            raise UsageError("--scenario already says what is run; leave out the plan.")
        if machines and not scenario:
            raise UsageError("--machine is for --scenario; a plan's machine is --target sim:NAME.")
        if tree is None:
            from schedlab.kernels.tree import tree_of_range

            tree = tree_of_range()
        ends_of_range(tree, commits)

    # Only here: a mistake in the options is reported at once, without loading what runs plans.
    from schedlab.lab.bisecting.bisection import begin_bisection, bisect
    from schedlab.lab.bisecting.machines import (
        begin_on_machines,
        bisect_on_machines,
        is_on_machines,
    )
    from schedlab.lab.bisecting.text import answer_text
    from schedlab.lab.new_folder import stamped
    from schedlab.report import save

    lab = how.lab()
    if how.resume:
        folder = how.resume
    else:
        assert commits and tree
        if scenario:
            asked = _check(scenario, machines)
        else:
            asked = _plan(plan_name, settings, {**options}, metric, lab)
        folder = how.output or stamped("bisect")
        if len(asked) > 1:
            begin_on_machines(tree, commits, asked, folder)
        else:
            [question] = asked.values()
            begin_bisection(tree, commits, question, folder)
    if is_on_machines(folder):
        answer = bisect_on_machines(folder, lab)
    else:
        answer = answer_text(bisect(folder, lab))
    echo(answer)
    echo(f"wrote {save(answer, folder / ANSWER)}")


def _check(scenario: str, machines: tuple[str, ...]) -> "dict[str, Asked]":
    """Return the question of a check for each machine, by its name."""
    from schedlab.lab.bisecting.record import Asked
    from schedlab.lab.checks.check import Named
    from schedlab.lab.checks.files import check_files

    checks = [Named(path) for path in check_files([scenario])]
    if len(checks) != 1:
        raise UsageError(f"--scenario {scenario}: names {len(checks)} checks; name one.")
    path, content = str(checks[0].path.resolve()), checks[0].content()
    asked: dict[str, Asked] = {}
    for machine in machines or ("",):
        name = Path(machine).stem
        if name in asked:
            raise UsageError(f"--machine {machine}: two machines are called {name}.")
        where = str(Path(machine).resolve()) if is_path(machine) else machine
        asked[name] = Asked(scenario=path, machine=where, content=content)
    return asked


def _plan(
    plan_name: str | None,
    settings: str | None,
    options: dict[str, Any],
    metric: str | None,
    lab: "Lab",
) -> "dict[str, Asked]":
    """Return the question of a plan for each machine; the first variant has what all share."""
    from schedlab.cli.series import plan_for_kernels
    from schedlab.lab.bisecting.questions import asked_on_machines

    return asked_on_machines(plan_for_kernels(plan_name, settings, options), metric, lab)
