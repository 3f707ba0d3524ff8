"""Making a result: begin or go on, run what is owed, say what came out."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

from schedlab.analysis import analyse
from schedlab.benchmarks import Case
from schedlab.boots import BOOT, Boot
from schedlab.cli.progress import RunProgress, Screen
from schedlab.errors import HostError, Interrupted, UsageError
from schedlab.interrupt import stoppable
from schedlab.order import block_order, run_seed
from schedlab.plan import Plan
from schedlab.reference import find_reference
from schedlab.report import write_reports
from schedlab.report.terminal import print_report
from schedlab.runner import Runner, run_together
from schedlab.store import Store, describe
from schedlab.targets.choice import find_target
from schedlab.targets.simulators import LocalSimulators, Simulators
from schedlab.targets.target import Order, Target


@dataclass(frozen=True)
class How:
    """What the user wants of a plan beside what it says itself."""

    resume: Path | None = None
    jobs: int | None = None
    cluster: str | None = None
    dry_run: bool = False
    output: Path | None = None
    fail_on: str | None = None


@dataclass(frozen=True)
class Result:
    """A result that is to be whole: what there is of it, and where the rest is run."""

    store: Store
    cases: list[Case]
    target: Target


def make_result(plan: Plan, how: How) -> None:
    """Run a plan; say what came out of it."""
    check_cluster(plan, how)
    if plan.published:
        find_reference(plan.published)
    target, cases = prepare(plan)
    if how.dry_run:
        preview(plan, cases, target)
    else:
        _finish(begin(plan, cases, target, how.output or default_folder(plan)), how)


def go_on(folder: Path, how: How) -> None:
    """Go on with the plan of a result."""
    result = reopen(folder)
    check_cluster(result.store.plan, how)
    if how.dry_run:
        preview(result.store.plan, result.cases, result.target)
    else:
        _finish(result, how)


def check_cluster(plan: Plan, how: How) -> None:
    """Refuse to have a cluster do what is no simulation."""
    if how.cluster and not plan.simulated:
        raise UsageError(f"--cluster: only sim:MACHINE runs on a cluster, {plan.target} does not.")


def prepare(plan: Plan) -> tuple[Target, list[Case]]:
    """Find a plan's target, and size its benchmarks for it."""
    target = find_target(plan.target, plan.machine, plan.variant)
    return target, plan.cases(target.machine())


def default_folder(plan: Plan) -> Path:
    """Name the folder of a result for which the user named none."""
    stamp = datetime.now().strftime("%Y-%m-%dT%H-%M-%S")
    return Path("results") / f"{stamp}-{_slug(plan)}"


def begin(plan: Plan, cases: list[Case], target: Target, folder: Path) -> Result:
    """Make the folder of a result."""
    infos = [describe(case, target.shown(case)) for case in cases]
    invocation = shlex.join(["schedlab", *sys.argv[1:]])
    environment = target.environment(plan)
    boots = [Boot(environment[BOOT], 0)] if BOOT in environment else []
    machine = target.machine()
    store = Store.create(folder, plan, machine, environment, infos, invocation, boots=boots)
    return Result(store, cases, target)


def reopen(folder: Path) -> Result:
    """Open a result to go on with; refuse where the host is no longer the same."""
    store = Store.open(folder, readonly=False)
    target, cases = prepare(store.plan)
    environment = target.environment(store.plan)
    changed = [
        f"{row} was {old}, is {new}"
        for row, new in environment.items()
        if row != BOOT and (old := store.environment.get(row)) != new
    ]
    if target.machine() != store.machine:
        changed.append("its CPUs, memory or idle states differ")
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
    return Result(store, cases, target)


def run_results(results: Mapping[str, Result], how: How) -> None:
    """Bring results to their ends, all at the same time where there are several.

    A folder in which not a single run was made does not stay.
    """
    console = Console(stderr=True)
    try:
        with stoppable(), ExitStack() as stack:
            simulators = stack.enter_context(_simulators(how))
            sessions = []
            for name, result in results.items():
                store = result.store
                opened = result.target.open(store.plan, result.cases, store.folder / "raw")
                session = stack.enter_context(opened)
                sessions.append(session)
                store.note(session.notices)
                for line in session.notices:
                    told = f"{name}: {line}" if name else line
                    console.print(f"note: {told}", highlight=False, markup=False, soft_wrap=True)
            screen = stack.enter_context(Screen(console))
            runners = []
            for (name, result), session in zip(results.items(), sessions, strict=True):
                progress = _progress(result, screen, name)
                runners.append(Runner(result.store, result.cases, session, progress, simulators))
            run_together(runners)
    finally:
        for result in results.values():
            _forget_if_empty(result.store)


def preview(plan: Plan, cases: list[Case], target: Target) -> None:
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


def _finish(result: Result, how: How) -> None:
    with closing(result.store) as store:
        _run(result, how)
        analysis = analyse(store)
        print_report(store, analysis, Console())
        for path in write_reports(store):
            click.echo(f"wrote {path}")
    if how.fail_on and any(outcome.verdict.word == "worse" for outcome in analysis.outcomes):
        sys.exit(1)


def _run(result: Result, how: How) -> None:
    folder = result.store.folder
    try:
        run_results({"": result}, how)
    except Interrupted as error:
        kept = len(result.store.records()) if folder.exists() else 0
        if not kept:
            raise Interrupted(
                f"{error} before the first run was whole; nothing is kept."
            ) from error
        raise Interrupted(
            f"{error}; {kept} runs are kept in {folder}, this host is as it was before."
            f"\n  `schedlab run --resume {folder}` goes on;"
            f" `schedlab report {folder}` shows what there is."
        ) from error


@contextmanager
def _simulators(how: How) -> Iterator[Simulators]:
    """Give what does simulated runs; those that still go on at the end are ended."""
    made: Simulators
    if how.cluster:
        try:
            from schedlab.targets.cluster import ClusterSimulators
        except ImportError as error:
            raise HostError(
                "--cluster needs dask.distributed, which is not installed."
                "\n  Install: pip install distributed"
            ) from error
        made = ClusterSimulators(how.cluster)
    else:
        made = LocalSimulators(how.jobs or len(os.sched_getaffinity(0)))
    with closing(made):
        yield made


def _progress(result: Result, screen: Screen, name: str) -> RunProgress:
    plan = result.store.plan
    return RunProgress(plan, len(plan.here(result.store.environment)), screen, name)


def _slug(plan: Plan) -> str:
    names = [plan.suite, *(entry.name for entry in plan.benchmark), *plan.workload]
    name = Path(next(filter(None, names))).stem
    return f"{name}-aa" if plan.aa else name


def _forget_if_empty(store: Store) -> None:
    """Leave no result folder behind where not a single run was made."""
    if not store.records():
        store.close()
        shutil.rmtree(store.folder, ignore_errors=True)
