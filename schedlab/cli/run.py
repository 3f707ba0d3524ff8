"""`schedlab run`: run a plan, or go on with one."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from schedlab.analysis import Analysis, analyse
from schedlab.benchmarks import Case, find_benchmark
from schedlab.boots import BOOT, Boot
from schedlab.cli.progress import RunProgress
from schedlab.errors import Interrupted, UsageError
from schedlab.interrupt import stoppable
from schedlab.machine import Machine
from schedlab.order import block_order, run_seed
from schedlab.plan import BenchmarkEntry, Plan, load_plan
from schedlab.reference import find_reference
from schedlab.report import write_reports
from schedlab.report.terminal import print_report
from schedlab.runner import Runner
from schedlab.settings.switchable import switchable
from schedlab.store import Store, describe
from schedlab.targets.choice import find_system, find_target
from schedlab.targets.target import Order, Target
from schedlab.validation import validate
from schedlab.variant import Variant, parse_variant

Command = TypeVar("Command", bound=Callable[..., None])


RESUME_ALONE = "--resume takes its plan from DIR; give no other options with it."

_EXPERIMENT = (
    click.option(
        "--variant",
        "variants",
        multiple=True,
        metavar="'NAME: SETTING; ...'",
        help="A variant; the first is the baseline. Settings: NO_FEATURE, sysctl K=V, sched K=V, "
        "cpuidle STATE=off [cpus=LIST], idle-governor NAME, governor NAME, env K=V, prefix "
        "COMMAND, companion COMMAND; simulated or in a guest: kernel=NAME; in a guest: cmdline "
        "OPTIONS. A single variant is compared with the host as it is; `auto` takes what this host "
        "can switch.",
    ),
    click.option(
        "--aa", is_flag=True, help="Compare the host with itself: the method's own noise."
    ),
    click.option(
        "--target",
        metavar="TARGET",
        help="host (if not given), ssh:HOST, sim:MACHINE or vm:KERNEL.",
    ),
    click.option("--machine", metavar="MACHINE", help="The machine a target vm: shows its guests."),
    click.option("--looks", metavar="N,...", help="Blocks after which the evidence is judged."),
    click.option(
        "--blocks", type=int, metavar="N", help="Exactly N blocks: the same as --looks N."
    ),
    click.option("--warmup", type=int, metavar="N", help="Warm-up blocks that do not count."),
    click.option("--margin", metavar="PCT", help="Differences within +-PCT % count as none."),
    click.option(
        "--strict", is_flag=True, help="Hold the chance of any false claim to alpha (Holm)."
    ),
    click.option("--seed", type=int, help="Seed of the run order."),
    click.option("--timeout", metavar="TIME", help="The longest a run may take, such as 90s."),
    click.option("--counters", metavar="NAME,...", help="Counters; `schedlab list counters`."),
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
        type=click.IntRange(min=1),
        metavar="N",
        help="Simulated runs at a time; as many as there are CPUs if not given.",
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
@click.argument("plan_file", required=False, metavar="[PLAN.toml]", type=click.Path(path_type=Path))
@click.option("--suite", metavar="NAME", help="The benchmarks to run; `schedlab list suites`.")
@click.option(
    "--benchmark",
    "benchmarks",
    metavar="NAME[:KEY=VALUE,...]",
    multiple=True,
    help="A benchmark beside or instead of a suite's, with parameters; KEY=[A,B,...] is a sweep.",
)
@click.option(
    "--workload",
    "workloads",
    metavar="FILE.json",
    multiple=True,
    help="A workload described by a file of rt-app (docs/workloads.md).",
)
@click.option("--only", multiple=True, metavar="NAME", help="Of all these, only this one.")
@experiment_options
def run(
    resume: Path | None,
    jobs: int | None,
    dry_run: bool,
    output: Path | None,
    fail_on: str | None,
    plan_file: Path | None,
    **options: Any,
) -> None:
    """Run benchmarks under variants, interleaved, until there is a verdict.

    \b
    schedlab run --suite quick --variant auto
    schedlab run --suite common --variant 'NB-OFF: sysctl kernel.numa_balancing=0'
    schedlab run --workload video.json --target sim:hikey960 --variant 'x: NO_WA_IDLE'
    schedlab run plan.toml
    """
    if resume and (plan_file or any(options.values())):
        raise UsageError(RESUME_ALONE)
    data = load_plan(plan_file).model_dump(exclude_unset=True) if plan_file else {}
    if options["benchmarks"]:
        data["benchmark"] = [benchmark_entry(text) for text in options["benchmarks"]]
    if options["workloads"]:
        data["workload"] = options["workloads"]
    where = str(plan_file) if plan_file else "command line"
    carry_out(
        lambda: make_plan(data, options, where),
        *(resume, jobs, dry_run, output, fail_on),
    )


def carry_out(
    plan_of: Callable[[], Plan],
    resume: Path | None,
    jobs: int | None,
    dry_run: bool,
    output: Path | None,
    fail_on: str | None,
) -> None:
    """Run a plan, or go on with the one in `resume`; say what came out of it."""
    store: Store | None = None
    if resume:
        if output:
            raise UsageError(RESUME_ALONE)
        store, cases, target = _reopen(resume)
        plan = store.plan
    else:
        plan = plan_of()
        if plan.published:
            find_reference(plan.published)
        target = find_target(plan.target, plan.machine, plan.variant)
        cases = plan.cases(target.machine())
    if dry_run:
        _preview(plan, cases, target)
        return
    store = store or _begin(plan, cases, target, output)
    with closing(store):
        analysis = _run(store, cases, target, jobs)
    if fail_on and any(outcome.verdict.word == "worse" for outcome in analysis.outcomes):
        sys.exit(1)


def make_plan(data: dict[str, Any], options: Mapping[str, Any], where: str) -> Plan:
    """Change a plan's data by the options given, and make the plan of it."""
    given = {
        key: value
        for key, value in options.items()
        if value is not None and value is not False and value != ()
    }
    for key in ("suite", "only", "target", "machine", "aa"):
        if key in given:
            data[key] = given[key]
    blocks = {**data.get("blocks", {}), **{k: given[k] for k in _BLOCKS if k in given}}
    if data.get("target", "").startswith("sim:"):
        blocks.setdefault("warmup", 0)  # every simulated run begins on a machine already settled
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


_BLOCKS = ("warmup", "seed", "timeout")


def _add_variants(data: dict[str, Any], texts: Sequence[str]) -> None:
    """Give the plan its variants: those named, `auto`, or the two equal ones of an A/A run."""
    if "auto" in texts:
        if len(texts) > 1:
            raise UsageError("--variant auto stands alone.")
        offers = switchable(find_system(data.get("target", "host")))
        if offers:
            texts = (offers[0][0],)
        else:
            data["aa"] = True
            texts = ()
    if texts:
        variants = [parse_variant(text) for text in texts]
        if len(variants) == 1 and not data.get("aa"):
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
    """Give the one case that `NAME:key=value,...` describes."""
    entry = validate(benchmark_entry(text), BenchmarkEntry, "--benchmark")
    if entry.axis:
        raise UsageError(
            f"--benchmark '{text}': one run is wanted here, so give no list of values."
        )
    return find_benchmark(entry.name, "--benchmark").case(
        machine, entry.params, entry.label, "--benchmark"
    )


def _value(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _looks(given: dict[str, Any]) -> list[int]:
    if "blocks" in given:
        if "looks" in given:
            raise UsageError("--blocks and --looks say the same; give one.")
        return [given["blocks"]]
    return looks(given["looks"])


def looks(text: str) -> list[int]:
    """Read `6,12,24,40`."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--looks '{text}': write it as 6,12,24,40") from None


def _percent(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100
    except ValueError:
        raise UsageError(f"--margin '{text}': write it as 2 or 2%") from None


def _begin(plan: Plan, cases: list[Case], target: Target, output: Path | None) -> Store:
    stamp = datetime.now().strftime("%Y-%m-%dT%H-%M-%S")
    folder = output or Path("results") / f"{stamp}-{_slug(plan)}"
    infos = [describe(case, target.shown(case)) for case in cases]
    invocation = shlex.join(["schedlab", *sys.argv[1:]])
    environment = target.environment(plan)
    boots = [Boot(environment[BOOT], 0)] if BOOT in environment else []
    machine = target.machine()
    return Store.create(folder, plan, machine, environment, infos, invocation, boots=boots)


def _slug(plan: Plan) -> str:
    names = [plan.suite, *(entry.name for entry in plan.benchmark), *plan.workload]
    name = Path(next(filter(None, names))).stem
    return f"{name}-aa" if plan.aa else name


def _reopen(folder: Path) -> tuple[Store, list[Case], Target]:
    """Open a result to go on with; refuse where the host is no longer the same."""
    store = Store.open(folder, readonly=False)
    target = find_target(store.plan.target, store.plan.machine, store.plan.variant)
    machine = target.machine()
    environment = target.environment(store.plan)
    changed = [
        f"{row} was {old}, is {new}"
        for row, new in environment.items()
        if row != BOOT and (old := store.environment.get(row)) != new
    ]
    if machine != store.machine:
        changed.append("its CPUs, memory or idle states differ")
    cases = store.plan.cases(machine)
    for info, case in zip(store.cases, cases, strict=True):
        if info.command != (command := target.shown(case)):
            changed.append(f"{info.label} was `{info.command}`, is `{command}`")
    if changed:
        raise UsageError(
            f"{folder}: began on another host or kernel: {'; '.join(changed)}."
            "\n  Runs of both cannot be compared; begin a new result."
        )
    if store.boots and store.boots[-1].id != environment[BOOT]:
        store.went_on(environment[BOOT])
    return store, cases, target


def _run(store: Store, cases: list[Case], target: Target, jobs: int | None) -> Analysis:
    console = Console(stderr=True)
    scratch = store.folder / "raw"
    try:
        with (
            stoppable(),
            target.open(store.plan, cases, scratch) as session,
            RunProgress(store.plan, len(store.plan.here(store.environment)), console) as progress,
        ):
            store.note(session.notices)
            for line in session.notices:
                console.print(f"note: {line}", highlight=False, markup=False, soft_wrap=True)
            Runner(store, cases, session, progress, jobs or len(os.sched_getaffinity(0))).run()
    except Interrupted as error:
        kept = len(store.records())
        if not kept:
            raise Interrupted(
                f"{error} before the first run was whole; nothing is kept."
            ) from error
        raise Interrupted(
            f"{error}; {kept} runs are kept in {store.folder}, this host is as it was before."
            f"\n  `schedlab run --resume {store.folder}` goes on;"
            f" `schedlab report {store.folder}` shows what there is."
        ) from error
    finally:
        _forget_if_empty(store)
    analysis = analyse(store)
    print_report(store, analysis, Console())
    for path in write_reports(store):
        click.echo(f"wrote {path}")
    return analysis


def _forget_if_empty(store: Store) -> None:
    """Leave no result folder behind where not a single run was made."""
    if not store.records():
        store.close()
        shutil.rmtree(store.folder, ignore_errors=True)


def _preview(plan: Plan, cases: list[Case], target: Target) -> None:
    """Print every knob and command of one block, and how many runs there may be."""
    here = plan.here(target.environment(plan))
    for key, case, variant in block_order(plan, cases, 0):
        if variant not in here:
            continue
        order = Order(key, case, variant, run_seed(plan, 0, case.label), position=0)
        click.echo(f"{key.case} [{key.variant}]")
        for line in target.preview(order):
            click.echo(f"  {line}")
    per_block = len(cases) * len(here)
    blocks, warmup = plan.blocks.looks[-1], plan.blocks.warmup
    click.echo(
        f"{per_block} runs a block in an order shuffled anew each time;"
        f" {warmup} warm-up and at most {blocks} blocks: {per_block * (warmup + blocks)} runs."
    )
