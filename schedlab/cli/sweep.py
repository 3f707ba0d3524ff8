"""Carrying a sweep out: one folder, in it a folder for each result, one page over all."""

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

from schedlab.base.errors import HostError, Interrupted, StoreError
from schedlab.cli.echo import echo
from schedlab.cli.progress import are
from schedlab.cli.result import (
    How,
    begin,
    check_any_good,
    check_cluster,
    clear_folder,
    default_folder,
    prepare,
    preview,
    reopen,
    run_results,
)
from schedlab.judging.analysis import analyse
from schedlab.plan.plan import Plan, load_plan
from schedlab.plan.sweep import Point, points
from schedlab.report import Report, save, write_reports
from schedlab.report.overview import overview
from schedlab.result.store import DATABASE, Store
from schedlab.system.interrupt import stoppable, uninterrupted
from schedlab.system.process import dying_with_us

PLAN = "sweep.toml"
PAGE = "overview.html"


def is_sweep(folder: Path) -> bool:
    """Return whether a folder holds the results of a sweep."""
    return (folder / PLAN).is_file()


def results_of_sweep(folder: Path) -> list[Path]:
    """Return the folders of the results that a sweep's folder has so far."""
    return sorted(path.parent for path in folder.glob(f"*/{DATABASE}"))


def carry_out_sweep(plan: Plan, how: How) -> None:
    """Run all plans of a sweep; those on simulated machines share the processors.

    Of the others each host has its own process, and one run at a time.
    """
    all_points = points(plan)
    for point in all_points.values():
        check_cluster(point.plan, how)
    if how.dry_run:
        for name, point in all_points.items():
            echo(f"{name}:")
            target, cases = prepare(point.plan)
            preview(point.plan, cases, target, how)
        return
    simulated = {name: point for name, point in all_points.items() if point.plan.simulated}
    for point in simulated.values():
        prepare(point.plan)  # what is wrong with one is said before any begins
    place = how.resume or how.output or default_folder(plan)
    was_there = place.exists()
    folder = how.resume or _new_folder(plan, place)
    try:
        failed = _run_on_hosts(
            {name: point for name, point in all_points.items() if name not in simulated}, folder
        )
        failed += _simulate(simulated, folder, how)
    except Interrupted as error:
        raise Interrupted(f"{error}; {_what_is_kept(folder, all_points)}") from error
    finally:
        _forget_if_empty(folder, was_there)
    worse = _tell([folder / name for name in all_points if name not in failed], folder / PAGE)
    if failed:
        raise HostError(
            f"{len(failed)} of {len(all_points)} results are not whole: {', '.join(failed)}."
            f"\n  `schedlab run --resume {folder}` goes on with them."
        )
    if how.fail_on and worse:
        sys.exit(1)


def plan_of_sweep(folder: Path) -> Plan:
    """Return the plan of the sweep in a folder."""
    return load_plan(folder / PLAN)


def _new_folder(plan: Plan, folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreError(
                f"{folder}: is not empty. Name another folder, or go on with --resume {folder}."
            )
        (folder / PLAN).write_text(plan.to_toml())
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder


def _simulate(simulated: Mapping[str, Point], folder: Path, how: How) -> list[str]:
    """Simulate all at the same time; gives those of which every run failed."""
    failed: list[str] = []
    if not simulated:
        return failed
    with ExitStack() as stack:
        results = {}
        for name, point in simulated.items():
            place = folder / name
            if (place / DATABASE).exists():
                results[name] = reopen(place)
            else:
                target, cases = prepare(point.plan)
                results[name] = begin(point.plan, cases, target, place)
            stack.enter_context(closing(results[name].store))
        run_results(results, how)
        for name, result in results.items():
            try:
                check_any_good(result.store)
            except HostError as error:
                echo(f"{name}: {error}", err=True)
                failed.append(name)
            else:
                write_reports(result.store)
    return failed


def _run_on_hosts(there: Mapping[str, Point], folder: Path) -> list[str]:
    """Run each plan in a process of its own; gives those that failed.

    Hosts work at the same time; what happens on this one happens one after the other.
    """
    lanes: dict[str, list[str]] = {}
    for name, point in there.items():
        lanes.setdefault(point.place, []).append(name)
    if not lanes:
        return []
    labs = _Labs()
    with ThreadPoolExecutor(len(lanes)) as pool:
        try:
            with stoppable():
                done = []
                for lane in lanes.values():
                    words = {name: _words(there[name], folder, name) for name in lane}
                    done.append(pool.submit(labs.run, words))
                return [name for each in done for name in each.result()]
        except Interrupted:
            with uninterrupted():
                labs.stop()
                pool.shutdown()
            raise


def _words(point: Point, folder: Path, name: str) -> list[str]:
    """Return the options of `schedlab run` for one result of the sweep."""
    if (folder / name / DATABASE).exists():
        return ["--resume", str(folder / name)]
    chosen = [word for key, value in point.values.items() for word in (f"--{key}", str(value))]
    return [str(folder / PLAN), "--output", str(folder / name), *chosen]


class _Labs:
    """The processes in which results of a sweep are made."""

    def __init__(self) -> None:
        self._stopped = False
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def run(self, lane: Mapping[str, Sequence[str]]) -> list[str]:
        """Run one after the other, telling what they say; give the names of those that failed."""
        return [name for name, words in lane.items() if not self._well(name, words)]

    def stop(self) -> None:
        """Have all end as Ctrl-C would, and begin no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()

    def _well(self, name: str, words: Sequence[str]) -> bool:
        with self._lock:
            if self._stopped:
                return False
            process = subprocess.Popen(
                [
                    *dying_with_us(signal.SIGTERM),
                    *(sys.executable, "-m", "schedlab", "run", *words),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C is ours to pass on
            )
            self._running.add(process)
        with process:
            assert process.stderr
            for line in process.stderr:
                echo(f"{name}: {line.rstrip()}", err=True)
        self._running.discard(process)
        return process.returncode == 0


def _tell(folders: Sequence[Path], page: Path) -> bool:
    """Print a line on what each result shows, write the page; return whether any got worse."""
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(Store.open(folder))) for folder in folders]
        reports = [Report(store, analyse(store)) for store in stores]
        for report in reports:
            for variant in report.others:
                echo(
                    f"{report.store.folder.name}: {variant} against {report.baseline}:"
                    f" {report.tally(variant)}"
                )
        echo(f"wrote {save(overview(reports, page), page)}")
        return any(
            outcome.verdict.word == "worse"
            for report in reports
            for outcome in report.analysis.outcomes
        )


def _what_is_kept(folder: Path, names: Mapping[str, Point]) -> str:
    kept = 0
    for name in names:
        if (folder / name / DATABASE).exists():
            with closing(Store.open(folder / name)) as store:
                kept += len(store.records())
    if not kept:
        return "no run was whole; nothing is kept."
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
