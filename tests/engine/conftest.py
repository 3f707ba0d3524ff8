"""Builds schedsim for the tests and runs scenarios on it."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import described
import pytest

from schedlab.kernels.cache import only_one
from schedlab.kernels.preemption import models
from tests.helpers import builds
from tests.helpers.kernel_source import kernel_source
from tests.helpers.patience import PATIENCE_SECONDS

machine = described.machine
ROOT = Path(__file__).resolve().parents[2]
SERIES = ("6.12", "7.3")
OTHERS = ("6.1", "7.2")
OTHERS_IN = {"test_basic", "test_cache_groups", "test_decisions", "test_determinism", "test_theory"}
"""Where the other two are tested as well: what is built, boots, and decides as it should.

SCHEDLAB_TEST_SERIES=all has them in every module; SCHEDLAB_TEST_SERIES=6.6,6.18 runs what is asked of
a series for these alone, whatever they are.
"""
ASKED = tuple(name for name in os.environ.get("SCHEDLAB_TEST_SERIES", "").split(",") if name)

Json = dict[str, Any]


def build_folder(name: str) -> Path:
    """Where a build of no lab's lies."""
    return builds.CACHE / "engine" / name.replace("/", "_").replace(" ", "_")


@functools.cache
def build(series: str, **variables: str) -> Path:
    """schedsim of a series, plain or of other make variables than a lab gives. Made once a run."""
    if not variables:
        return builds.build(series)
    tree = kernel_source(series)
    out = build_folder("-".join([series, *(f"{k}_{v}" for k, v in sorted(variables.items()))]))
    command = ["make", "-j2", "-C", str(ROOT / "engine"), f"O={out}", f"KERNEL={tree}"]
    command += [f"{k}={v}" for k, v in variables.items()]
    if "SANITIZE" in variables:  # not the kernel's own objects
        builds.build(series)
        command.append(f"BASE={builds.objects(series)}")
    with only_one(out.parent / f"{out.name}.lock", lambda _: None):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return out / "schedsim"


class Simulator:
    """One build of schedsim."""

    def __init__(self, binary: Path, scratch: Path) -> None:
        self.binary = binary
        self.scratch = scratch
        self.runs = 0

    def machine(self, machine: str | Json) -> Path:
        """The machine's JSON form: a name under machines/, or the description itself."""
        if isinstance(machine, str):
            machine = described.machine(machine)
        path = self.scratch / f"machine{self.runs}.json"
        path.write_text(json.dumps(machine))
        return path

    def start(
        self, machine: str | Json, scenario: Json, *options: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end, whatever it is; the result is in self.result."""
        self.runs += 1
        path = self.scratch / f"scenario{self.runs}.json"
        path.write_text(json.dumps(scenario))
        self.result = self.scratch / f"result{self.runs}.json"
        command = [str(self.binary), "--machine", str(self.machine(machine))]
        command += ["--scenario", str(path), "--out", str(self.result), *options]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
        )

    def __call__(self, machine: str | Json, scenario: Json, *options: str) -> Json:
        """Run a scenario that has to succeed; gives back its result."""
        done = self.start(machine, scenario, *options)
        assert done.returncode == 0, done.stderr[-4000:]
        return self.read()

    def read(self) -> Json:
        """The result of the last run."""
        result: Json = json.loads(self.result.read_text())
        return result


@pytest.fixture(scope="session", params=dict.fromkeys([*SERIES, *OTHERS, *ASKED]))
def series(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the other series where they are not tested: a build and runs of each are dear.

    A test that names its series itself has it.
    """
    if ASKED == ("all",):
        return

    def wanted(item: pytest.Item) -> bool:
        asked = getattr(item, "callspec", None)
        series = asked.params.get("series") if asked is not None else None
        if ASKED:
            return series in ASKED
        named = any(mark.args[0] == "series" for mark in item.iter_markers("parametrize"))
        return named or series not in OTHERS or item.path.stem in OTHERS_IN

    kept = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = kept


def reads(series: str, file: str, pattern: str) -> str:
    """What a file of the series' tree says: the first match, its group if there is one, or nothing."""
    found = re.search(pattern, (kernel_source(series) / file).read_text(), re.MULTILINE)
    return (found[1] if found.re.groups else found[0]) if found else ""


def is_eevdf(series: str) -> bool:
    return bool(reads(series, "kernel/sched/features.h", r"^SCHED_FEAT\(PLACE_LAG,"))


def is_lazy(series: str) -> bool:
    """Whether the tree preempts lazily by default, so that a wakeup does not preempt at once."""
    return models(kernel_source(series))[0] == "lazy"


def scales_groups(series: str) -> bool:
    """Whether a group's share grows with its runnable tasks: cgroup_mode's default."""
    return bool(
        reads(series, "kernel/sched/fair.c", r"DEFINE_STATIC_CALL\(calc_group_shares, calc_concur_")
    )


def has_cache_groups(series: str) -> bool:
    """Whether the tree has cache-aware scheduling."""
    return bool(reads(series, "include/linux/mm_types.h", "mm_alloc_sched"))


def package_domain(series: str) -> str:
    """The name of the domain of a package."""
    return reads(series, "kernel/sched/topology.c", r"\b(PKG|DIE)\)")


@pytest.fixture
def sim(series: str, tmp_path: Path) -> Simulator:
    return Simulator(build(series), tmp_path)


@pytest.fixture
def variant(tmp_path: Path) -> Callable[..., Simulator]:
    """Simulators of other builds: variant("6.12", OPT="-O3")."""
    return lambda series, **variables: Simulator(build(series, **variables), tmp_path)


def tasks(result: Json, prefix: str) -> list[Json]:
    return [t for t in result["tasks"] if t["name"].startswith(prefix)]
