"""Runs of schedlab-load, our workloads as a native program."""

import functools
import json
import subprocess
from typing import Any

import pytest

from schedlab.base.errors import HostError
from schedlab.kernels.native import schedlab_load
from tests.helpers.patience import PATIENCE_SECONDS


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
