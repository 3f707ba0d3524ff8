"""Preferred cores (ITMT): x86's domains look at the priorities of a machine file."""

from __future__ import annotations

import pytest

from schedlab.machine.domains import read
from tests.helpers.engine.simulator import Json, Simulator, machine, reads

MACHINE = "ryzen-5950x"
LONE: Json = {
    "duration": "1s",
    "tasks": [{"name": "lone", "program": [{"run": "2s"}]}],
}


def asks_the_package(series: str) -> bool:
    """Return whether the tree is 6.14 or younger."""
    return bool(reads(series, "kernel/sched/fair.c", r"Only fbq_classify_group\(\) uses this"))


def switch(series: str) -> str:
    if asks_the_package(series):
        return "/sys/kernel/debug/x86/sched_itmt_enabled"
    return "/proc/sys/kernel/sched_itmt_enabled"


def priorities(of: Json) -> dict[int, int]:
    """The priority of each CPU, as its entries tell it."""
    return {int(cpu): entry["priority"] for entry in of["cpu"] for cpu in entry["cpus"].split(",")}


def without_priorities() -> Json:
    return {key: value for key, value in machine(MACHINE).items() if key != "cpu"}


def busiest(result: Json) -> int:
    """The CPU on which most of the programs' time was spent."""
    spent = [cpu["user_ns"] for cpu in result["per_cpu"]]
    return spent.index(max(spent))


def packing(sim: Simulator, of: str | Json) -> set[str]:
    """The names of CPU 0's domains that look at priorities."""
    done = sim.start(of, {"duration": "1ms"}, "--print-domains")
    assert done.returncode == 0, done.stderr[-2000:]
    return {d.name for d in read(done.stdout) if d.cpu == 0 and "SD_ASYM_PACKING" in d.flags}


def test_x86s_domains_look_at_priorities(sim: Simulator, series: str) -> None:
    """6.1: SMT and MC; 6.5 and later: MC; 6.14 and later: the package's as well."""
    expected = {"SMT", "MC"} if series == "6.1" else {"MC"}
    expected |= {"PKG"} if asks_the_package(series) else set()
    assert packing(sim, MACHINE) == expected
    assert packing(sim, without_priorities()) == set()


def test_the_package_of_a_hybrid_processor(sim: Simulator, series: str) -> None:
    hybrid = machine(MACHINE)
    hybrid["topology"]["hybrid"] = True
    package = set() if series == "6.1" else {"PKG"}
    assert packing(sim, hybrid) - {"SMT"} == {"MC"} | package


@pytest.mark.parametrize("cpu", [14, 6])
def test_a_lone_task_moves_to_a_preferred_core(sim: Simulator, series: str, cpu: int) -> None:
    """As far as its domains look: up to its LLC before 6.14, where that is not hybrid."""
    scenario: Json = {
        **LONE,
        "tasks": [{**LONE["tasks"][0], "affinity": str(cpu)}],
        "actions": [{"at": "5ms", "task": "lone", "affinity": "0-31"}],
    }
    of = priorities(machine(MACHINE))
    llc = [other for other in of if (other % 16 < 8) == (cpu < 8)]
    reach = of if asks_the_package(series) else llc
    assert of[busiest(sim(MACHINE, scenario))] == max(of[other] for other in reach)
    assert busiest(sim(without_priorities(), scenario)) % 16 == cpu
    off = {**scenario, "knobs": {switch(series): "0"}}
    assert busiest(sim(MACHINE, off)) % 16 == cpu


def test_the_switch_is_there_with_priorities_only(sim: Simulator, series: str) -> None:
    done = sim.start(without_priorities(), {**LONE, "knobs": {switch(series): "0"}})
    assert done.returncode == 2
    assert switch(series) in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cpu": [{"cpus": "0-3", "priority": 5}]}, "cpu: 4 of 8 CPUs have a priority"),
        ({"cpu": [{"cpus": "0-7", "priority": 5}]}, "cpu: all CPUs have the same priority"),
        ({"cpu": [{"cpus": "0-7", "priority": 256}]}, "cpu[0].priority"),
        ({"hybrid": True}, "topology.hybrid: without priority"),
    ],
)
def test_bad_priorities(sim: Simulator, change: Json, message: str) -> None:
    of = machine("smt8")
    of["topology"] |= {key: value for key, value in change.items() if key == "hybrid"}
    of |= {key: value for key, value in change.items() if key != "hybrid"}
    done = sim.start(of, {"duration": "1ms"})
    assert done.returncode == 2
    assert message in done.stderr
