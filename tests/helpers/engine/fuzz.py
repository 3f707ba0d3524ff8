"""Runs random cases twice each, counts how they end, and reduces what fails to a folder of files.

    python -m tests.helpers.engine.fuzz --seed 1 --count 1000 [--sanitize]
    python -m tests.helpers.engine.fuzz --seed 1 --count 1000 --schedsim PATH --series 6.12

Without --schedsim each case is of one of eight builds, made beforehand: both series with every HZ,
half of them with full preemption; with --sanitize of two with AddressSanitizer and UBSan.

Exit status: 0 nothing found, 1 findings were written.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.engine import described, simulator
from tests.helpers.engine.scenarios import Json
from tests.helpers.engine.wide import MACHINES, Case, case

HOST_SECONDS = 120
BUILDS = [
    {"series": series, "HZ": hz, "PREEMPT": preempt}
    for series, order in (("6.1", 0), ("6.12", 1))
    for number, hz in enumerate(("100", "250", "300", "1000"))
    for preempt in ("voluntary", "full")
    if (number + order) % 2 == (preempt == "full")
]
SANITIZED = [
    {"series": "6.1", "PREEMPT": "full", "SANITIZE": "1"},
    {"series": "6.12", "SANITIZE": "1"},
]
USUAL = {"HZ": "250", "PREEMPT": "voluntary"}


class Broken(Exception):
    """The run or its repetition is not as it has to be; the text is the first line of why."""


@functools.cache
def shape(machine: str) -> Json:
    """Return the machine's description."""
    return described.machine(machine)


def write(case: Case, folder: Path) -> None:
    """Write the case's files."""
    machine = dict(shape(case.machine))
    for table, values in case.changes.items():
        machine[table] = machine[table] | values
    files = {"machine.json": json.dumps(machine), "scenario.json": json.dumps(case.scenario)}
    for name, text in (files | case.files).items():
        (folder / name).write_text(text)


def fixed_addresses() -> list[str]:
    """Return the command that takes the randomness from addresses, where the host lets one."""
    tried = ["setarch", "-R"]
    if shutil.which("setarch") and not subprocess.call([*tried, "true"], stderr=subprocess.DEVNULL):
        return tried
    return []


class Runner:
    """A place to run cases in, each twice at the same time."""

    def __init__(self, scratch: Path) -> None:
        self.folders = [scratch / "first", scratch / "again"]
        for folder in self.folders:
            folder.mkdir()
        self.fixed_addresses = fixed_addresses()

    def start(self, binary: Path, case: Case, again: bool) -> subprocess.Popen[str]:
        """Start a run; the second has other addresses and surroundings, and sometimes a trace."""
        folder = self.folders[again]
        write(case, folder)
        options = ["--machine", "machine.json", "--scenario", "scenario.json"]
        options += ["--out", "result.json", "--seed", str(case.seed)]
        environment = dict(os.environ)
        if not again:
            environment["LONGER"] = "x" * (case.seed % 4096)
        elif case.seed % 8 == 0:
            kind = "perfetto" if case.seed % 16 else "ftrace"
            options += ["--trace", "trace", "--trace-format", kind]
        command = [*(self.fixed_addresses if again else []), str(binary), *options]
        return subprocess.Popen(
            command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
        )

    def outcome(self, process: subprocess.Popen[str], again: bool) -> tuple[str, Json | str]:
        """Return how a run ended, and its result or why it was refused."""
        try:
            _, errors = process.communicate(timeout=HOST_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"no end within {HOST_SECONDS} s of host time") from error
        lines = [x for x in errors.splitlines() if x.startswith("schedsim:") or "ERROR" in x]
        if process.returncode == 2:
            return "refused", lines[0] if lines else "no reason"
        result = self.folders[again] / "result.json"
        if process.returncode not in (0, 4) or not result.exists():
            raise Broken(lines[0] if lines else f"exit status {process.returncode}")
        outcome: Json = json.loads(result.read_text())
        result.unlink()
        outcome["engine"] = outcome["engine"]["events"]  # the rest is the host's
        return outcome["status"], outcome

    def run(self, binary: Path, case: Case) -> tuple[str, str]:
        """Return how the case ends, and the reason of a refusal.

        Raises:
            Broken: it crashes, warns, breaks an invariant, or differs when it is run again.
        """
        both = [self.start(binary, case, again) for again in (False, True)]
        try:
            (status, first), (status_again, second) = (
                self.outcome(process, again) for again, process in enumerate(both)
            )
        finally:
            for process in both:
                process.kill()
                process.communicate()
        if status != status_again:
            raise Broken(f"{status}, and again: {status_again}")
        if first != second:
            if isinstance(first, str) or isinstance(second, str):
                raise Broken(f"refused otherwise: {first} / {second}")
            differ = [key for key in first if first[key] != second.get(key)]
            raise Broken(f"another result when run again: {', '.join(differ)}")
        return status, first if isinstance(first, str) else ""


# ---------------------------------------------------------------- reducing


