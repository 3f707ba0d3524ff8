"""Runs schedlab and reads what its runs recorded, for the studies beside this file."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import defaultdict
from io import StringIO
from pathlib import Path


def run_plan(plan: Path, output: Path, *options: str) -> None:
    """Run a plan into a new folder."""
    schedlab("run", plan, *options, "--output", output, "--jobs", "1")


def numbered(output: Path, name: str) -> dict[str, list[list[float]]]:
    """Return the values name_1, name_2, ... of each run of a folder, by variant."""
    by_run: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for line in csv.DictReader(StringIO(schedlab("report", output, "--format", "csv"))):
        kind, _, number = line["name"].rpartition("_")
        if kind == name:
            by_run[line["variant"], line["block"]][int(number)] = float(line["value"])
    found = defaultdict(list)
    for (variant, _), values in by_run.items():
        found[variant].append([values[number] for number in sorted(values)])
    return found


def schedlab(*arguments: str | Path) -> str:
    """Run a command of schedlab; give what it printed."""
    command = [sys.executable, "-m", "schedlab", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
