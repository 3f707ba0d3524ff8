"""Options of a kernel's configuration that are on by default, switched off: each changes runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean

import pytest

from schedlab.kernels.configuration import choices, read_configuration
from schedlab.kernels.engine import find_engine
from schedlab.kernels.kconfig import models
from schedlab.machine.domains import read
from tests.helpers import builds
from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine, tasks
from tests.helpers.engine.switching import BATCHES
from tests.helpers.kernel_source import kernel_source

HOG: Json = {"affinity": "0", "program": [{"run": "100ms"}]}


@pytest.fixture
def full(tmp_path: Path) -> Simulator:
    """7.3 as it is built if nothing is said."""
    return Simulator(builds.build("7.3"), tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Simulator:
    """7.3 without what can be left out."""
    return Simulator(builds.bare(), tmp_path)


def test_every_option_is_built_both_ways() -> None:
    """Here, as Debian has it, or with cpusets: an option that no build has otherwise is untested."""
    engine = find_engine()
    differ = set()
    for which, series in (
        ("debian", "6.12"),
        (str(builds.bare_config()), "7.3"),
        (str(builds.cpusets_config()), "7.3"),
    ):
        tree = kernel_source(series)
        options = read_configuration(which, engine, series, tree, models(tree)).options
        differ |= {option.split("=")[0] for option in options}
    assert differ == set(choices(engine))


def test_autogroup(full: Simulator, bare: Simulator) -> None:
    """Without it three tasks of a session weigh as three beside a group, not as a group of two."""
    asked: Json = {
        "duration": "2s",
        "groups": [{"path": "/other"}],
        "tasks": [
            {"name": "session", "count": 3, **HOG},
            {"name": "other", "group": "/other", **HOG},
        ],
    }
    shares = [tasks(sim("smp4", asked), "other")[0]["runtime_ns"] / 2e9 for sim in (full, bare)]
    assert shares == [pytest.approx(1 / 3, abs=0.01), pytest.approx(1 / 4, abs=0.01)]


def test_cluster(full: Simulator, bare: Simulator) -> None:
    """Its level is there or not, also where the machine prefers cores."""

    def levels(sim: Simulator, of: str | Json) -> set[str]:
        done = sim.start(of, {"duration": "1ms"}, "--print-domains")
        assert done.returncode == 0, done.stderr[-2000:]
        return {domain.name for domain in read(done.stdout)}

    clusters = machine("smp4")
    clusters["topology"] = {**clusters["topology"], "cluster": ["0-1", "2-3"]}
    assert levels(full, clusters) - levels(bare, clusters) == {"CLS"}
    assert levels(bare, "ryzen-5950x") == levels(full, "ryzen-5950x")


def test_bandwidth(full: Simulator, bare: Simulator) -> None:
    """A group has a quota, or no file for it."""
    group = {"path": "/slow", "cpu.max": "10000 100000"}
    asked: Json = {
        "duration": "1s",
        "groups": [group],
        "tasks": [{"name": "h", "group": "/slow", **HOG}],
    }
    assert tasks(full("smp4", asked), "h")[0]["runtime_ns"] == pytest.approx(0.1e9, rel=0.2)
    assert "built without CFS_BANDWIDTH" in refused(bare, machine("smp4"), asked)


def test_numa_balancing_from_boot(full: Simulator, bare: Simulator) -> None:
    asked: Json = {
        "duration": "3s",
        "memory": [{"size": "4MiB", "node": 0}],
        "tasks": [
            {
                "name": "t",
                "mm": 0,
                "affinity": "4",
                "program": [{"touch": "0MiB", "size": "4MiB"}, {"run": "10ms"}],
            }
        ],
    }
    marked = [sim("numa16", asked)["counters"]["vmstat:numa_pte_updates"] for sim in (full, bare)]
    assert marked[0] > 0 == marked[1]


def test_clamps(full: Simulator, bare: Simulator) -> None:
    """A small task that asks for a big CPU gets one, or is refused."""
    small = {"name": "s", "uclamp_min": 1024, "program": [{"run": "1ms"}, {"sleep": "9ms"}]}
    asked: Json = {
        "duration": "500ms",
        "tasks": [small],
        "cpufreq": {"governor": "schedutil"},
    }

    def on_big(task: Json) -> float:
        spent = [cpu["user_ns"] for cpu in full("hikey960", {**asked, "tasks": [task]})["per_cpu"]]
        return float(sum(spent[4:]) / sum(spent))

    assert on_big(small) > 0.9
    assert on_big({**small, "uclamp_min": 0}) < 0.5
    assert "built without UCLAMP_TASK" in refused(bare, machine("hikey960"), asked)


def test_clamps_of_groups(bare: Simulator) -> None:
    workload: Json = {"kind": "hackbench", "groups": 1, "fds": 1, "loops": 1, "datasize": 100}
    group = {"path": "/bench", "cpu.uclamp.min": "90.00"}
    asked = {"duration": "1s", "workloads": [workload], "cgroup": group}
    assert "built without UCLAMP_TASK_GROUP" in refused(bare, machine("hikey960"), asked)


def test_cache(full: Simulator, bare: Simulator) -> None:
    """Two threads that wake three others each: on one node with it, on a node each without."""

    def busier(sim: Simulator, seed: str) -> float:
        result = sim("numa16", {**BATCHES, "duration": "400ms"}, "--seed", seed)
        spent = [cpu["user_ns"] for cpu in result["per_cpu"]]
        half = len(spent) // 2
        return float(max(sum(spent[:half]), sum(spent[half:])) / sum(spent))

    together, apart = (fmean(map(partial(busier, sim), "1234")) for sim in (full, bare))
    assert apart < 0.55
    assert together > 0.6


def test_slices_that_end_when_they_are_due(full: Simulator, bare: Simulator) -> None:
    """As in test_configuration.py, without the option in place of without the feature."""
    knobs = {"/sys/kernel/debug/sched/base_slice_ns": "1000000"}
    asked: Json = {"duration": "1s", "tasks": [{"name": "h", "count": 2, **HOG}], "knobs": knobs}
    due, at_ticks = (sim("smp4", asked)["counters"]["switches:involuntary"] for sim in (full, bare))
    assert at_ticks == pytest.approx(250, abs=3)
    assert due > 700


def test_pressure_that_is_off_from_boot(bare: Simulator) -> None:
    asked: Json = {"duration": "100ms", "tasks": [{"name": "h", "count": 2, **HOG}]}
    assert "pressure_cpu" not in bare("smp4", asked)
    assert "pressure_cpu" in bare("smp4", {**asked, "boot": {"psi": "1"}})
