"""Carrying a sweep out: one folder, and in it a folder for each result."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.base.errors import HostError, Interrupted, StoreError, reading, writing
from schedlab.base.system.interrupt import stoppable, uninterrupted
from schedlab.lab.forecast import are
from schedlab.lab.result import (
    Lab,
    begin,
    check_any_good,
    check_cluster,
    clear_folder,
    default_folder,
    prepare,
    reopen,
    run_results,
    say_changed,
)
from schedlab.lab.worker import Task, Workers
from schedlab.plan.plan import Plan, load_plan
from schedlab.plan.sweep import Point, points
from schedlab.result.folder import DATABASE, SWEEP
from schedlab.result.plan_files import PlanFiles, PlanGiven
from schedlab.result.store import Store

BEGUN = "sweep-begun.json"
"""The plan's files as they were when the sweep began."""
PAGE = "overview.html"
"""The page over all results of a sweep, in its folder."""


@dataclass(frozen=True)
class Swept:
    """A sweep that was carried out."""

    folder: Path
    names: list[str]
    """The names of all its results, which are their folders in it."""
    failed: list[str]
    """Those that are not whole."""

    @property
    def whole(self) -> list[Path]:
        """The folders of the results that are whole."""
        return [self.folder / name for name in self.names if name not in self.failed]

    def check(self) -> None:
        """Raise HostError if some results are not whole."""
        if self.failed:
            raise HostError(
                f"{len(self.failed)} of {len(self.names)} results are incomplete:"
                f" {', '.join(self.failed)}."
                f"\n  `schedlab run --resume {self.folder}` goes on with them."
            )


def plan_of_sweep(folder: Path) -> Plan:
    """Return the plan of the sweep in a folder; UsageError if it has changed since it began."""
    _begun(folder).check(folder / SWEEP)
    return load_plan(folder / SWEEP)


def sweep_points(plan: Plan, lab: Lab) -> dict[str, Point]:
    """Return the plans of a sweep, by name; refuse a cluster for one that is not simulated."""
    all_points = points(plan)
    for point in all_points.values():
        check_cluster(point.plan, lab)
    return all_points


def run_sweep(plan: Plan, folder: Path | None = None, lab: Lab | None = None) -> Swept:
    """Run all plans of a sweep into a new folder; those that are simulated share the processors.

    Of the others each host has its own process, and one run at a time. Some results may have
    failed, which `Swept.check` raises.

    Raises:
        UsageError: a plan cannot be run on its target; none has begun.
        Interrupted: SIGINT or SIGTERM; what is recorded is kept.
    """
    return _carry_out(plan, folder or default_folder(plan), lab or Lab(), resuming=False)


def resume_sweep(folder: Path, lab: Lab | None = None) -> Swept:
    """Resume the sweep in a folder; as `run_sweep`, and a changed plan is a UsageError."""
    lab, plan = lab or Lab(), plan_of_sweep(folder)
    say_changed(_begun(folder).given, folder / SWEEP, lab)
    return _carry_out(plan, folder, lab, resuming=True)


def _carry_out(plan: Plan, folder: Path, lab: Lab, resuming: bool) -> Swept:
    all_points = sweep_points(plan, lab)
    simulated = {name: point for name, point in all_points.items() if point.plan.simulated}
    for point in simulated.values():
        prepare(point.plan, lab)  # what is wrong with one is said before any begins
    was_there = folder.exists()
    if not resuming:
        _new_folder(plan, folder, lab)
    lab = replace(lab, plan_file=None)  # the sweep has it; each result has a plan of its own
    try:
        failed = _run_on_hosts(
            {name: point for name, point in all_points.items() if name not in simulated},
            folder,
            lab,
        )
        failed += _simulate(simulated, folder, lab)
    except Interrupted as error:
        raise Interrupted(f"{error}; {_what_is_kept(folder, all_points)}") from error
    finally:
        _forget_if_empty(folder, was_there)
    return Swept(folder, list(all_points), failed)


def _new_folder(plan: Plan, folder: Path, lab: Lab) -> None:
    with writing(folder, StoreError):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreError(
                f"{folder}: is not empty. Name another folder, or continue with --resume {folder}."
            )
        text = plan.to_toml()
        (folder / SWEEP).write_text(text)
        begun = PlanFiles.of(text, given=PlanGiven.read(lab.plan_file))
        (folder / BEGUN).write_text(begun.model_dump_json(indent=1))


def _begun(folder: Path) -> PlanFiles:
    """Return the plan's files as the sweep began with them; nothing of an earlier version's."""
    file = folder / BEGUN
    if not file.exists():
        return PlanFiles()
    with reading(file, StoreError):
        text = file.read_text()
    try:
        return PlanFiles.model_validate_json(text)
    except ValueError:
        raise StoreError(
            f"{file}: is damaged, so nobody knows whether {SWEEP} is still the plan it began with."
            "\n  Delete the file if it is."
        ) from None


def _simulate(simulated: Mapping[str, Point], folder: Path, lab: Lab) -> list[str]:
    """Simulate all at the same time; return those of which every run failed."""
    failed: list[str] = []
    if not simulated:
        return failed
    with ExitStack() as stack:
        results = {}
        for name, point in simulated.items():
            place = folder / name
            if (place / DATABASE).exists():
                results[name] = reopen(place, lab)
            else:
                target, cases = prepare(point.plan, lab)
                results[name] = begin(point.plan, cases, target, place, lab)
            stack.enter_context(closing(results[name].store))
        run_results(results, lab)
        for name, result in results.items():
            try:
                check_any_good(result.store)
            except HostError as error:
                lab.watcher.say(f"{name}: {error}")
                failed.append(name)
    return failed


def _run_on_hosts(there: Mapping[str, Point], folder: Path, lab: Lab) -> list[str]:
    """Run each plan in a process of its own; return those that failed.

    Hosts work at the same time; what happens on this one happens one after the other.
    """
    lanes: dict[str, list[str]] = {}
    for name, point in there.items():
        lanes.setdefault(point.place, []).append(name)
    if not lanes:
        return []
    workers = Workers(lab.watcher)

    def run(names: Sequence[str]) -> list[str]:
        """Run one after the other; return those that failed."""
        return [n for n in names if not workers.run(n, _task(there[n], folder / n, lab))]

    with lab.watcher.running(), ThreadPoolExecutor(len(lanes)) as pool:
        try:
            with stoppable():
                return [name for failed in pool.map(run, lanes.values()) for name in failed]
        except Interrupted:
            with uninterrupted():
                workers.stop()
                pool.shutdown()
            raise


def _task(point: Point, folder: Path, lab: Lab) -> Task:
    """Return what a process is to do for one result of the sweep."""
    plan = None if (folder / DATABASE).exists() else point.plan
    return Task(plan, folder, lab.invocation)


def _what_is_kept(folder: Path, names: Mapping[str, Point]) -> str:
    kept = 0
    for name in names:
        if (folder / name / DATABASE).exists():
            with closing(Store.open(folder / name)) as store:
                kept += len(store.records())
    if not kept:
        return "no run was complete; nothing is kept."
    return (
        f"{are(kept, 'run')} kept below {folder}, every host is as it was before."
        f"\n  `schedlab run --resume {folder}` goes on."
    )


def _forget_if_empty(folder: Path, was_there: bool) -> None:
    """Leave nothing behind where nothing was run; a folder that was there stays."""
    if any(path.is_dir() for path in folder.iterdir()):
        return
    clear_folder(folder)
    if not was_there:
        folder.rmdir()
