"""Settings that all variants of a plan share."""

from typing import Any

import pytest

from schedlab.plan.plan import Plan

PLAN: dict[str, Any] = {
    "target": "sim:spr-8480-2p",
    "suite": "quick",
    "variant": [
        {"name": "base"},
        {"name": "own", "sysctl": {"kernel.b": "3"}, "sched_features": ["NO_SIS_UTIL"]},
    ],
}
COMMON = {
    "sysctl": {"kernel.a": "1", "kernel.b": "2"},
    "sched_features": ["SIS_UTIL", "TTWU_QUEUE"],
}


def test_variants_have_what_is_common_and_their_own() -> None:
    base, own = Plan.model_validate({**PLAN, "common": COMMON}).variant
    assert base.sysctl == COMMON["sysctl"]
    assert base.sched_features == ("SIS_UTIL", "TTWU_QUEUE")
    assert own.sysctl == {"kernel.a": "1", "kernel.b": "3"}
    assert own.sched_features == ("TTWU_QUEUE", "NO_SIS_UTIL")


def test_a_setup_of_the_machine_is_below() -> None:
    on = {"state": "C6", "enabled": True}
    plan = Plan.model_validate({**PLAN, "setup": "no-C6"})
    assert [(idle.state, idle.enabled) for idle in plan.variant[0].cpuidle] == [("C6", False)]
    plan = Plan.model_validate({**PLAN, "setup": "no-C6", "common": {"cpuidle": [on]}})
    assert [(idle.state, idle.enabled) for idle in plan.variant[1].cpuidle] == [("C6", True)]
    assert "setup" not in plan.to_toml() and "common" not in plan.to_toml()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"common": {"name": "x"}}, "common: 'name' is not a setting"),
        ({"common": {"sysctls": {}}}, "common: 'sysctls' is not a setting. Did you mean sysctl?"),
        ({"common": 3}, "common: a table of settings is expected"),
        ({"setup": "no-C7"}, "has no set-up 'no-C7'"),
        ({"setup": "no-C6", "target": "host"}, "setup: belongs to a machine file"),
    ],
)
def test_what_cannot_be_shared(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said.split("?")[0]):
        Plan.model_validate({**PLAN, **more})
