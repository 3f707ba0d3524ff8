"""Making a result: begin or go on, run what is owed, say what came out."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console

from schedlab.base.errors import HostError, Interrupted, UsageError
from schedlab.base.printable import printable
from schedlab.benchmarks import Case, find_benchmark
from schedlab.cli.echo import echo
from schedlab.cli.progress import Forecast, RunProgress, Screen, are
from schedlab.judging.analysis import analyse
from schedlab.judging.reference import find_reference
from schedlab.lab.earlier import expected, keep
from schedlab.lab.fitting import fit_sizes, fitted
from schedlab.lab.order import block_order, run_seed
from schedlab.lab.pace import Budget, Pace
from schedlab.lab.runner import Runner, is_whole, run_together
from schedlab.plan.plan import Plan
from schedlab.report import write_reports
from schedlab.report.terminal import print_report
from schedlab.report.wording import plural
from schedlab.result.boots import BOOT, Boot
from schedlab.result.store import IMPORT, MERGE, RUN, Store, describe
from schedlab.system.interrupt import stoppable
from schedlab.targets.choice import find_target
from schedlab.targets.platform import MEMORY
from schedlab.targets.simulators import LocalSimulators, Simulators
from schedlab.targets.target import Order, Session, SessionOfMany, Target

_NOT_RUN = {
    IMPORT: "was imported, so there is nothing to go on with: its runs were made elsewhere."
    "\n  `schedlab compare` sets it beside a result of your own.",
    MERGE: "was merged from results of several boots, each of which is a result of its own."
    "\n  Go on with one of those, or run the plan at another boot, and merge again.",
}
"""Why a result that was not run is not gone on with."""


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
    made_folder: bool = True
    """Whether its folder is our own; else it was there before, empty."""


def make_result(plan: Plan, how: How) -> None:
    """Run a plan; say what came out of it."""
    check_cluster(plan, how)
    if plan.published:
        find_reference(plan.published)
    target, cases = prepare(plan)
    if how.dry_run:
        preview(plan, cases, target, how)
    else:
        _finish(begin(plan, cases, target, how.output or default_folder(plan)), how)


def go_on(folder: Path, how: How) -> None:
    """Go on with the plan of a result."""
    result = reopen(folder)
    check_cluster(result.store.plan, how)
    if how.dry_run:
        preview(result.store.plan, result.cases, result.target, how, result.store)
    else:
        _finish(result, how)


def check_cluster(plan: Plan, how: How) -> None:
    """Refuse to have a cluster do what is no simulation."""
    if how.cluster and not plan.simulated:
        raise UsageError(f"--cluster: only sim:MACHINE runs on a cluster, {plan.target} does not.")


def prepare(plan: Plan) -> tuple[Target, list[Case]]:
    """Find a plan's target, and size its benchmarks for it."""
    if plan.exact and not plan.simulated:
        raise UsageError(
            f"exact: a host has no figures to draw; leave it out, or simulate: {plan.target} is"
            " not sim:MACHINE."
        )
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
    environment = target.environment(plan, cases)
    boots = [Boot(environment[BOOT], 0)] if BOOT in environment else []
    machine = target.machine()
    made_folder = not folder.exists()
    store = Store.create(folder, plan, machine, environment, infos, invocation, boots=boots)
    return Result(store, cases, target, made_folder)


def reopen(folder: Path) -> Result:
    """Open a result to go on with; refuse where the host is no longer the same.

    The cases are those the result began with, whatever has become of the suite.
    """
    store = Store.open(folder, readonly=False)
    try:
        return _on_its_host(store, folder)
    except BaseException:
        store.close()
        raise


