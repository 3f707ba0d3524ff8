"""Running plans: begin a result or go on with one, run what is owed.

    with closing(run_plan(plan, Path("results/mine"))) as store:
        print(analyse(store).outcomes)

docs/manual/api.md shows it at work.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab import __version__
from schedlab.base.errors import HostError, Interrupted, UsageError
from schedlab.base.system.interrupt import stoppable
from schedlab.base.words import listing, plural
from schedlab.benchmarks import Case
from schedlab.counters.choice import check_names
from schedlab.judging.reference import find_reference
from schedlab.kernels import KernelError
from schedlab.lab.earlier import expected, keep
from schedlab.lab.fitting import fit_sizes, fitted
from schedlab.lab.forecast import Forecast, are
from schedlab.lab.new_folder import stamped
from schedlab.lab.order import block_order, run_seed
from schedlab.lab.pace import Budget, Pace
from schedlab.lab.repeat import differences, missing_sources, repeatable
from schedlab.lab.runner import MORE_BLOCKS, Runner, is_whole, run_together
from schedlab.lab.watcher import UNWATCHED, Watcher
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import SIM
from schedlab.result.boots import BOOT, Boot
from schedlab.result.plan_files import PlanGiven
from schedlab.result.store import IMPORT, MERGE, PLAN, RUN, Store, describe
from schedlab.targets.alike import different
from schedlab.targets.choice import find_target
from schedlab.targets.client import ROW, asked_by
from schedlab.targets.platform import MEMORY
from schedlab.targets.simulators import LocalSimulators, Simulators
from schedlab.targets.target import Order, Session, SessionOfMany, Target

_NOT_RUN = {
    IMPORT: "was imported, so there is nothing to continue: its runs were made elsewhere."
    "\n  `schedlab compare` compares it with a result of your own.",
    MERGE: "was merged from results of several boots, each of which is a result of its own."
    "\n  Continue one of those, or run the plan at another boot, and merge again.",
}
"""Why a result that was not run is not gone on with."""


@dataclass(frozen=True)
class Lab:
    """How plans are run: where simulated runs are made, and who watches."""

    jobs: int | None = None
    """Simulated runs at a time; as many as there are CPUs if not given."""
    cluster: str | None = None
    """The scheduler of dask.distributed whose workers simulate."""
    watcher: Watcher = UNWATCHED
    invocation: str = "by a program that calls schedlab.lab"
    """What began the result, as reports quote it."""
    plan_file: Path | None = None
    """The file the plan was read from, if any; a later `--resume` says if it has changed."""

    @property
    def simulated_at_a_time(self) -> int:
        """Return how many simulated runs are made at a time on this host."""
        return self.jobs or len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Result:
    """A result that is to be whole: what there is of it, and where the rest is run."""

    store: Store
    cases: list[Case]
    target: Target
    made_folder: bool = True
    """Whether its folder is our own; else it was there before, empty."""


def run_plan(plan: Plan, folder: Path | None = None, lab: Lab | None = None) -> Store:
    """Run a plan to its end, into a new folder; return the result, which is to be closed.

    Raises:
        UsageError: the plan cannot be run on its target.
        HostError: every run failed.
        Interrupted: SIGINT or SIGTERM; what is recorded is kept.
    """
    lab = lab or Lab()
    check_plan(plan, lab)
    target, cases = prepare(plan, lab)
    return finish(begin(plan, cases, target, folder or default_folder(plan), lab), lab)


def resume_plan(folder: Path, lab: Lab | None = None) -> Store:
    """Resume the plan of a result, to its end; raises what `run_plan` raises."""
    lab = lab or Lab()
    result = reopen(folder, lab)
    try:
        check_lab(result.store.plan, lab)
        say_changed(result.store.plan_files.given, folder / PLAN, lab)
    except BaseException:
        result.store.close()
        raise
    return finish(result, lab)


def say_changed(given: PlanGiven | None, goes_by: Path, lab: Lab) -> None:
    """Say whether the given plan file was edited since, and which plan the runs follow."""
    if given and (line := given.changed(goes_by)):
        lab.watcher.say(f"note: {line}")


def finish(result: Result, lab: Lab) -> Store:
    """Finish one result; return its store, which is closed where that fails."""
    try:
        _run(result, lab)
        check_any_good(result.store)
    except BaseException:
        result.store.close()
        raise
    return result.store


def check_plan(plan: Plan, lab: Lab) -> None:
    """Refuse what can be refused before a target is looked at."""
    check_lab(plan, lab)
    if plan.published:
        find_reference(plan.published)


def check_lab(plan: Plan, lab: Lab) -> None:
    """Refuse a cluster, and several runs at a time, for a plan that is not simulated."""
    check_cluster(plan, lab)
    if lab.jobs and not plan.simulated:
        raise UsageError(
            f"--jobs: runs on {plan.target} would disturb each other; only on"
            f" {SIM.syntax} several can be made at a time."
        )


def check_cluster(plan: Plan, lab: Lab) -> None:
    """Refuse a cluster for a plan that is not simulated."""
    if lab.cluster and not plan.simulated:
        raise UsageError(f"--cluster: only {SIM.syntax} runs on a cluster, {plan.target} does not.")


def prepare(plan: Plan, lab: Lab) -> tuple[Target, list[Case]]:
    """Find a plan's target, and size its benchmarks for it."""
    if plan.exact and not plan.simulated:
        raise UsageError(
            f"exact: only a simulated machine has figures that are drawn, and {plan.target} is not"
            f" simulated.\n  Leave it out, or give --target {SIM.syntax}."
        )
    check_names(plan.counters, plan.simulated)
    target = find_target(plan.target, plan.machine, plan.variant, lab.watcher, asked_by(plan))
    return target, plan.cases(target.machine())


