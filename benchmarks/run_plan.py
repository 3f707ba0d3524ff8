"""Run a plan as a user does, for benchmarks that need the figures of many."""

from __future__ import annotations

import csv
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory


def figures(plan: str, name: str) -> list[dict[str, str]]:
    """Run the plan of this text; give the lines of its CSV report whose name begins so."""
    with TemporaryDirectory() as folder:
        path, result = Path(folder) / "plan.toml", Path(folder) / "result"
        path.write_text(plan)
        _schedlab("run", path, "--output", result, "--jobs", "1")
        lines = csv.DictReader(StringIO(_schedlab("report", result, "--format", "csv")))
        return [line for line in lines if line["name"].startswith(name)]


def _schedlab(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "schedlab", *map(str, arguments)]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
