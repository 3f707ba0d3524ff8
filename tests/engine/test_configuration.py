"""The simulator with Debian's configuration: what `kernel build --config debian` switches on."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Simulator
from test_build import FORK_BESIDE_RT, light_sleepers

from tests import builds

MODEL = "/sys/kernel/debug/sched/preempt"


@pytest.fixture
def debian(tmp_path: Path) -> Simulator:
    """A simulator of 6.12 as Debian configures it."""
    return Simulator(builds.build("6.12", name="6.12-debian", config="debian"), tmp_path)


def test_the_preemption_model_is_chosen_at_boot(debian: Simulator) -> None:
    """It comes up in the configured one; a kernel that is preempted decides otherwise."""
    machine, hashes = light_sleepers(), {}
    for model, shown in (
        ("none", "(none) voluntary full"),
        ("voluntary", "none (voluntary) full"),
        ("full", "none voluntary (full)"),
    ):
        result = debian(machine, {**FORK_BESIDE_RT, "knobs": {MODEL: model}})
        assert result["settings"][MODEL].split() == shown.split()
        hashes[model] = result["trace_hash"]
    assert debian(machine, FORK_BESIDE_RT)["trace_hash"] == hashes["voluntary"] != hashes["full"]


def test_a_model_that_it_does_not_have_is_refused(debian: Simulator) -> None:
    done = debian.start("smp4", {**FORK_BESIDE_RT, "knobs": {MODEL: "lazy"}})
    assert (done.returncode, "it takes a model that it lists" in done.stderr) == (2, True)
