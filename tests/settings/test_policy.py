"""A benchmark's policy: written, refused, put before it on a host and into a scenario."""

import pytest

from schedlab.base.errors import KnobError, UsageError
from schedlab.base.system import LocalSystem
from schedlab.settings.kinds.policy import PolicySetting
from schedlab.settings.variant import parse_variant
from schedlab.targets.simulated.scenario import read_back, settings, shown


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fifo", "fifo and rr need a priority"),
        ("batch priority=3", "no other policy has one"),
        ("rr priority=3 nice=1", "rr has no nice value"),
        ("idle slice=3ms", "idle has no slice"),
        ("normal nice=20", "at most 19"),
        ("normal slice=3", "slice"),
        ("deadline", "normal"),
        ("batch name=idle", "write it as"),
        ("batch nice", "write it as"),
    ],
)
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_variant(f"v: policy {text}")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("batch", "chrt --batch 0"),
        ("rr priority=7", "chrt --rr 7"),
        ("normal nice=-5", "chrt --other 0 nice -n -5"),
    ],
)
def test_a_host_puts_it_before_the_benchmark(text: str, command: str) -> None:
    assert parse_variant(f"v: policy {text}").around.prefix == tuple(command.split())


def test_a_slice_is_for_simulated_machines() -> None:
    kind = PolicySetting()
    variant = parse_variant("v: policy normal slice=3ms")
    with pytest.raises(KnobError, match="a slice is for simulated machines"):
        list(kind.knobs(LocalSystem(), kind.of(variant)))


def test_a_scenario_has_it_for_its_workloads() -> None:
    variant = parse_variant("v: policy batch nice=5 slice=3ms")
    assert settings(variant)["scheduling"] == {"policy": "batch", "nice": 5, "slice": "3ms"}
    told = {
        "policy": "batch nice=5 slice=3ms",
        "policy nice": "5",
        "policy slice": "3ms",
    }
    assert shown(variant) == told
    assert read_back(variant, {"policy": "batch nice=5 slice=3ms"}) == told
