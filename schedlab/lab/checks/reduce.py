"""Making a run that failed smaller: fewer CPUs, fewer tasks, shorter, as long as it fails."""

import copy
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from schedlab.base.errors import Interrupted, SchedlabError
from schedlab.base.validation import read_toml
from schedlab.base.words import plural
from schedlab.kernels.built import Build
from schedlab.lab.checks.check import Check
from schedlab.lab.checks.run import Asked, ask, judge, variant_of
from schedlab.lab.checks.text import nanoseconds
from schedlab.machine.model import Machine, find_machine, known_machines
from schedlab.settings.grammar import settings_written
from schedlab.settings.kinds.scx import Scx, from_anywhere
from schedlab.settings.kinds.scx_sub import ScxSub
from schedlab.targets.sim_program import Processes

LONGEST = 60.0
"""Seconds of host time that making one run smaller may take."""

_LISTS = ("actions", "tasks", "workloads", "groups")
_SHORTEST_NS = 20_000_000


def reduced(
    asked: Asked,
    where: Path,
    processes: Processes,
    passing: Sequence[Build] = (),
    longest: float = LONGEST,
) -> Asked:
    """Return the smallest run found that breaks one of the same expectations.

    What a benchmark does is its own, so of its runs only the machine becomes smaller.

    Args:
        asked: the run that failed.
        where: the check's file.
        processes: run the simulator.
        passing: kernels on which the run passes; the smaller one has to pass there as well, or it
            may fail for another reason.
        longest: seconds after which the smallest run so far is taken.
    """
    end = time.monotonic() + longest
    broken = judge(asked, processes).broken
    progress = True
    while progress:
        progress = False
        for scenario, machine in _smaller(asked):
            if time.monotonic() > end:
                return asked
            try:
                smaller = _of(asked, where, scenario, machine, asked.build)
                same = judge(smaller, processes).broken & broken
                slipped = same and any(
                    judge(_of(asked, where, scenario, machine, build), processes).broken
                    for build in passing
                )
            except Interrupted:
                raise
            except SchedlabError:
                continue  # what is asked does not fit any more
            if same and not slipped:
                asked, progress = smaller, True
                break
    return asked


def described(asked: Asked) -> str:
    """Return what a run is made of, in words."""
    tasks = sum(int(each.get("count", 1)) for each in asked.check.scenario.get("tasks", []))
    duration = asked.check.scenario.get("duration", "")
    parts = [plural(tasks, "task")] if tasks else []
    parts += [f"{asked.machine.nr_cpus} CPUs ({asked.machine.name})"]
    return ", ".join([*parts, *([duration] if duration else [])])


def write_check(asked: Asked, where: Path, folder: Path) -> None:
    """Write `check.toml` of one run, and beside it the files that it names, to run it again.

    Args:
        asked: the run, which may be smaller than what the check's file asks for.
        where: the check's file.
        folder: where to; it is there.
    """
    content = read_toml(where)
    content.pop("bug", None)
    content |= {"machines": [_named(asked.machine, folder)], "seeds": asked.seed}
    if asked.check.settings:
        content["settings"] = _from_anywhere(asked.check)
    if asked.check.scenario:
        scenario = copy.deepcopy(dict(asked.check.scenario))
        for number, each in enumerate(scenario.get("workloads", [])):
            if "file" in each:
                file = where.parent / each["file"]
                each["file"] = f"{number}-{file.name}"
                shutil.copyfile(file, folder / each["file"])
        content["scenario"] = scenario
    (folder / "check.toml").write_text(tomli_w.dumps(content))


def _from_anywhere(check: Check) -> str:
    """Return a check's settings with the whole paths of schedulers' sources.

    These stay where they are: beside them lie their headers, and a library's.
    """
    variant = variant_of(check)
    root = Scx.of(variant)
    subs = {group: from_anywhere(each) for group, each in ScxSub.of(variant).items()}
    changed = {Scx.key: from_anywhere(root) if root else root, ScxSub.key: subs}
    whole = variant.model_copy(update=changed)
    return check.settings if whole == variant else "; ".join(settings_written(whole))


def _named(machine: Machine, folder: Path) -> str:
    """Return the name of a machine that comes with schedlab, or of its file beside the check."""
    if machine.name in known_machines() and find_machine(machine.name) == machine:
        return machine.name
    (folder / "machine.toml").write_text(machine.to_toml())
    return "machine.toml"


def _smaller(asked: Asked) -> Iterator[tuple[Mapping[str, Any], Machine]]:
    """Yield scenarios and machines of which one is smaller by one thing, the biggest first."""
    for machine in _machines(asked.machine):
        yield asked.check.scenario, machine
    for scenario in _scenarios(asked.check.scenario):
        yield scenario, asked.machine


def _of(
    asked: Asked, where: Path, scenario: Mapping[str, Any], machine: Machine, build: Build
) -> Asked:
    check = asked.check.model_copy(update={"scenario": dict(scenario)})
    return replace(ask(where, check, machine, build, asked.seed), where=asked.where)


def _machines(machine: Machine) -> Iterator[Machine]:
    """Yield the machines of schedlab's with at most half as many CPUs, the smallest first."""
    found = [find_machine(name) for name in known_machines()]
    fitting = [other for other in found if 2 * other.nr_cpus <= machine.nr_cpus and other.costs()]
    yield from sorted(fitting, key=lambda other: other.nr_cpus)


def _scenarios(scenario: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "duration" in scenario and "end" not in scenario:
        half = _ns(scenario["duration"]) // 2
        if half >= _SHORTEST_NS:
            yield {**scenario, "duration": f"{half // 1000}us"}
    for key in _LISTS:
        for number in range(len(scenario.get(key, []))):
            less = dict(copy.deepcopy(scenario))
            del less[key][number]
            yield less
    for number, task in enumerate(scenario.get("tasks", [])):
        count = task.get("count", 1)
        for fewer in sorted({count // 2, count - 1} - {0}):
            less = dict(copy.deepcopy(scenario))
            less["tasks"][number]["count"] = fewer
            yield less


def _ns(text: str) -> int:
    found = nanoseconds(text)
    assert isinstance(found, int)
    return found
