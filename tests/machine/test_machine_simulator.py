"""Machines as the simulator reads them."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedlab.base.errors import UsageError
from schedlab.base.system import LocalSystem
from schedlab.cli.machine import machine as command
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.simulator import description
from tests.helpers import sysfs_tree

MINIMAL = """
name = "smp4"
title = "Four equal CPUs under one cache"
[topology]
cpus = 4
core = { threads = 2, stride = 2 }
llc = ["0-3"]
package = ["0-3"]
node = ["0,2", "1,3"]
distance = [[10, 20], [20, 10]]
reclaim_distance = 32
[[cpu]]
cpus = "0-1"
capacity = 512
speed = 0.7
opp = [{ mhz = 1000, power_mw = 250 }]
transition = "500us"
[smt]
speed = [1, 0.59]
polling = 0.5
[idle]
governor = "teo"
state = [{ name = "C1", latency = "1us", residency = "2us", exit = "1.5us", mwait = true }]
[cache]
l2 = "512KiB"
llc = "32MiB"
[memory]
node_bandwidth = "33GB/s"
thread_bandwidth = "11GB/s"
cache_bandwidth = "20GB/s"
[cost]
syscall = "100ns"
wake_lines = 4
"""


def test_a_file_for_the_simulator_goes_through_as_it_is() -> None:
    table = tomllib.loads(MINIMAL)
    table["background"] = {"daemons": 3, "wakeups": 9, "per_cpu": 0.5, "run": "20us"}
    passed = description(Machine.model_validate(table))
    table["topology"]["core"] = ["0,2", "1,3"]
    assert passed == table
    assert json.loads(json.dumps(passed)) == passed


ZONE = """
[thermal]
ambient = 25
base_mw = 0
resistance = 9.7
heat_capacity = 0.6
trip = 75
hysteresis = 1
polling = "1s"
passive_polling = "100ms"
"""


def test_a_thermal_zone_is_passed_on() -> None:
    table = tomllib.loads(MINIMAL.replace("transition =", 'governor = "performance"\ntransition ='))
    zone = tomllib.loads(ZONE)
    passed = description(Machine.model_validate(table | zone))
    assert passed["cpu"][0]["opp"] == [{"mhz": 1000, "power_mw": 250}]
    assert passed["cpu"][0]["governor"] == "performance"
    assert passed["thermal"] == zone["thermal"]


def test_a_thermal_zone_needs_powers() -> None:
    table = tomllib.loads(MINIMAL.replace(", power_mw = 250", "") + ZONE)
    with pytest.raises(ValueError, match="thermal: needs the power_mw of every operating point"):
        Machine.model_validate(table)


def simulated(name: str, folder: Path) -> dict[str, Any]:
    return description(describe(LocalSystem(sysfs_tree.MACHINES[name](folder))).machine)


def test_kunpeng(tmp_path: Path) -> None:
    passed = simulated("kunpeng-920", tmp_path)
    assert passed.keys() == {"name", "title", "arch", "topology", "cpu", "cache"}
    assert passed["topology"]["cpus"] == 128
    assert passed["topology"]["core"][:2] == ["0", "1"]
    assert passed["topology"]["cluster"][0] == "0-3"
    assert passed["cpu"] == [{"cpus": "0-127", "capacity": 1024}]
    assert passed["cache"] == {"l1": "64KiB", "l2": "512KiB", "llc": "32MiB"}


def test_frequency_domains_become_entries(tmp_path: Path) -> None:
    passed = simulated("epyc-nps4", tmp_path)
    assert [entry["cpus"] for entry in passed["cpu"]] == [str(cpu) for cpu in range(256)]
    assert passed["cpu"][0]["opp"] == [{"mhz": 1500}, {"mhz": 1700}, {"mhz": 2000}]
    assert passed["idle"]["state"][1] == {
        "name": "C1",
        "latency": "1us",
        "residency": "2us",
        "mwait": True,
    }
    assert passed["topology"]["core"][0] == "0,128"


def told_cpu(**more: object) -> list[dict[str, Any]]:
    entry = {"cpus": "0-1", "opp": [{"mhz": 500}, {"mhz": 900}], **more}
    table = {"name": "x", "topology": {"cpus": 2}, "cpu": [entry]}
    found: list[dict[str, Any]] = description(Machine.model_validate(table))["cpu"]
    return found


def test_operating_points_are_there_under_any_governor() -> None:
    """A variant may choose another one."""
    [entry] = told_cpu(governor="performance", capacity=512)
    assert entry["governor"] == "performance"
    assert entry["opp"] == [{"mhz": 500}, {"mhz": 900}]


def test_an_untold_transition_is_as_the_kernel_assumes() -> None:
    [entry] = told_cpu(governor="schedutil")
    assert (entry["transition"], len(entry["opp"])) == ("1ms", 2)


def test_the_level_below_the_last_is_what_cores_have_apart() -> None:
    def passed(**cache: object) -> dict[str, str]:
        table = {"name": "x", "topology": {"cpus": 2}, "cache": cache}
        found: dict[str, str] = description(Machine.model_validate(table))["cache"]
        return found

    assert passed(l1d="32KiB", l2="2MiB") == {"l2": "32KiB", "llc": "2MiB"}
    assert passed(l1d="32KiB", l2="1MiB", l3="8MiB") == {
        "l1": "32KiB",
        "l2": "1MiB",
        "llc": "8MiB",
    }
    differing = [{"size": "48KiB", "cpus": "0"}, {"size": "32KiB", "cpus": "1"}]
    assert passed(l1d=differing, l2="1MiB", l3="8MiB") == {"l2": "1MiB", "llc": "8MiB"}
    assert passed(l1d="32KiB", llc="8MiB") == {"l2": "32KiB", "llc": "8MiB"}


def test_what_is_untold_is_as_the_kernel_assumes() -> None:
    passed = description(Machine.model_validate({"name": "x", "topology": {"cpus": 2}}))
    assert passed["topology"] == {
        "cpus": 2,
        "core": ["0", "1"],
        "llc": ["0-1"],
        "package": ["0-1"],
        "node": ["0-1"],
    }


def test_domains_of_cores() -> None:
    table = {
        "name": "x",
        "topology": {"cpus": 4, "core": {"threads": 2, "stride": 2}},
        "cpu": [{"cpus": "0-3", "shared_by": "core", "opp": [{"mhz": 1}]}],
    }
    passed = description(Machine.model_validate(table))
    assert [entry["cpus"] for entry in passed["cpu"]] == ["0,2", "1,3"]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"cpus": "0,2"}, "cpus: the simulator numbers CPUs from 0 without holes; 0,2 has some"),
        (
            {"cpus": "0", "topology": {"node": ["0", ""], "distance": [[10, 20], [20, 10]]}},
            "topology.node: the simulator has no nodes without CPUs",
        ),
        (
            {"cpus": "0-1", "cache": {"l2": [{"size": "1MiB"}, {"size": "2MiB"}]}},
            "cache.llc: 1MiB and 2MiB; the simulator has one size",
        ),
        (
            {
                "cpus": "0-1",
                "idle": {
                    "state": [{"name": "C1", "cpus": "1", "latency": "1us", "residency": "1us"}]
                },
            },
            "idle.state[0].cpus: in the simulator all CPUs have the same idle states",
        ),
    ],
)
def test_what_the_simulator_has_no_words_for(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        description(Machine.model_validate({"name": "x", **table}))
    assert str(refused.value).startswith(f"x: {problem}")


def test_the_command_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(MINIMAL)
    result = CliRunner().invoke(command, ["show", str(path), "--json"])
    assert json.loads(result.output)["topology"]["cpus"] == 4
    assert CliRunner().invoke(command, ["show", str(path)]).output.splitlines()[1].startswith("4 C")


def test_an_architecture_of_another_spelling_is_refused() -> None:
    """The kernel's defaults go by it: a file that says amd64 would silently have another's."""
    machine = find_machine("smp4").model_copy(update={"arch": "amd64"})
    with pytest.raises(UsageError, match="'amd64' is not an architecture as `uname -m` prints it"):
        description(machine)
