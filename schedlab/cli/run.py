"""`schedlab run`: run a plan, or go on with one."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from schedlab.base.cpulist import MOST_CPUS
from schedlab.base.errors import UsageError
from schedlab.base.validation import validate
from schedlab.benchmarks import Case, find_benchmark
from schedlab.cli.echo import echo
from schedlab.cli.names import BENCHMARK, COUNTERS, KERNEL, MACHINE, PLAN, SUITE, TARGET
from schedlab.cli.result import How, go_on, make_result
from schedlab.cli.sweep import carry_out_sweep, is_sweep, plan_of_sweep
from schedlab.machine.model import Machine
from schedlab.plan.plan import BenchmarkEntry, Blocks, Plan, find_plan
from schedlab.plan.sweep import points
from schedlab.settings.effects import without_effect
from schedlab.settings.grammar import syntaxes
from schedlab.settings.switchable import switchable
from schedlab.settings.variant import Variant, parse_variant
from schedlab.targets.choice import find_system

Command = TypeVar("Command", bound=Callable[..., None])


_EXPERIMENT = (
    click.option(
        "--variant",
        "variants",
        multiple=True,
        metavar="'NAME: SETTING; ...'",
        help=f"A variant; the first is the baseline. Settings: {'; '.join(syntaxes())}. A single "
        "variant is compared with the host as it is; `auto` takes what this host can switch with "
        "effect.",
    ),
    click.option(
        "--aa", is_flag=True, help="Compare the host with itself: the method's own noise."
    ),
    click.option(
        "--target",
        multiple=True,
        type=TARGET,
        metavar="TARGET",
        help="host (if not given), ssh:HOST, sim:MACHINE or vm:KERNEL. Of this and the next three, "
        "several values make a result each.",
    ),
    click.option(
        "--machine",
        multiple=True,
        type=MACHINE,
        metavar="MACHINE",
        help="The machine a target vm: shows its guests.",
    ),
    click.option(
        "--kernel",
        multiple=True,
        type=KERNEL,
        metavar="TREE",
        help="Simulated: the tree under all variants, such as 6.12.",
    ),
    click.option("--seed", multiple=True, type=int, help="Seed of the run order."),
    click.option("--looks", metavar="N,...", help="Blocks after which the evidence is judged."),
    click.option(
        "--blocks", type=int, metavar="N", help="Exactly N blocks: the same as --looks N."
    ),
    click.option("--warmup", type=int, metavar="N", help="Warm-up blocks that do not count."),
    click.option("--margin", metavar="PCT", help="Differences within +-PCT % count as none."),
    click.option(
        "--strict", is_flag=True, help="Hold the chance of any false claim to alpha (Holm)."
    ),
    click.option("--timeout", metavar="TIME", help="The longest a run may take, such as 90s."),
    click.option(
        "--budget",
        metavar="TIME",
        help="End after the last block that fits into TIME, such as 2min; one block at least.",
    ),
    click.option(
        "--counters", type=COUNTERS, metavar="NAME,...", help="Counters; `schedlab list counters`."
    ),
    click.option("--no-counters", is_flag=True, help="Count nothing."),
    click.option("--output", metavar="DIR", type=click.Path(path_type=Path), help="Result folder."),
    click.option(
        "--resume",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Go on with the result in DIR, in the same order.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1, max=MOST_CPUS),
        metavar="N",
        help="Simulated runs at a time; as many as there are CPUs if not given.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Simulate on the workers of this dask.distributed scheduler (docs/manual/sweeps.md).",
    ),
    click.option(
        "--exact",
        is_flag=True,
        help="Simulate the machine's values alone; without it blocks draw from their ranges.",
    ),
    click.option("--dry-run", is_flag=True, help="Print every command and knob; touch nothing."),
    click.option("--fail-on", type=click.Choice(["worse"]), help="Exit 1 if anything got worse."),
)


def experiment_options(command: Command) -> Command:
    """Add the options of every command that runs a plan."""
    for option in reversed(_EXPERIMENT):
        command = option(command)
    return command


@click.command("run")
@click.argument("plan_name", required=False, type=PLAN, metavar="[PLAN]")
@click.option(
    "--suite", type=SUITE, metavar="NAME", help="The benchmarks to run; `schedlab list suites`."
)
@click.option(
    "--benchmark",
    "benchmarks",
    type=BENCHMARK,
    metavar="NAME[:KEY=VALUE,...]",
    multiple=True,
    help="A benchmark beside or instead of a suite's, with parameters; KEY=[A,B,...] is a sweep.",
)
@click.option(
    "--workload",
    "workloads",
    metavar="FILE.json",
    multiple=True,
    help="A workload described by a file of rt-app (docs/internals/workloads.md).",
)
@click.option("--only", multiple=True, metavar="NAME", help="Of all these, only this one.")
@experiment_options
def run(plan_name: str | None, **options: Any) -> None:
    """Run benchmarks under variants, interleaved, until there is a verdict.

    PLAN is a file, PATH.toml, or the name of one that comes with schedlab: `schedlab list plans`.

    \b
    schedlab run --suite quick --variant auto
    schedlab run --suite common --variant 'NB-OFF: sysctl kernel.numa_balancing=0'
    schedlab run --workload video.json --target sim:hikey960 --variant 'x: NO_WA_IDLE'
    schedlab run plan.toml
    """
    how = chosen_how(options, plan_name)

    def plan() -> Plan:
        given, where = find_plan(plan_name) if plan_name else (None, "command line")
        data = given.model_dump(exclude_unset=True) if given else {}
        if options["benchmarks"]:
            data["benchmark"] = [benchmark_entry(text) for text in options["benchmarks"]]
        if options["workloads"]:
            data["workload"] = options["workloads"]
        return make_plan(data, options, where)

    carry_out(plan, how)


def chosen_how(options: dict[str, Any], plan_name: str | None = None) -> How:
    """Take from the options those that are not of the plan; refuse others beside --resume."""
    how = How(**{field.name: options.pop(field.name) for field in fields(How)})
    if how.resume and (how.output or plan_name is not None or _given(options)):
        raise UsageError("--resume takes its plan from DIR; give no other options with it.")
    return how


def carry_out(plan_of: Callable[[], Plan], how: How) -> None:
    """Make the result of a plan, or the results of its sweep, or go on with what there is."""
    if how.resume and is_sweep(how.resume):
        carry_out_sweep(plan_of_sweep(how.resume), how)
    elif how.resume:
        go_on(how.resume, how)
    else:
        plan = plan_of()
        first, *others = points(plan).values()
        if others:
            carry_out_sweep(plan, how)
        else:
            make_result(first.plan, how)


def make_plan(data: dict[str, Any], options: Mapping[str, Any], where: str) -> Plan:
    """Change a plan's data by the options given, and make the plan of it."""
    given = _given(options)
    for key in ("suite", "only", "aa", "exact"):
        if key in given:
            data[key] = given[key]
    blocks = {**data.get("blocks", {}), **{k: given[k] for k in _BLOCKS if k in given}}
    sweep = dict(data.get("sweep", {}))
    for key, place in {"target": data, "machine": data, "kernel": {}, "seed": blocks}.items():
        if key in given:
            place.pop(key, None)
            sweep[key] = given[key]
    if sweep:
        data["sweep"] = sweep
    if "looks" in given or "blocks" in given:
        blocks["looks"] = _looks(given)
    if blocks:
        data["blocks"] = blocks
    judging = dict(data.get("judging", {}))
    if "margin" in given:
        judging["margin"] = _percent(given["margin"])
    if "strict" in given:
        judging["strict"] = True
    if judging:
        data["judging"] = judging
    if "no_counters" in given:
        data["counters"] = ()
    elif "counters" in given:
        data["counters"] = [name.strip() for name in given["counters"].split(",")]
    _add_variants(data, given.get("variants", ()))
    plan = validate(data, Plan, where)
    plan.design()
    return plan


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; 0 and an empty text are values too."""
    return {
        key: value
        for key, value in options.items()
        if value is not None and value is not False and value != ()
    }


_BLOCKS = ("warmup", "timeout", "budget")


_NOT_WITH_AA = (
    "--aa compares the host with itself: give no --variant with it, or two that set the same."
)


def _add_variants(data: dict[str, Any], texts: Sequence[str]) -> None:
    """Add the variants to the plan: those named, `auto`, or the two equal ones of an A/A run."""
    if "auto" in texts:
        if len(texts) > 1:
            raise UsageError("--variant auto stands alone.")
        if data.get("aa"):
            raise UsageError(_NOT_WITH_AA)
        [target, *_] = data.get("sweep", {}).get("target") or [data.get("target", "host")]
        system = find_system(target)
        if offers := switchable(system):
            [(text, words), *_] = offers
            texts = (text,)
            echo(f"note: --variant auto takes {shlex.quote(text)}: {words}", err=True)
        else:
            data["aa"] = True
            data.pop("variant", None)
            texts = ()
            echo(
                "note: --variant auto finds nothing here that can be switched with effect"
                f"{''.join(f'; {reason}' for reason in without_effect(system))}."
                "\n  This is an A/A run, as with --aa: it measures the noise of the method here.",
                err=True,
            )
    if texts:
        variants = [parse_variant(text) for text in texts]
        if len(variants) == 1 and data.get("aa"):
            raise UsageError(_NOT_WITH_AA)
        if len(variants) == 1:
            variants = [Variant(name="base"), *variants]
        data["variant"] = variants
    elif data.get("aa") and "variant" not in data:
        data["variant"] = [Variant(name="A1"), Variant(name="A2")]
    elif "variant" not in data:
        raise UsageError(
            "no variant is given. Name one, --variant 'NB-OFF: sysctl kernel.numa_balancing=0';"
            "\n  or --variant auto for what this host can switch, or --aa for an A/A run."
        )


def benchmark_entry(text: str) -> dict[str, Any]:
    """Read `NAME:key=value,key=[value,value]`; a list is the axis of a sweep."""
    name, _, rest = text.partition(":")
    params: dict[str, int | str] = {}
    axis: dict[str, list[int | str]] = {}
    pairs = list(filter(None, re.split(r",(?![^\[]*\])", rest)))
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise UsageError(f"--benchmark '{text}': write it as NAME:KEY=VALUE,KEY=[VALUE,VALUE]")
        if key in params or key in axis:
            raise UsageError(f"--benchmark '{text}': {key} is given twice")
        if value.startswith("[") and value.endswith("]"):
            axis[key] = [_value(each.strip()) for each in value[1:-1].split(",")]
        else:
            params[key] = _value(value)
    entry: dict[str, Any] = {"name": name, "params": params, "axis": axis}
    told = ",".join(pair for pair in pairs if pair.partition("=")[0].strip() not in axis)
    if told:
        entry["label"] = f"{name}:{told}"
    return entry


def single_case(text: str, machine: Machine) -> Case:
    """Return the one case that `NAME:key=value,...` describes."""
    entry = validate(benchmark_entry(text), BenchmarkEntry, "--benchmark")
    if entry.axis:
        raise UsageError(
            f"--benchmark '{text}': one run is wanted here, so give no list of values."
        )
    return find_benchmark(entry.name, "--benchmark").case(
        machine, entry.params, entry.label, "--benchmark"
    )


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else text


def _looks(given: dict[str, Any]) -> list[int]:
    if "blocks" in given:
        if "looks" in given:
            raise UsageError("--blocks and --looks say the same; give one.")
        return [given["blocks"]]
    return looks(given["looks"])


def looks(text: str) -> list[int]:
    """Parse `6,12,24,40`; UsageError where these cannot be the looks of a plan."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--looks '{text[:60]}': write it as 6,12,24,40") from None
    return list(validate({"looks": numbers}, Blocks, "--looks").looks)


def _percent(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100
    except ValueError:
        raise UsageError(f"--margin '{text}': write it as 2 or 2%") from None