def _on_its_host(store: Store, folder: Path) -> Result:
    """Return the result ready to go on; UsageError where it cannot, or must not."""
    if store.origin != RUN:
        raise UsageError(f"{folder}: {_NOT_RUN[store.origin]}")
    target = find_target(store.plan.target, store.plan.machine, store.plan.variant)
    cases = [
        replace(
            find_benchmark(info.benchmark, str(folder)).case(
                store.machine, info.params, info.label, f"{folder}: {info.label}"
            ),
            seconds=info.seconds,
        )
        for info in store.cases
    ]
    environment = target.environment(store.plan, cases)
    same_boot = bool(store.boots) and store.boots[-1].id == environment[BOOT]
    varying = {BOOT, MEMORY} if same_boot else {BOOT}
    changed = [
        f"{row} was {old}, is {new}"
        for row, new in environment.items()
        if row not in varying and (old := store.environment.get(row)) != new
    ]
    now, before = target.machine(), store.machine
    if same_boot:
        now, before = now.without_memory(), before.without_memory()
    if now != before:
        changed.append("its CPUs, memory or idle states differ")
    for info, case in zip(store.cases, cases, strict=True):
        if info.command != (command := target.shown(case)):
            changed.append(f"{info.label} was `{info.command}`, is `{command}`")
        if info.metrics != case.metrics:
            changed.append(f"{info.label} has other metrics in this version of schedlab")
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
    owing = {}
    for name, result in results.items():
        if is_whole(result.store, result.cases):
            echo(f"{name}: {_whole(result.store)}" if name else _whole(result.store), err=True)
        else:
            owing[name] = result
    results = owing
    if not results:
        return
    try:
        with stoppable(), ExitStack() as stack:
            simulators = stack.enter_context(_simulators(how))
            results = {name: _fitted(result, console) for name, result in results.items()}
            sessions = []
            for name, result in results.items():
                store = result.store
                opened = result.target.open(store.plan, result.cases, store.folder / "raw")
                session = stack.enter_context(opened)
                sessions.append(session)
                store.note(session.notices)
                for line in session.notices:
                    told = f"{name}: {line}" if name else line
                    console.print(
                        printable(f"note: {told}"), highlight=False, markup=False, soft_wrap=True
                    )
            screen = stack.enter_context(Screen(console))
            runners = []
            for (name, result), session in zip(results.items(), sessions, strict=True):
                runners.append(_runner(result, session, simulators, screen, name))
            run_together(runners)
    finally:
        for result in results.values():
            keep(result.store)
            _forget_if_empty(result)


_NO_CHANGE = re.compile(r"write (.*) to .* \(now \1\)")


def preview(
    plan: Plan, cases: list[Case], target: Target, how: How, store: Store | None = None
) -> None:
    """Print every knob and command of one block, how many runs there may be, and how long.

    `store` is the result that is gone on with, if any.
    """
    platform = target.environment(plan, cases)
    here = plan.here(platform)
    done: dict[str, tuple[str, list[str]]] = {}
    for key, case, variant in block_order(plan, cases, 0):
        if variant not in here:
            continue
        order = Order(key, case, variant, run_seed(plan, 0, case.label), position=0)
        lines = target.preview(order)
        changes = [line for line in lines if not _NO_CHANGE.fullmatch(line)]
        other, before = done.setdefault(key.case, (key.variant, changes))
        if plan.aa and changes != before:
            raise UsageError(
                f"an A/A run needs variants that are the same; {other} and {key.variant} differ."
            )
        echo(f"{key.case} [{key.variant}]")
        for line in lines:
            echo(f"  {line}")
        if case.seconds:
            echo(f"  {case.benchmark.grows} fitted beforehand: about {case.seconds:g} s a run")
    per_block = len(cases) * len(here)
    blocks, warmup = plan.blocks.looks[-1], plan.blocks.warmup
    echo(
        f"{plural(per_block, 'run')} a block in an order shuffled anew each time;"
        f" {warmup} warm-up and at most {plural(blocks, 'block')}:"
        f" {plural(per_block * (warmup + blocks), 'run')}."
    )
    infos = [describe(case, target.shown(case)) for case in cases]
    at_a_time = (how.jobs or len(os.sched_getaffinity(0))) if plan.simulated else 1
    pace = Pace(at_a_time, expected(plan, platform, cases, infos))
    budget, recorded = Budget(plan, store.spent if store else 0.0), store.records() if store else ()
    if store and is_whole(store, cases):
        echo(_whole(store))
        return
    if recorded:
        echo(f"{are(len(recorded), 'run')} recorded.")
    for record in recorded:
        pace.learn(record.key.case, record.seconds)
    labels = [case.label for case in cases]
    forecast = Forecast(plan, len(here), labels, pace, budget, recorded)
    if not str(forecast):
        echo("How long they take is not known yet: none of them was run like this before.")
        return
    echo(f"Time: {forecast}, by what is known of {forecast.familiar}.")
    if not recorded and any(case.seconds for case in cases):
        echo("Sizes are fitted first; that takes time beside this and beside a budget.")
    if warning := forecast.warning():
        echo(f"Note: {warning}")


