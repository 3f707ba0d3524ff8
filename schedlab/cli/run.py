"""`schedlab run`: run a plan, or go on with one."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import click

from schedlab.base.cpulist import MOST_CPUS
from schedlab.base.data import plan_file, suite_file
from schedlab.base.errors import UsageError
from schedlab.base.limits import MOST_BLOCKS
from schedlab.cli.how import How, given_options
from schedlab.cli.names import (
    ANY_PATH,
    BENCHMARK,
    COUNTERS,
    KERNEL,
    MACHINE,
    ONLY,
    PLAN,
    SUITE,
    TARGET,
    VARIANT,
)
from schedlab.cli.numbers import BLOCKS, SEED, Duration, Looks, Percent, Whole
from schedlab.cli.variants import check_variants
from schedlab.plan.targets import HOST, SIM, TARGETS
from schedlab.result.folder import check_result, is_sweep

Command = TypeVar("Command", bound=Callable[..., None])


class _VariantOption(click.Option):
    """Its help names the kinds of settings; they take long to load, so that only help does it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with every kind of setting."""
        from schedlab.settings.grammar import syntaxes

        self.help = (
            f"A variant; the first is the baseline. Settings: {'; '.join(syntaxes())}. A single "
            "variant is compared with the host as it is; `auto` is the first setting that has an"
            " effect on this host."
        )
        return super().get_help_record(ctx)


def _target(which: str) -> Callable[[Command], Command]:
    return click.option(
        "--target",
        multiple=True,
        type=TARGET,
        metavar="TARGET",
        help=f"{which} With several values of --target, --machine, --kernel or --seed, each"
        " combination makes a result.",
    )


_COMPARED = (
    _target(f"{', '.join(kind.syntax for kind in TARGETS)}; {HOST.name} if not given."),
    click.option(
        "--client",
        metavar="ssh:HOST",
        help="The host that generates the load on servers, if not the target"
        " (docs/manual/client.md).",
    ),
    click.option(
        "--variant",
        "variants",
        cls=_VariantOption,
        multiple=True,
        type=VARIANT,
        metavar="'NAME: SETTING; ...'",
    ),
    click.option(
        "--aa",
        is_flag=True,
        help="Compare the host with itself: this shows the noise of the method.",
    ),
    click.option(
        "--machine",
        multiple=True,
        type=MACHINE,
        metavar="MACHINE",
        help="The machine that the guests of a target vm: see.",
    ),
    click.option(
        "--kernel",
        multiple=True,
        type=KERNEL,
        metavar="TREE",
        help="The kernel tree of all simulated variants, such as 6.12.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Simulate on the workers of this dask.distributed scheduler (docs/manual/sweeps.md).",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print every command and knob, and change nothing. Whether a simulated kernel"
        " accepts its settings is only known when it runs.",
    ),
)
"""Options that say what is compared."""

_EVIDENCE = (
    click.option("--seed", multiple=True, type=SEED, metavar="N", help="Seed of the run order."),
    click.option(
        "--looks",
        type=Looks(),
        metavar="N,...",
        help="Blocks after which the evidence is judged.",
    ),
    click.option(
        "--blocks", type=BLOCKS, metavar="N", help="Exactly N blocks: the same as --looks N."
    ),
    click.option(
        "--warmup",
        type=Whole(0, MOST_BLOCKS),
        metavar="N",
        help="Warm-up blocks that do not count.",
    ),
    click.option(
        "--margin",
        type=Percent(),
        metavar="PCT",
        help="Differences within +-PCT % count as equivalent.",
    ),
    click.option(
        "--strict", is_flag=True, help="Limit the chance of even one false claim to alpha (Holm)."
    ),
    click.option(
        "--timeout",
        type=Duration("1ms"),
        metavar="TIME",
        help="The longest a run may take, such as 90s.",
    ),
    click.option(
        "--budget",
        type=Duration("1ms"),
        metavar="TIME",
        help="End after the last block that fits into TIME, such as 2min; one block at least.",
    ),
    click.option(
        "--counters", type=COUNTERS, metavar="NAME,...", help="Counters; `schedlab list counters`."
    ),
    click.option("--no-counters", is_flag=True, help="Count nothing."),
    click.option("--output", metavar="DIR", type=ANY_PATH, help="Result folder."),
    click.option(
        "--resume",
        metavar="DIR",
        type=ANY_PATH,
        help="Continue the result in DIR, in the same order.",
    ),
    click.option(
        "--jobs",
        type=Whole(min=1, max=MOST_CPUS),
        metavar="N",
        help="Simulated runs at a time; as many as there are CPUs if not given.",
    ),
    click.option(
        "--exact",
        is_flag=True,
        help="Simulate the machine with its nominal figures; otherwise each block draws them from"
        " their ranges.",
    ),
)
"""Options on where a plan is run and how its evidence is gathered."""

fail_on_option = click.option(
    "--fail-on", type=click.Choice(["worse"]), help="Exit 1 if anything got worse."
)


def _one_suite(
    context: click.Context, option: click.Parameter, suites: tuple[str, ...]
) -> str | None:
    """Return the suite; a usage error where there are several."""
    if len(suites) > 1:
        raise UsageError("--suite is given more than once; a plan takes one suite.")
    return suites[0] if suites else None


_LOAD = (
    click.option(
        "--suite",
        type=SUITE,
        metavar="NAME",
        multiple=True,
        callback=_one_suite,
        help="The benchmarks to run; `schedlab list suites`.",
    ),
    click.option(
        "--benchmark",
        "benchmarks",
        type=BENCHMARK,
        metavar="NAME[:KEY=VALUE,...]",
        multiple=True,
        help="A benchmark beside or instead of a suite's, with parameters; KEY=[A,B,...] is a"
        " sweep.",
    ),
    click.option(
        "--workload",
        "workloads",
        metavar="FILE",
        multiple=True,
        help="A workload described by a file of rt-app or a recording (docs/manual/rt-app.md).",
    ),
    click.option(
        "--only",
        multiple=True,
        type=ONLY,
        metavar="NAME",
        help="Run only this benchmark of the plan or suite.",
    ),
)
"""Options that name the benchmarks."""


def experiment_options(command: Command) -> Command:
    """Add the options of every command that compares variants."""
    return _with(command, (*_COMPARED, *_EVIDENCE, fail_on_option))


def load_options(command: Command) -> Command:
    """Add the options that name benchmarks."""
    return _with(command, _LOAD)


def evidence_options(command: Command) -> Command:
    """Add the options on which simulated machine and how evidence is gathered."""
    return _with(command, (_target(f"{SIM.syntax}."), *_EVIDENCE))


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


@click.command("run")
@click.argument("plan_name", required=False, type=PLAN, metavar="[PLAN]")
@load_options
@click.option(
    "--command",
    metavar="'PROGRAM ...'",
    help="A benchmark of your own: its command, which runs without a shell.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="'REGEX UNIT DIRECTION'",
    help="The figure to read from its output, such as 'throughput: ([0-9.]+) req/s higher', or "
    "'json:PATH UNIT DIRECTION'.",
)
@experiment_options
def run(plan_name: str | None, **options: Any) -> None:
    """Run benchmarks under variants, interleaved, until there is a verdict.

    PLAN is a file, PATH.toml, or the name of one that comes with schedlab: `schedlab list plans`.

    \b
    schedlab run --suite quick --variant auto
    schedlab run --suite common --variant 'NB-OFF: sysctl kernel.numa_balancing=0'
    schedlab run --command './my-app' --metric 'done ([0-9.]+) req/s higher' --variant auto
    schedlab run --workload video.json --target sim:hikey960 --variant 'x: NO_WA_IDLE'
    schedlab run plan.toml
    """
    how = chosen_how(options, plan_name)

    if how.resume:
        if not is_sweep(how.resume):
            check_result(how.resume)
    else:
        if plan_name:
            plan_file(plan_name)
        if options["suite"]:
            suite_file(options["suite"])
        check_variants(options["variants"], needed=not (plan_name or options["aa"]))

    # Only here: a mistake in the options is reported at once, without loading what runs plans.
    from schedlab.cli.planning import carry_out, plan_of

    carry_out(lambda: plan_of(plan_name, options), how)


def chosen_how(options: dict[str, Any], plan_name: str | None = None) -> How:
    """Take from the options those that are not of the plan; refuse others beside --resume."""
    named = {f.name: options.pop(f.name) for f in fields(How) if f.name in options}
    how = How(**named, plan_file=plan_file(plan_name) if plan_name else None)
    if how.resume and options.get("budget"):
        raise UsageError(
            "--resume takes the budget from DIR too; a budget is fixed before the first run"
            " (docs/internals/statistics.md)."
            "\n  Begin a new result with a longer --budget, or leave it out."
        )
    if how.resume and (how.output or plan_name is not None or given_options(options)):
        raise UsageError("--resume takes its plan from DIR; leave out the other options.")
    return how