def default_folder(plan: Plan) -> Path:
    """Name the folder of a result for which the user named none."""
    return stamped(_slug(plan))


def begin(plan: Plan, cases: list[Case], target: Target, folder: Path, lab: Lab) -> Result:
    """Make the folder of a result."""
    infos = [describe(case, target.shown(case)) for case in cases]
    environment = _platform(target, plan, cases)
    again = repeatable(plan, environment)
    boots = [Boot(environment[BOOT], 0)] if BOOT in environment else []
    machine = target.machine()
    made_folder = not folder.exists()
    store = Store.create(
        *(folder, plan, machine, environment, infos, lab.invocation),
        boots=boots,
        again=again.plan,
        inputs=again.files,
        given=PlanGiven.read(lab.plan_file),
    )
    store.note(notices := differences(plan, environment))
    for line in notices:
        lab.watcher.say(f"note: {line}")
    return Result(store, cases, target, made_folder)


def _platform(target: Target, plan: Plan, cases: list[Case]) -> dict[str, str]:
    """Return the platform table of a plan that may have been run elsewhere before."""
    try:
        return target.environment(plan, cases)
    except KernelError as error:
        raise missing_sources(plan, error) from error


def reopen(folder: Path, lab: Lab) -> Result:
    """Open a result to continue it; refuse if its plan or the host has changed.

    The cases are those the result began with, whatever has become of the suite.
    """
    store = Store.open(folder, readonly=False)
    try:
        store.check_plan()
        return _on_its_host(store, folder, lab)
    except BaseException:
        store.close()
        raise


def _on_its_host(store: Store, folder: Path, lab: Lab) -> Result:
    """Return the result ready to go on; UsageError where it cannot, or must not."""
    if store.origin != RUN:
        raise UsageError(f"{folder}: {_NOT_RUN[store.origin]}")
    plan = store.plan
    target = find_target(plan.target, plan.machine, plan.variant, lab.watcher, asked_by(plan))
    cases = [
        replace(
            store.plan.measured(
                store.plan.find_benchmark(info.benchmark, str(folder)).case(
                    store.machine, info.params, info.label, f"{folder}: {info.label}"
                ),
                store.machine,
            ),
            seconds=info.seconds,
        )
        for info in store.cases
    ]
    environment = target.environment(store.plan, cases)
    same_boot = bool(store.boots) and store.boots[-1].id == environment[BOOT]
    varying = {BOOT, f"{ROW}{BOOT}"} | ({MEMORY} if same_boot else set())
    changed = [
        f"{row} was {old}, is {environment.get(row)}"
        for row, old in store.environment.items()
        if row not in varying and old != environment.get(row)
    ]
    now, before = target.machine(), store.machine
    if same_boot:
        now, before = now.without_memory(), before.without_memory()
    if different_keys := _different(now, before):
        by = "" if store.version == __version__ else f", as schedlab {store.version} described it"
        changed.append(f"the machine differs in {listing(different_keys)}{by}")
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


def run_results(results: Mapping[str, Result], lab: Lab) -> None:
    """Finish results, all at the same time where there are several.

    A folder in which not a single run was made does not stay.
    """
    watcher = lab.watcher
    owing = {}
    for name, result in results.items():
        if is_whole(result.store, result.cases):
            watcher.say(f"{name}: {_whole(result.store)}" if name else _whole(result.store))
        else:
            owing[name] = result
    results = owing
    if not results:
        return
    try:
        with stoppable(), ExitStack() as stack:
            simulators = stack.enter_context(_simulators(lab))
            results = {name: _fitted(result, watcher) for name, result in results.items()}
            sessions = []
            for name, result in results.items():
                store = result.store
                opened = result.target.open(store.plan, result.cases, store.folder / "raw")
                session = stack.enter_context(opened)
                sessions.append(session)
                store.note(session.notices)
                for line in session.notices:
                    watcher.say(f"note: {name}: {line}" if name else f"note: {line}")
            stack.enter_context(watcher.running())
            runners = []
            for (name, result), session in zip(results.items(), sessions, strict=True):
                runners.append(_runner(result, session, simulators, watcher, name))
            run_together(runners)
    finally:
        for result in results.values():
            keep(result.store)
            _forget_if_empty(result)


