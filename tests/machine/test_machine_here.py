"""Machines described from recorded and generated sysfs trees."""

from pathlib import Path

import pytest

from schedlab.base.errors import HostError
from schedlab.base.system import LocalSystem
from schedlab.machine.here import SOURCES, Description, describe
from schedlab.machine.model import Machine, load_machine
from tests.helpers import sysfs_tree
from tests.helpers.sysfs_tree import (
    CPU,
    NODE,
    CacheSpec,
    NodeSpec,
    StateSpec,
    Tree,
    plain,
    split,
    write,
)

RECORDED = Path(__file__).parents[1] / "data" / "sysfs" / "vm-epyc-2"


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Description]:
    folder = tmp_path_factory.mktemp("machines")
    return {
        name: describe(LocalSystem(make(folder / name)))
        for name, make in sysfs_tree.MACHINES.items()
    }


def machine_of(root: Path, **changes: object) -> Machine:
    return describe(LocalSystem(write(root, plain(**changes)))).machine


def test_the_recorded_virtual_machine() -> None:
    machine = describe(LocalSystem(RECORDED)).machine
    assert machine.name == "amd-epyc-2-cpus"
    assert machine.arch == "x86_64"
    assert machine.topology.llc == machine.topology.node == ("0-1",)
    assert machine.topology.cluster == (), "clusters of single CPUs say nothing"
    assert {name: [(c.size, c.shared_by) for c in kinds] for name, kinds in machine.cache} == {
        "l1d": [("48KiB", "cpu")],
        "l1i": [("32KiB", "cpu")],
        "l1": [],
        "l2": [("1MiB", "cpu")],
        "l3": [("32MiB", "llc")],
        "l4": [],
        "llc": [],
    }
    assert machine.idle.state == ()
    assert [(cpu.cpus, cpu.capacity, cpu.max_mhz) for cpu in machine.cpu] == [("0-1", 1024, None)]


@pytest.mark.parametrize("name", sysfs_tree.MACHINES)
def test_the_file_reads_back_and_every_figure_has_its_source(
    generated: dict[str, Description], name: str, tmp_path: Path
) -> None:
    text = generated[name].to_toml()
    path = tmp_path / "machine.toml"
    path.write_text(text)
    assert load_machine(path) == generated[name].machine
    figures = generated[name].machine.model_dump(exclude_defaults=True)
    topology, idle = figures.pop("topology"), figures.pop("idle", {})
    paths = {f"topology.{key}" for key in topology} | {f"idle.{key}" for key in idle}
    for path in (paths | figures.keys()) - {"name", "title"}:
        for line in SOURCES[path].splitlines():
            assert line in text
    assert max(len(line) for line in text.splitlines()) <= 110


def test_kunpeng(generated: dict[str, Description]) -> None:
    machine = generated["kunpeng-920"].machine
    assert machine.processor == "Kunpeng-920"
    assert machine.sizes() == {
        "cpus": 128,
        "little_cpus": 0,
        "cores": 128,
        "llcs": 4,
        "packages": 2,
        "nodes": 4,
        "memory_gib": 256,
    }
    assert machine.topology.cluster[:2] == ("0-3", "4-7")
    assert machine.topology.node == ("0-31", "32-63", "64-95", "96-127")
    assert machine.topology.distance[1] == (12, 10, 22, 24)


@pytest.mark.parametrize(
    ("longest", "governor", "states"),
    [("200000", "haltpoll", ["POLL", "haltpoll idle"]), ("0", "menu", ["haltpoll idle"])],
)
def test_a_guest_that_may_poll_for_no_time_halts(
    tmp_path: Path, longest: str, governor: str, states: list[str]
) -> None:
    specs = [
        StateSpec("POLL", "CPUIDLE CORE POLL IDLE", 0, 0),
        StateSpec("haltpoll idle", "default architecture idle", 1, 1),
    ]
    files = {
        f"{CPU}/cpuidle/current_governor": "haltpoll",
        "/sys/module/haltpoll/parameters/guest_halt_poll_ns": longest,
    }
    idle = machine_of(tmp_path, idle=dict.fromkeys(range(4), specs), files=files).idle
    assert (idle.governor, [state.name for state in idle.state]) == (governor, states)


def test_epyc(generated: dict[str, Description]) -> None:
    machine = generated["epyc-nps4"].machine
    assert machine.topology.core[:2] == ("0,128", "1,129")
    assert machine.topology.cluster == (), "clusters that are the cores say nothing"
    assert machine.topology.llc[1] == "8-15,136-143"
    assert machine.topology.node[0] == "0-15,128-143"
    assert len(machine.topology.llc) == 16
    assert machine.idle.governor == "menu"
    assert [(s.name, s.latency, s.residency, s.polling, s.mwait) for s in machine.idle.state] == [
        ("POLL", "0us", "0us", True, False),
        ("C1", "1us", "2us", False, True),
        ("C2", "400us", "800us", False, False),
    ]
    assert {state.power_mw for state in machine.idle.state} == {None}
    [cpu] = machine.cpu
    assert (cpu.cpus, cpu.shared_by, cpu.capacity) == ("0-255", "cpu", None)


def test_power9(generated: dict[str, Description]) -> None:
    machine = generated["power9-lpar"].machine
    assert machine.processor == "POWER9"
    assert machine.topology.core[0] == "0-3"
    assert [(state.name, state.polling) for state in machine.idle.state] == [
        ("snooze", True),
        ("CEDE", False),
    ]


def test_hikey960(generated: dict[str, Description]) -> None:
    machine = generated["hikey960"].machine
    assert machine.title == "HiKey960: Cortex-A53 + Cortex-A73"
    assert [(c.cpus, c.capacity) for c in machine.cpu] == [("0-3", 462), ("4-7", 1024)]
    assert machine.topology.cluster == machine.topology.llc == ("0-3", "4-7")
    assert machine.topology.node == ()
    assert [(s.name, s.cpus, s.latency) for s in machine.idle.state] == [
        ("WFI", None, "1us"),
        ("cpu-sleep-0", "0-3", "1050us"),
        ("cpu-sleep-1", "4-7", "950us"),
        ("cluster-sleep-0", "0-3", "2100us"),
        ("cluster-sleep-1", "4-7", "3700us"),
    ]
    assert [point.mhz for point in machine.cpu[1].opp] == [903, 1421, 1805, 2112, 2362]
    assert machine.cache.l2[0].size is None


def test_juno(generated: dict[str, Description]) -> None:
    machine = generated["juno"].machine
    assert [(c.cpus, c.capacity) for c in machine.cpu] == [("0,3-5", 446), ("1-2", 1024)]
    assert [(c.cpus, c.size) for c in machine.cache.l2] == [("0,3-5", "1MiB"), ("1-2", "2MiB")]


def test_holes_in_the_numbers_and_cpus_switched_off(tmp_path: Path) -> None:
    online = [0, 1, 8, 10, 11]
    spec = plain(
        online=online,
        present=[0, 1, 8, 9, 10, 11],
        cores=[[0, 1], [8], [10, 11]],
        packages=[[0, 1], [8, 10, 11]],
    )
    described = describe(LocalSystem(write(tmp_path, spec)))
    assert described.machine.cpus == "0-1,8,10-11"
    assert described.machine.topology.core == ("0-1", "8", "10-11")
    assert "Offline and so not described: CPUs 9." in described.to_toml()


def test_smt8_with_a_cache_for_half_the_threads(tmp_path: Path) -> None:
    """POWER9 in SMT8: even and odd threads are two small cores with caches of their own."""
    halves = [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
    machine = machine_of(
        tmp_path,
        online=range(16),
        cores=split(range(16), 8),
        packages=[range(16)],
        caches=[CacheSpec(1, "Data", "32K", halves), CacheSpec(3, "Unified", "10240K", halves)],
    )
    assert machine.topology.core == ("0-7", "8-15")
    assert machine.topology.llc[0] == "0,2,4,6"
    assert machine.cache.l3[0].size == "10MiB"
    assert machine.cache.l3[0].groups == machine.topology.llc or machine.cache.l3[0].shared_by


def test_odd_and_even_siblings(tmp_path: Path) -> None:
    machine = machine_of(
        tmp_path, online=range(8), cores=split(range(8), 2), packages=[[0, 1, 4, 5], [2, 3, 6, 7]]
    )
    assert machine.topology.package == ("0-1,4-5", "2-3,6-7")


def test_nodes_with_holes_without_memory_and_without_cpus(tmp_path: Path) -> None:
    machine = machine_of(
        tmp_path,
        nodes=[
            NodeSpec(0, [0, 1], 2 * 1024 * 1024),
            NodeSpec(1, [2, 3], 0),
            NodeSpec(8, [], 4 * 1024 * 1024),
        ],
        distances=[[10, 20, 40], [20, 10, 40], [40, 40, 10]],
    )
    assert machine.topology.node == ("0-1", "2-3", "")
    assert machine.topology.node_numbers == (0, 1, 8)
    assert machine.topology.node_memory_mib == (2048, 0, 4096)
    assert machine.sizes()["nodes"] == 2


def test_asymmetric_distances_are_kept_as_told(tmp_path: Path) -> None:
    machine = machine_of(
        tmp_path,
        nodes=[NodeSpec(0, [0, 1], 1), NodeSpec(1, [2, 3], 1)],
        distances=[[10, 15], [20, 10]],
    )
    assert machine.topology.distance == ((10, 15), (20, 10))


def test_a_machine_that_tells_almost_nothing(tmp_path: Path) -> None:
    described = describe(LocalSystem(write(tmp_path, plain())))
    assert described.machine.processor == "Some"
    assert described.machine.groups("llc") == ((0, 1, 2, 3),)
    header = described.to_toml().partition("\n\n")[0]
    assert "last-level caches (no cpu*/cache)" in header
    assert "idle states (no cpuidle)" in header


def test_old_names_of_the_topology_files(tmp_path: Path) -> None:
    write(tmp_path, plain(cores=split(range(4), 2)))
    for path in tmp_path.glob(f"{CPU}/cpu*/topology/core_cpus_list"):
        path.unlink()
    assert describe(LocalSystem(tmp_path)).machine.topology.core == ("0-1", "2-3")


def test_caches_that_no_level_shares_are_listed(tmp_path: Path) -> None:
    machine = machine_of(
        tmp_path,
        caches=[
            CacheSpec(2, "Unified", "1280K", [[0, 2], [1, 3]]),
            CacheSpec(3, "Unified", "8192K", [range(4)]),
        ],
    )
    assert machine.cache.l2[0].size == "1280KiB"
    assert machine.cache.l2[0].shared_by is None
    assert machine.cache.l2[0].groups == ("0,2", "1,3")


def test_frequency_domains_that_are_no_level_stand_apart(tmp_path: Path) -> None:
    rates = [1862400, 2000000]
    write(tmp_path, plain(policies=[([0, 2], rates), ([1, 3], rates)]))
    for policy in (0, 1):
        Tree(tmp_path).put(f"{CPU}/cpufreq/policy{policy}/cpuinfo_transition_latency", 20000)
    machine = describe(LocalSystem(tmp_path)).machine
    assert [(cpu.cpus, cpu.shared_by) for cpu in machine.cpu] == [("0,2", None), ("1,3", None)]
    assert [point.mhz for point in machine.cpu[0].opp] == [1862.4, 2000]
    assert machine.cpu[0].transition == "20000ns"


def test_idle_states_differ_between_cpus(tmp_path: Path) -> None:
    one, two = StateSpec("C1", "C1", 1, 2, 500), StateSpec("C2", "C2", 50, 100)
    machine = machine_of(tmp_path, idle={0: [one], 1: [one, two], 2: [one], 3: [one, two]})
    assert [(state.name, state.cpus) for state in machine.idle.state] == [
        ("C1", None),
        ("C2", "1,3"),
    ]
    assert machine.idle.state[0].power_mw == 500


def test_sysfs_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path, plain(packages=[[0, 1, 2], [3]]))
    Tree(root).put(f"{CPU}/cpu3/topology/package_cpus_list", "2-3")
    with pytest.raises(HostError, match=r"topology.package\[1\]: CPU 2 is already in package\[0\]"):
        describe(LocalSystem(root))


def test_nodes_are_not_invented_where_a_distance_is_untold(tmp_path: Path) -> None:
    root = write(tmp_path, plain(nodes=[NodeSpec(0, range(4), 1)], distances=[[10]]))
    (root / NODE / "node0" / "distance").unlink()
    assert describe(LocalSystem(root)).machine.topology.distance == ()


def test_no_sysfs_at_all(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="Is sysfs mounted"):
        describe(LocalSystem(tmp_path))


def test_this_very_host() -> None:
    if not Path("/sys/devices/system/cpu/online").exists():
        pytest.skip("this host shows no sysfs")
    machine = describe(LocalSystem()).machine
    assert machine.nr_cpus >= 1
    assert machine.arch != "unknown"
