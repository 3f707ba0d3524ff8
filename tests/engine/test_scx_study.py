"""The study of sched_ext schedulers: a hash of its table, made again by the script beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.helpers import builds
from tests.helpers.builds import ROOT
from tests.helpers.engine.scx import need_schedulers

SERIES, SCHEDULER = "6.12", "simple"


def test_a_hash_of_the_studys_table_is_made_again() -> None:
    """If the engine decides otherwise than it did then, the whole table is to be made anew."""
    need_schedulers(SERIES)
    builds.made(SERIES)
    script = ROOT / "benchmarks" / "engine" / "schedulers.py"
    environment = {**os.environ, "SCHEDLAB_CACHE": str(builds.CACHE), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), f"{SERIES}+{SCHEDULER}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    cells = re.compile(rf"\| {SCHEDULER} \| (\w{{8}}) \| (\w{{8}}) \|")
    made = cells.search(said.stdout)
    table = (ROOT / "docs" / "studies" / "scx.md").read_text().partition(f"| {SERIES} |")[2]
    written = cells.search(table.partition("| 7.2 |")[0])
    assert made and written, said.stdout + said.stderr
    assert made.groups() == written.groups()
