"""Bounds of a benchmark's utilisation: written, refused, and set on a host's cgroup."""

from pathlib import Path

import pytest

from schedlab.base.errors import KnobError, UsageError
from schedlab.base.system import LocalSystem
from schedlab.settings.kinds.uclamp import Uclamp, UclampSetting
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import Variant, parse_variant
from schedlab.targets.simulated.scenario import settings, shown

GROUP = "sys/fs/cgroup/bench"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    boot = tmp_path / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text("5f1c8a0e-0000-4000-8000-000000000001\n")
    (tmp_path / GROUP).mkdir(parents=True)
    (tmp_path / GROUP / "cpu.uclamp.min").write_text("0.00\n")
    (tmp_path / GROUP / "cpu.uclamp.max").write_text("max\n")
    return LocalSystem(tmp_path)


def bounds(host: LocalSystem) -> list[str]:
    return [host.read(f"/{GROUP}/cpu.uclamp.{name}") for name in ("min", "max")]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("bench=20..80", "20.00", "80.00"),
        ("bench=0.5..100", "0.50", "max"),
        ("bench=max..max", "max", "max"),
        ("user.slice/bench@1.service=0..max", "0.00", "max"),
    ],
)
def test_bounds_are_as_the_kernel_shows_them(text: str, least: str, most: str) -> None:
    found = UclampSetting.of(parse_variant(f"v: uclamp {text}"))
    assert found == Uclamp(group=text.partition("=")[0], min=least, max=most)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bench=20", "write it as"),
        ("bench=80..20", "the minimum 80.00 is above the maximum 20.00"),
        ("bench=max..20", "the minimum max is above"),
        ("bench=20..101", "not a percentage"),
        ("bench=1.234..20", "not a percentage"),
        ("/bench=20..80", "not a cgroup below"),
        ("a/../b=20..80", "not a cgroup below"),
    ],
)
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_variant(f"v: uclamp {text}")


def test_a_host_sets_reads_back_and_restores_them(host: LocalSystem) -> None:
    variant = parse_variant("v: uclamp bench=20..80")
    switchboard = Switchboard(host, [variant])
    switchboard.begin("tag")
    with switchboard.applied(variant) as found:
        assert found == {"uclamp min": "20.00", "uclamp max": "80.00"}
        assert bounds(host) == ["20.00", "80.00"]
    assert bounds(host) == ["0.00", "max"]
    switchboard.end()


def test_a_group_that_is_not_there_is_asked_for(host: LocalSystem) -> None:
    with pytest.raises(KnobError, match=r"/other/cpu.uclamp.min is not there. Make the cgroup"):
        Switchboard(host, [parse_variant("v: uclamp other=20..80")])


def test_the_benchmark_goes_into_it() -> None:
    found = UclampSetting().around(Uclamp(group="bench", min="20", max="80"))
    assert found.prefix[:2] == ("sh", "-c")
    assert found.prefix[2] == 'echo $$ > /sys/fs/cgroup/bench/cgroup.procs && exec "$@"'


def test_a_scenario_makes_the_group() -> None:
    variant = parse_variant("v: uclamp bench=20..80")
    assert settings(variant)["uclamp"] == {"group": "/bench", "min": "20.00", "max": "80.00"}
    assert shown(variant)["uclamp max"] == "80.00"
    with pytest.raises(UsageError, match="a simulated group has no others above it"):
        settings(Variant(name="v", uclamp=Uclamp(group="a/b", min="0", max="1")))
