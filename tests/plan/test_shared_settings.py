"""Settings that all variants of a plan share."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from schedlab.base.data import machine_file
from schedlab.cli.machine import machine
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
        ({"common": {"kernel": "6.12"}}, r"common: kernel is a variant's own; give it in \[\["),
        ({"common": {"sched_features": ["sis"]}}, r"common: sched_features\[0\]: 'sis' is not a"),
        ({"setup": ["no-C6"]}, "setup: the name of one set-up is expected"),
        ({"common": 3}, "common: a table of settings is expected"),
        ({"setup": "no-C7"}, "has no set-up 'no-C7'"),
        ({"setup": "no-C6", "target": "host"}, "setup: belongs to a machine file"),
    ],
)
def test_what_cannot_be_shared(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said.split("?")[0]):
        Plan.model_validate({**PLAN, **more})


def test_a_mistake_in_a_machines_set_up_names_it(tmp_path: Path) -> None:
    text = machine_file("smp4").read_text()
    file = tmp_path / "odd.toml"
    file.write_text(f'{text}\n[setup.odd]\nsysctll = {{ "kernel.a" = 1 }}\n')
    plan = {**PLAN, "target": f"sim:{file}", "setup": "odd"}
    with pytest.raises(ValueError, match=r"\[setup.odd\] of sim:.*: 'sysctll' is not a setting"):
        Plan.model_validate(plan)
    assert "plan): no-C6\n" in CliRunner().invoke(machine, ["show", "spr-8480-2p"]).output
    shown = CliRunner().invoke(machine, ["show", str(file)])
    assert "[setup.odd]: 'sysctll' is not a setting" in str(shown.exception or shown.output)
