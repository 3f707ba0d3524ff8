"""One run of a check: simulated, traced, and judged by what the check expects."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from schedlab.base.errors import Interrupted, SchedlabError, UsageError, nearest
from schedlab.base.validation import validate
from schedlab.benchmarks import find_benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.kernels.built import Build
from schedlab.lab.checks.check import Check
from schedlab.lab.checks.expect.expectation import TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import written
from schedlab.lab.checks.timeline import USUAL, Timeline, Watcher
from schedlab.lab.ftrace import events
from schedlab.machine.model import Machine
from schedlab.machine.simulator import description
from schedlab.settings.grammar import parse_settings
from schedlab.settings.variant import Variant
from schedlab.targets.sim import check_features
from schedlab.targets.sim_program import Call, Ended, Processes, failure, is_usage, read_result
from schedlab.targets.simulated.scenario import scenario, under

Word = Literal["passed", "failed", "refused"]
"""How a run ended. Refused: the check asks for something that cannot be."""

TRACE = "trace.txt"
_LONGEST_HOST = 120.0
"""Seconds of host time that a run may take."""


@dataclass(frozen=True)
class Asked:
    """All that a run depends on."""

    where: str
    """The check's file, for messages."""
    check: Check
    machine: Machine
    build: Build
    seed: int
    scenario: Mapping[str, Any]
    enclosures: tuple[Enclosure, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Of a benchmark: what the simulator's result calls each."""

    @property
    def given(self) -> Given:
        """Return what its expectations ask about."""
        sources = {each.name: Path(each.source) for each in self.enclosures}
        return Given(self.machine, self.scenario, self.metrics, sources, self.build)


@dataclass(frozen=True)
class Judged:
    """A run and what was found in it."""

    word: Word
    seconds: float
    problems: tuple[str, ...] = ()
    """With the expectation that each breaks; the run's own failure stands alone."""
    broken: frozenset[str] = field(default=frozenset())
    """Which expectations are broken, to tell one failure from another."""


class BadCheck(UsageError):
    """The check asks for something that cannot be; the message names the file."""


def ask(where: Path, check: Check, machine: Machine, build: Build, seed: int) -> Asked:
    """Return what a run of a check is made of.

    Raises:
        UsageError: its settings, its benchmark or a file it names cannot be.
    """
    with _naming(where):
        variant = variant_of(check)
        check_features(variant, build, "settings")
        if not check.benchmark:
            given = {"settle": "100ms", **_with_files(check.scenario, where.parent)}
            whole = under(variant, given)
            return Asked(str(where), check, machine, build, seed, whole)
        benchmark = find_benchmark(check.benchmark.name, "benchmark.name")
        model = benchmark.case(machine, check.benchmark.params, None, "benchmark.params").model()
        if model is None:
            raise UsageError(f"benchmark: {benchmark.name} cannot be simulated")
        whole = scenario(model, variant, _LONGEST_HOST)
        names = {metric.name: name for metric, name in model.figures.items()}
        return Asked(str(where), check, machine, build, seed, whole, tuple(model.enclosures), names)


def judge(asked: Asked, processes: Processes, keep: Path | None = None) -> Judged:
    """Simulate a run and judge it; `keep` is a folder that its files are left in.

    Raises:
        SchedlabError: the simulator refuses what the check asks for, or the check names tasks,
            metrics, events or fields that the run does not have.
    """
    with _naming(Path(asked.where)), TemporaryDirectory() as name:
        folder = Path(name)
        watchers = [each.watch(asked.given) for each in asked.check.expect]
        ended, call = _simulate(asked, processes, folder)
        if is_usage(ended):
            words = failure(ended)
            for place, called in ((call.scenario, "scenario"), (call.machine, asked.machine.name)):
                words = words.replace(f"{place}: ", f"{called}: ")
            words = words.replace("--trace-events: ", "expect: event: ")
            raise UsageError(f"{words} (kernel {asked.build.kernel}, Linux {asked.build.release})")
        if ended.status:
            judged = Judged("failed", ended.seconds, (failure(ended),), frozenset({"run"}))
        else:
            result = read_result(ended, call.result)
            judged = _judged(asked, watchers, folder / TRACE, result, ended.seconds)
        if keep:
            _keep(asked, folder, keep)
        return judged


def _simulate(asked: Asked, processes: Processes, folder: Path) -> tuple[Ended, Call]:
    more = {event for each in asked.check.expect for event in each.events}
    options = ("--trace", str(folder / TRACE), "--trace-events", ",".join(sorted({*USUAL, *more})))
    call = Call(
        asked.build.program,
        folder / "machine.json",
        folder / "scenario.json",
        folder / "result.json",
        asked.seed,
        options,
    )
    call.machine.write_text(json.dumps(description(asked.machine)))
    call.scenario.write_text(json.dumps(asked.scenario, indent=1))
    for enclosure in asked.enclosures:
        enclosure.put(folder)
    return processes.run(call.argv, call.errors, _LONGEST_HOST), call


def _judged(
    asked: Asked, watchers: list[Watcher], trace: Path, result: Mapping[str, Any], seconds: float
) -> Judged:
    timeline = Timeline(asked.machine.nr_cpus, watchers)
    with trace.open(encoding="utf-8", errors="replace") as lines:
        timeline.follow(events(lines))
    end = timeline.end(result)
    found: list[tuple[int, str, str]] = []
    for number, (expected, watcher) in enumerate(zip(asked.check.expect, watchers, strict=True)):
        since = getattr(expected, "since", 0)
        if since >= end:
            raise UsageError(
                f"expect[{number}]: since: the run is over after {written(end)}, so nothing from"
                f" {written(since)} on could break it."
            )
        if isinstance(watcher, TaskWatcher) and watcher.pattern and not watcher.seen:
            names = sorted(watcher.others)
            raise UsageError(
                f"expect[{number}]: no task that ran is called '{watcher.pattern}'."
                f"{nearest(watcher.pattern, names)} There were: {', '.join(names[:12]) or 'none'}."
            )
        found += [(time, expected.kind, what) for time, what in watcher.problems]
    if not found:
        return Judged("passed", seconds)
    found.sort()
    problems = tuple(f"{kind}: {what}" for _, kind, what in found)
    return Judged("failed", seconds, problems, frozenset(kind for _, kind, _ in found))


def _keep(asked: Asked, folder: Path, keep: Path) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        shutil.copy2(file, keep / file.name)
    call = f"{asked.build.program} --machine machine.json --scenario scenario.json"
    call += f" --out result.json --seed {asked.seed} --trace {TRACE}"
    (keep / "command.txt").write_text(f"{call}\n")


@contextmanager
def _naming(where: Path) -> Iterator[None]:
    """Name the check in every problem that is reported in it."""
    try:
        yield
    except (BadCheck, Interrupted):
        raise
    except SchedlabError as error:
        raise BadCheck(f"{where}: {error}") from error


def variant_of(check: Check) -> Variant:
    """Return a check's settings as a variant has them; UsageError if they cannot be."""
    fields = parse_settings(check.settings, "settings")
    if "kernel" in fields:
        raise UsageError("settings: kernels are named in `kernels`, or by --kernel")
    return validate({"name": "check", **fields}, Variant, "settings")


def _with_files(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a scenario whose workloads name their files by whole paths."""
    workloads = [
        {**each, "file": str((folder / each["file"]).resolve())} if "file" in each else each
        for each in given.get("workloads", [])
    ]
    return {**given, **({"workloads": workloads} if workloads else {})}