def smaller(scenario: Json) -> Iterator[Json]:
    """The scenario with one thing less, the biggest pieces first."""
    lists = ("tasks", "actions", "workloads", "groups", "memory", "ablate")
    for key in (*lists, "features", "knobs", "background", "end"):
        if scenario.get(key):
            yield {k: v for k, v in scenario.items() if k != key}
    for key in lists:
        for i in range(len(scenario.get(key, []))):
            less = copy.deepcopy(scenario)
            del less[key][i]
            yield less
    for key in ("features", "knobs"):
        for name in scenario.get(key, {}):
            less = copy.deepcopy(scenario)
            del less[key][name]
            yield less
    for i, task in enumerate(scenario.get("tasks", [])):
        for name in set(task) - {"name", "program", "count"}:
            less = copy.deepcopy(scenario)
            del less["tasks"][i][name]
            yield less
        for phase in range(len(task["program"])):
            less = copy.deepcopy(scenario)
            del less["tasks"][i]["program"][phase]
            yield less
        if task.get("count", 1) > 1:
            less = copy.deepcopy(scenario)
            less["tasks"][i]["count"] = task["count"] // 2
            yield less


def kind(message: str) -> str:
    """Two failures are one finding when they differ in numbers only."""
    return "".join(c for c in message if not c.isdigit())


def reduce(runner: Runner, binary: Path, case: Case, message: str) -> Case:
    progress = True
    while progress:
        progress = False
        for less in smaller(case.scenario):
            tried = dataclasses.replace(case, scenario=less)
            try:
                runner.run(binary, tried)
            except Broken as error:
                if kind(str(error)) == kind(message):
                    case, progress = tried, True
                    break
    return case


# ---------------------------------------------------------------- all of it


def binary_of(build: Json) -> Path:
    """Return schedsim of a build, made if need be. What a build usually is, is not named."""
    variables = {k: v for k, v in build.items() if k != "series" and v != USUAL.get(k)}
    return simulator.build(build["series"], **variables)


def label(build: Json) -> str:
    if "schedsim" in build:
        return str(build["schedsim"])
    named = USUAL | build
    sanitized = ", ASan, UBSan" if "SANITIZE" in build else ""
    return f"{named['series']}, HZ={named['HZ']}, {named['PREEMPT']}{sanitized}"


class Table:
    """How many cases of each build, machine and workload ended in which way."""

    COLUMNS = ("done", "simulated_bound", "refused", "failed")

    def __init__(self) -> None:
        self.rows: dict[str, collections.Counter[str]] = {}
        self.refusals: collections.Counter[str] = collections.Counter()

    def count(self, case: Case, build: str, status: str) -> None:
        kinds = {w["kind"] for w in case.scenario["workloads"]}
        for row in [build, case.machine, *kinds, "all"]:
            self.rows.setdefault(row, collections.Counter())[status] += 1

    def print(self) -> None:
        print(f"{'':42}{'cases':>8}{'done':>8}{'bound':>8}{'refused':>9}{'failed':>8}")
        for row, ends in sorted(self.rows.items()):
            counts = [ends[c] for c in self.COLUMNS]
            print(f"{row:42}{sum(counts):8}{counts[0]:8}{counts[1]:8}{counts[2]:9}{counts[3]:8}")
        for reason, times in self.refusals.most_common(12):
            print(f"  refused {times} times: {reason}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--schedsim", type=Path, help="this one only")
    parser.add_argument("--series", default="6.12", help="of --schedsim")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    return parser.parse_args()


def main() -> int:
    options = parse()
    builds: list[Json] = SANITIZED if options.sanitize else BUILDS
    if options.schedsim:
        builds = [{"series": options.series, "schedsim": options.schedsim}]
        binaries = [options.schedsim.resolve()]
    else:
        binaries = [binary_of(build) for build in builds]
    shapes = {name: shape(name) for name in MACHINES}
    table, found = Table(), set()
    began, seed, end = time.monotonic(), options.seed, options.seed + options.count
    with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(KeyboardInterrupt):
        runner = Runner(Path(scratch))
        while seed < end:
            build, binary = builds[seed % len(builds)], binaries[seed % len(builds)]
            tried = case(seed, build["series"], shapes)
            status = "failed"
            try:
                status, reason = runner.run(binary, tried)
                if reason:
                    table.refusals[kind(reason)] += 1
            except Broken as error:
                message = str(error)
                print(f"seed {seed} on {tried.machine}, {label(build)}: {message}", flush=True)
                if kind(message) not in found:
                    found.add(kind(message))
                    folder = options.findings / str(seed)
                    folder.mkdir(parents=True, exist_ok=True)
                    write(reduce(runner, binary, tried, message), folder)
                    print(f"  reduced to {folder}", flush=True)
            table.count(tried, label(build), status)
            seed += 1
    table.print()
    took = time.monotonic() - began
    print(f"seeds {options.seed} to {seed - 1} in {took:.0f} s, {len(found)} kinds of failure")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
