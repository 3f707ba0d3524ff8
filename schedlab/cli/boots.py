"""`schedlab boots`: a machine booted for each variant by turns, boots as the pairs."""

from pathlib import Path

import click

from schedlab.base.data import plan_file
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.how import How
from schedlab.cli.names import ANY_PATH, PLAN

_RUNS = 3
"""Of a benchmark at each boot, where neither the plan nor the user says: more make a boot's value
steadier, but no more evidence."""


@click.command("boots")
@click.argument("plan_name", required=False, type=PLAN, metavar="[PLAN]")
@click.option("--boots", type=int, metavar="N", help="Boots of each variant.")
@click.option("--target", metavar="TARGET", help="ssh:HOST or vm:KERNEL, if not the plan's.")
@click.option("--output", metavar="DIR", type=ANY_PATH, help="Folder to make.")
@click.option(
    "--resume", metavar="DIR", type=ANY_PATH, help="Continue the series in DIR, in the same order."
)
@click.option("--dry-run", is_flag=True, help="Print what would be booted, in order.")
def boots_command(
    plan_name: str | None,
    boots: int | None,
    target: str | None,
    output: Path | None,
    resume: Path | None,
    dry_run: bool,
) -> None:
    """Boot a machine for each variant in turn, run the plan at each boot, and judge the boots.

    The variants of PLAN say what is booted for them (`boot` with a kernel's release or words of its
    command line; in a guest `kernel` and `cmdline`), its table [reboot] how.

    \b
    schedlab boots kernels.toml --boots 12 --output series
    schedlab boots --resume series
    """
    if resume:
        if plan_name or boots or target or output or dry_run:
            raise UsageError("--resume takes everything from DIR; leave out everything else.")
    elif plan_name is None:
        raise UsageError("name a plan, or a series to continue: --resume DIR.")
    elif boots is None:
        raise UsageError("--boots N is missing: how often each variant is booted.")
    else:
        plan_file(plan_name)  # a name that nothing has: before much is loaded
    from schedlab.cli.result import print_result
    from schedlab.lab.boots import boot_lines, resume_boots, run_boots
    from schedlab.lab.new_folder import stamped
    from schedlab.plan.plan import find_plan

    lab = How(output=output, plan_file=plan_file(plan_name) if plan_name else None).lab()
    if resume:
        print_result(resume_boots(resume, lab))
        return
    assert plan_name and boots is not None
    plan, _ = find_plan(plan_name)
    if target:
        plan = plan.model_copy(update={"target": target})
    if "looks" not in plan.blocks.model_fields_set:
        blocks = plan.blocks.model_copy(update={"looks": (_RUNS,)})
        plan = plan.model_copy(update={"blocks": blocks})
    if dry_run:
        for line in boot_lines(plan, boots):
            echo(line)
        return
    print_result(run_boots(plan, boots, output or stamped("boots"), lab))
