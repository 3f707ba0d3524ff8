"""A benchmark's cgroup: written, refused, and its files set on a host."""

from pathlib import Path

import pytest

from schedlab.base.errors import KnobError, UsageError
from schedlab.base.system import LocalSystem
from schedlab.settings.kinds.cgroup import Cgroup
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import parse_variant
from schedlab.targets.simulated.scenario import read_back, settings, shown

GROUP = "sys/fs/cgroup/bench"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    boot = tmp_path / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text("5f1c8a0e-0000-4000-8000-000000000001\n")
    (tmp_path / GROUP).mkdir(parents=True)
    (tmp_path / GROUP / "cgroup.procs").write_text("")
    (tmp_path / GROUP / "cpu.uclamp.min").write_text("0.00\n")
    (tmp_path / GROUP / "cpu.uclamp.max").write_text("max\n")
    return LocalSystem(tmp_path)


def bounds(host: LocalSystem) -> list[str]:
    return [host.read(f"/{GROUP}/cpu.uclamp.{name}") for name in ("min", "max")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bench cpu.uclamp.min=20 cpu.uclamp.max=80", ["20.00", "80.00"]),
        ("bench cpu.uclamp.min=0.5 cpu.uclamp.max=100", ["0.50", "max"]),
        ("bench cpu.uclamp.min=max cpu.uclamp.max=max", ["max", "max"]),
        ("user.slice/bench@1.service cpu.max=50000", ["50000 100000"]),
        ("bench 'cpu.max=max 20000' cpu.max.burst=007", ["max 20000", "7"]),
        ("bench cpuset.cpus=3,0-2 cpuset.cpus.partition=root", ["0-3", "root"]),
        ("bench", []),
    ],
)
def test_values_are_as_the_kernel_shows_them(text: str, shown: list[str]) -> None:
    found = Cgroup.of(parse_variant(f"v: cgroup {text}")) or {}
    assert list(found.values()) == [text.partition(" ")[0], *shown]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bench cpu.weight", "write it as"),
        ("cpu.weight=3", "write it as"),
        ("bench cpu.weight=3 cpu.weight=4", "write it as"),
        ("bench cpu.uclamp.min=80 cpu.uclamp.max=20", "cpu.uclamp.min 80.00 is above"),
        ("bench cpu.uclamp.min=max cpu.uclamp.max=20", "cpu.uclamp.min max is above"),
        ("bench cpu.uclamp.max=101", "not a percentage"),
        ("bench cpu.uclamp.max=1.234", "not a percentage"),
        ("bench cpu.weight=0", "not a whole number from 1 to 10000"),
        ("bench cpu.max=all", "not a quota"),
        ("bench 'cpu.max=max max'", "not a quota"),
        ("bench cpuset.cpus.partition=whole", "not member, root or isolated"),
        ("bench memory.max=1", "no file 'memory.max' here"),
        ("/bench cpu.weight=1", "not a cgroup below"),
        ("a/../b cpu.weight=1", "not a cgroup below"),
    ],
)
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_variant(f"v: cgroup {text}")


def test_a_host_sets_reads_back_and_restores_them(host: LocalSystem) -> None:
    variant = parse_variant("v: cgroup bench cpu.uclamp.min=20 cpu.uclamp.max=80")
    switchboard = Switchboard(host, [variant])
    switchboard.begin("tag")
    with switchboard.applied(variant) as found:
        assert found == {"cgroup cpu.uclamp.min": "20.00", "cgroup cpu.uclamp.max": "80.00"}
        assert bounds(host) == ["20.00", "80.00"]
    assert bounds(host) == ["0.00", "max"]
    switchboard.end()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("other cpu.uclamp.min=20", r"/other is not there. Make the group first"),
        ("other", r"/other is not there. Make the group first"),
        ("bench cpu.weight=20", r"/bench/cpu.weight is not there. .* the controller cpu "),
    ],
)
def test_what_a_host_has_not_is_asked_for(host: LocalSystem, text: str, why: str) -> None:
    with pytest.raises(KnobError, match=why):
        Switchboard(host, [parse_variant(f"v: cgroup {text}")])


def test_where_version_2_is_mounted_elsewhere_its_place_is_named(host: LocalSystem) -> None:
    mounts = host.path("/proc/self/mounts")
    mounts.parent.mkdir(parents=True, exist_ok=True)
    mounts.write_text("cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n")
    with pytest.raises(KnobError, match=r"at /sys/fs/cgroup/unified here. Name it unified/other,"):
        Switchboard(host, [parse_variant("v: cgroup other")])
    with pytest.raises(KnobError, match=r"/unified/other is not there. Make the group first"):
        Switchboard(host, [parse_variant("v: cgroup unified/other")])


def test_the_benchmark_goes_into_it() -> None:
    found = parse_variant("v: cgroup bench").around
    assert found.prefix[:2] == ("sh", "-c")
    assert found.prefix[2] == 'echo $$ > /sys/fs/cgroup/bench/cgroup.procs && exec "$@"'


def test_a_scenario_makes_the_group() -> None:
    variant = parse_variant("v: cgroup a/bench cpu.max=5000")
    assert settings(variant)["cgroup"] == {"path": "/a/bench", "cpu.max": "5000 100000"}
    assert shown(variant) == {"cgroup": "/a/bench", "cgroup cpu.max": "5000 100000"}
    found = {"cgroup": "/a/bench", "/sys/fs/cgroup/a/bench/cpu.max": "5000 100000"}
    assert read_back(variant, found) == shown(variant)