_NO_CHANGE = re.compile(r"write (.*) to .* \(now \1\)")


def preview(
    plan: Plan, cases: list[Case], target: Target, lab: Lab, store: Store | None = None
) -> Iterator[str]:
    """Yield every knob and command of one block, how many runs there may be, and how long.

    `store` is the result that is gone on with, if any.
    """
    platform = _platform(target, plan, cases)
    for line in differences(plan, platform):
        yield f"Note: {line}"
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
            raise different(other, key.variant)
        yield f"{key.case} [{key.variant}]"
        for line in lines:
            yield f"  {line}"
        if case.seconds:
            yield f"  {case.benchmark.grows} fitted beforehand: about {case.seconds:g} s a run"
    per_block = len(cases) * len(here)
    blocks, warmup = plan.blocks.looks[-1], plan.blocks.warmup
    yield (
        f"{plural(per_block, 'run')} a block in an order shuffled anew each time;"
        f" {warmup} warm-up and at most {plural(blocks, 'block')}:"
        f" {plural(per_block * (warmup + blocks), 'run')}."
    )
    infos = [describe(case, target.shown(case)) for case in cases]
    at_a_time = lab.simulated_at_a_time if plan.simulated else 1
    pace = Pace(at_a_time, expected(plan, platform, cases, infos))
    budget, recorded = Budget(plan, store.spent if store else 0.0), store.records() if store else ()
    if store and is_whole(store, cases):
        yield _whole(store)
        return
    if recorded:
        yield f"{are(len(recorded), 'run')} recorded."
    for record in recorded:
        pace.learn(record.key.case, record.seconds)
    labels = [case.label for case in cases]
    forecast = Forecast(plan, len(here), labels, pace, budget, recorded)
    if not str(forecast):
        yield "How long they take is not known yet: none of them was run like this before."
        return
    yield f"Time: {forecast}, by what is known of {forecast.familiar}."
    if not recorded and any(case.seconds for case in cases):
        yield "Sizes are fitted first; that takes time beside this and beside a budget."
    if warning := forecast.warning():
        yield f"Note: {warning}"


def _different(now: Machine, before: Machine) -> list[str]:
    """Return the keys of machines that differ; what is said about figures is not compared."""
    one, other = (
        {
            **machine.model_dump(exclude={"title", "notes"}),
            "ledger": {key: (e.range, e.moves_with) for key, e in machine.ledger.items()},
        }
        for machine in (now, before)
    )
    return [key for key in one if one[key] != other[key]]


def _whole(store: Store) -> str:
    recorded = f"{are(len(store.records()), 'run')} recorded"
    if store.ended is None:
        return f"{recorded}: the plan is complete, nothing is run."
    ended = f"ended the plan after {plural(store.ended, 'block')}, nothing is run."
    return f"{recorded}: its budget of {store.plan.blocks.budget} {ended}\n  {MORE_BLOCKS}"


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


def _run(result: Result, lab: Lab) -> None:
    folder = result.store.folder
    try:
        run_results({"": result}, lab)
    except Interrupted as error:
        kept = len(result.store.records()) if folder.exists() else 0
        if not kept:
            raise Interrupted(
                f"{error} before the first run was complete; nothing is kept."
            ) from error
        raise Interrupted(
            f"{error}; {are(kept, 'run')} kept in {folder}, this host is as it was before."
            f"\n  `schedlab run --resume {folder}` goes on;"
            f" `schedlab report {folder}` shows what there is."
        ) from error


@contextmanager
def _simulators(lab: Lab) -> Iterator[Simulators]:
    """Return what does simulated runs; those that still go on at the end are ended."""
    made: Simulators
    if lab.cluster:
        try:
            from schedlab.targets.cluster import ClusterSimulators
        except ImportError as error:
            raise HostError(
                "--cluster needs dask.distributed, which is not installed."
                "\n  Install: pip install distributed"
            ) from error
        made = ClusterSimulators(lab.cluster)
    else:
        made = LocalSimulators(lab.simulated_at_a_time)
    with closing(made):
        yield made


def _fitted(result: Result, watcher: Watcher) -> Result:
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
        watcher.say(f"note: {line}")
    return replace(result, cases=cases)


def _runner(
    result: Result, session: Session, simulators: Simulators, watcher: Watcher, name: str
) -> Runner:
    """Prepare to run what a result still lacks, and return what that is."""
    store, plan = result.store, result.store.plan
    records = store.records()
    at_a_time = simulators.at_a_time if isinstance(session, SessionOfMany) else 1
    labels = [case.label for case in result.cases]
    infos = [info for info in store.cases if info.label in labels]
    pace = Pace(at_a_time, expected(plan, store.environment, result.cases, infos))
    budget = Budget(plan, store.spent)
    forecast = Forecast(plan, len(plan.here(store.environment)), labels, pace, budget, records)
    progress = watcher.progress(plan, forecast, name)
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
