"""Runs random scenarios for a given time and reduces what fails to a scenario file.

    python tests/engine/fuzz.py SCHEDSIM SECONDS [OUTPUT_DIRECTORY [FIRST_SEED]]

Exit status: 0 nothing found, 1 findings were written.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from described import machine as described
from scenarios import Json, scenario


class Runner:
    """One schedsim, one scratch directory."""

    def __init__(self, binary: str, scratch: Path) -> None:
        self.binary = binary
        self.scratch = scratch

    def failure(self, machine: str, case: Json) -> str | None:
        """The first line of what went wrong, or None."""
        (self.scratch / "machine.json").write_text(json.dumps(described(machine)))
        (self.scratch / "scenario.json").write_text(json.dumps(case))
        command = [
            self.binary,
            "--machine",
            "machine.json",
            "--scenario",
            "scenario.json",
            "--out",
            "out.json",
        ]
        try:
            done = subprocess.run(
                command, cwd=self.scratch, capture_output=True, text=True, check=False, timeout=120
            )
        except subprocess.TimeoutExpired:
            return "no end within 120 s of host time"
        if done.returncode in (0, 2):  # 2: the kernel refused a setting, as it may
            return None
        lines = [
            line
            for line in done.stderr.splitlines()
            if line.startswith("schedsim:") or "ERROR" in line
        ]
        return lines[0] if lines else f"exit status {done.returncode}"


def smaller(case: Json) -> Iterator[Json]:
    """The scenario with one thing less, the biggest pieces first."""
    for key in ("actions", "workloads", "tasks", "groups", "features", "ablate", "background"):
        if case.get(key) and key != "tasks":
            yield {k: v for k, v in case.items() if k != key}
    for key in ("tasks", "actions", "workloads", "groups"):
        for i in range(len(case.get(key, []))):
            less = copy.deepcopy(case)
            del less[key][i]
            yield less
    for i, task in enumerate(case["tasks"]):
        for field in set(task) - {"name", "program", "count"}:
            less = copy.deepcopy(case)
            del less["tasks"][i][field]
            yield less
        for phase in range(len(task["program"])):
            less = copy.deepcopy(case)
            del less["tasks"][i]["program"][phase]
            yield less
        if task.get("count", 1) > 1:
            less = copy.deepcopy(case)
            less["tasks"][i]["count"] = task["count"] // 2
            yield less


def kind(message: str) -> str:
    """Two failures are one finding when they differ in numbers only."""
    return "".join(c for c in message if not c.isdigit())


def reduce(runner: Runner, machine: str, case: Json, message: str) -> Json:
    progress = True
    while progress:
        progress = False
        for less in smaller(case):
            found = runner.failure(machine, less)
            if found and kind(found) == kind(message):
                case, progress = less, True
                break
    return case


def main() -> int:
    binary, seconds = sys.argv[1], float(sys.argv[2])
    output = Path(sys.argv[3] if len(sys.argv) > 3 else "fuzz-findings")
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    end = time.monotonic() + seconds
    runs, found = 0, set()
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(binary, Path(scratch))
        while time.monotonic() < end:
            machine, case = scenario(seed)
            message = runner.failure(machine, case)
            runs += 1
            if message and kind(message) not in found:
                found.add(kind(message))
                print(f"seed {seed} on {machine}: {message}", flush=True)
                output.mkdir(parents=True, exist_ok=True)
                small = reduce(runner, machine, case, message)
                path = output / f"{seed}-{machine}.json"
                path.write_text(json.dumps(small, indent=1) + "\n")
                print(f"  reduced to {path}", flush=True)
            seed += 1
    print(f"{runs} scenarios, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
