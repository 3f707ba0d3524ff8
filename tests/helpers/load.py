"""Runs of schedlab-load, our workloads as a native program."""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import HostError
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.native import schedlab_load
from tests.helpers.patience import PATIENCE_SECONDS

SHELVES = ("load", "cpuidle-smt-performance", "trace-text")
"""Where our native programs lie in a cache, each version in a folder of its own."""


def share_own_programs(cache: Path) -> None:
    """Have a cache of a test's own hold the user's builds of our programs: they are made once."""
    cache.mkdir(parents=True, exist_ok=True)
    for shelf in SHELVES:
        users = cache_folder() / shelf
        users.mkdir(parents=True, exist_ok=True)
        if not (cache / shelf).exists():
            (cache / shelf).symlink_to(users)


@functools.cache
def _program() -> str:
    try:
        return str(schedlab_load())
    except HostError as error:
        return str(pytest.skip(str(error)))


def start(workload: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a workload to its end, whatever it is."""
    command = [_program(), workload, *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )


def run(workload: str, **options: Any) -> dict[str, float]:
    """Run a workload that has to succeed; its results. Options by name, with - as _."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = start(workload, *words, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["workload"] == workload
    return {result["name"]: float(result["value"]) for result in report["results"]}


def refused(workload: str, *words: str) -> str:
    """What it says when it refuses its command line."""
    done = start(workload, *words)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr
