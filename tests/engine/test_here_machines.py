"""What `schedlab machine --here` writes of a host, the simulator takes."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.base.system import LocalSystem
from schedlab.machine.here import describe
from schedlab.machine.model import load_machine
from schedlab.machine.simulator import description
from schedlab.machine.standin import completed
from tests.helpers import sysfs_tree
from tests.helpers.engine.simulator import Simulator
from tests.helpers.sysfs_tree import plain, split, write

RECORDED = Path(__file__).parents[1] / "data" / "sysfs" / "vm-epyc-2"
WORK = {
    "duration": "20ms",
    "tasks": [{"name": "w", "count": 4, "program": [{"run": "1ms"}, {"sleep": "100us"}]}],
}


def described(root: Path) -> str:
    """Return a host's file."""
    return completed(describe(LocalSystem(root))).to_toml()


def runs(sim: Simulator, text: str, scratch: Path) -> None:
    """Read a host's file back, run on it."""
    file = scratch / "here.toml"
    file.write_text(text)
    result = sim(description(load_machine(file)), WORK)
    assert result["counters"]["sched:sched_switch"] > 0


def test_a_virtual_machine_that_tells_nothing(sim: Simulator, tmp_path: Path) -> None:
    runs(sim, described(write(tmp_path / "vm", plain())), tmp_path)


def test_siblings_get_speeds(sim: Simulator, tmp_path: Path) -> None:
    runs(sim, described(write(tmp_path / "vm", plain(cores=split(range(4), 2)))), tmp_path)


def test_an_arm_virtual_machine(sim: Simulator, tmp_path: Path) -> None:
    runs(
        sim,
        described(write(tmp_path / "vm", plain(arch="aarch64", cores=split(range(4), 2)))),
        tmp_path,
    )


def test_the_recorded_virtual_machine(sim: Simulator, tmp_path: Path) -> None:
    runs(sim, described(RECORDED), tmp_path)


def test_this_very_host(sim: Simulator, tmp_path: Path) -> None:
    if not Path("/sys/devices/system/cpu/online").exists():
        pytest.skip("this host shows no sysfs")
    runs(sim, described(Path("/")), tmp_path)


@functools.cache
def server(name: str) -> str:
    """Return a server's file, whose tree of ten thousand files is written once for all series."""
    with tempfile.TemporaryDirectory() as folder:
        return described(sysfs_tree.MACHINES[name](Path(folder)))


@pytest.mark.parametrize("name", ["kunpeng-920", "epyc-nps4", "power9-lpar"])
def test_servers(sim: Simulator, tmp_path: Path, name: str) -> None:
    runs(sim, server(name), tmp_path)


@pytest.mark.parametrize(
    ("name", "problem"), [("hikey960", "idle.state[1].cpus"), ("juno", "cache.llc: 1MiB and 2MiB")]
)
def test_what_differs_between_cpus_is_for_people_to_choose(
    tmp_path: Path, name: str, problem: str
) -> None:
    described = completed(describe(LocalSystem(sysfs_tree.MACHINES[name](tmp_path))))
    with pytest.raises(UsageError) as refused:
        description(described.machine, "here.toml")
    assert str(refused.value).startswith(f"here.toml: {problem}")
