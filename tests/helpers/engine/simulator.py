"""Builds of schedsim for the tests, and scenarios run on them."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from schedlab.base.series import TESTED
from schedlab.kernels.cache import only_one
from schedlab.kernels.kconfig import models
from tests.helpers import builds
from tests.helpers.engine import described
from tests.helpers.kernel_source import kernel_source
from tests.helpers.patience import PATIENCE_SECONDS

machine = described.machine
ROOT = Path(__file__).resolve().parents[3]
SERIES = tuple(name for name, tested in TESTED.items() if tested.whole)
OTHERS = tuple(name for name, tested in TESTED.items() if not tested.whole)
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
        path = self.scratch / f"machine{self.runs}.json"
        path.write_text(
            described.text(machine) if isinstance(machine, str) else json.dumps(machine)
        )
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


def reads(series: str, file: str, pattern: str) -> str:
    """What a file of the series' tree says: the first match or its group, or nothing."""
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


def balances_when_kicked(series: str) -> bool:
    """Whether an idle CPU that polls balances for the others when it is kicked.

    Until 6.13, and in stable series until they took it over, the kick makes it reschedule, and
    wakes ksoftirqd: it is not idle when it looks.
    """
    return bool(reads(series, "kernel/sched/core.c", r"__raise_softirq_irqoff\(SCHED_SOFTIRQ\)"))


def package_domain(series: str) -> str:
    """The name of the domain of a package."""
    return reads(series, "kernel/sched/topology.c", r"\b(PKG|DIE)\)")


def tasks(result: Json, prefix: str) -> list[Json]:
    return [t for t in result["tasks"] if t["name"].startswith(prefix)]