def _whole(store: Store) -> str:
    return f"{are(len(store.records()), 'run')} recorded: the plan is whole, nothing is run."


def check_any_good(store: Store) -> None:
    """Refuse to report a result in which not one run was good.

    Raises:
        HostError: every run failed; the first reason is named.
    """
    records = store.records()
    if records and all(record.status == "failed" for record in records):
        first = records[0]
        raise HostError(
            f"every run failed ({len(records)}), so there is nothing to report."
            f"\n  {first.key.case} [{first.key.variant}]: {first.error}"
            f"\n  The tools' output is kept below {store.folder / 'raw'}."
        )


def clear_folder(folder: Path) -> None:
    """Remove what is in a folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _finish(result: Result, how: How) -> None:
    with closing(result.store) as store:
        _run(result, how)
        check_any_good(store)
        analysis = analyse(store)
        print_report(store, analysis, Console())
        for path in write_reports(store):
            echo(f"wrote {path}")
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
            f"{error}; {are(kept, 'run')} kept in {folder}, this host is as it was before."
            f"\n  `schedlab run --resume {folder}` goes on;"
            f" `schedlab report {folder}` shows what there is."
        ) from error


@contextmanager
def _simulators(how: How) -> Iterator[Simulators]:
    """Return what does simulated runs; those that still go on at the end are ended."""
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


def _fitted(result: Result, console: Console) -> Result:
    """Fit the sizes of a result that has no run yet to the seconds its plan asks for."""
    store = result.store
    if store.records() or store.fits:
        return result
    raw = store.folder / "raw"
    fits = fit_sizes(store.plan, store.environment, result.cases, result.target, raw)
    if not fits:
        return result
    cases = [fitted(case, fits.get(case.label)) for case in result.cases]
    store.resize(fits, [describe(case, result.target.shown(case)) for case in cases])
    lines = [f"{label}: {f.parameter} = {f.value:,} {f.found}" for label, f in fits.items()]
    store.note(lines)
    for line in lines:
        console.print(printable(f"note: {line}"), highlight=False, markup=False, soft_wrap=True)
    return replace(result, cases=cases)


def _runner(
    result: Result, session: Session, simulators: Simulators, screen: Screen, name: str
) -> Runner:
    """Make ready to run what a result owes, and say what that is."""
    store, plan = result.store, result.store.plan
    records = store.records()
    at_a_time = simulators.at_a_time if isinstance(session, SessionOfMany) else 1
    pace = Pace(at_a_time, expected(plan, store.environment, result.cases, store.cases))
    budget = Budget(plan, store.spent)
    labels = [case.label for case in result.cases]
    forecast = Forecast(plan, len(plan.here(store.environment)), labels, pace, budget, records)
    progress = RunProgress(plan, forecast, screen, name)
    runner = Runner(store, result.cases, session, progress, simulators, pace, budget)
    progress.begin()
    return runner


def _slug(plan: Plan) -> str:
    names = [plan.suite, *(entry.name for entry in plan.benchmark), *plan.workload]
    name = Path(next(filter(None, names))).stem
    return f"{name}-aa" if plan.aa else name


def _forget_if_empty(result: Result) -> None:
    """Leave nothing behind where not a single run was made; a folder that was there stays."""
    store = result.store
    if store.records():
        return
    store.close()
    if result.made_folder:
        shutil.rmtree(store.folder, ignore_errors=True)
    else:
        clear_folder(store.folder)
