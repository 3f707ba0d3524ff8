"""What the machine's architecture decides: whether 7.3 has HRTICK by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator, machine

FEATURES = "/sys/kernel/debug/sched/features"
HOGS: Json = {
    "duration": "500ms",
    "tasks": [{"name": "h", "count": 2, "affinity": "0", "program": [{"run": "10s"}]}],
    "knobs": {"/sys/kernel/debug/sched/base_slice_ns": "1000000"},
}


@pytest.fixture
def newer(tmp_path: Path) -> Simulator:
    return Simulator(builds.build("7.3"), tmp_path)


def switches(result: Json) -> int:
    return int(result["counters"]["switches:involuntary"])


def test_slices_end_at_ticks_where_kconfig_has_no_deferred_rearming(newer: Simulator) -> None:
    unnamed = machine("smp4")
    assert "arch" not in unnamed
    on_x86, plain, on_arm = (
        newer(described, HOGS)
        for described in (unnamed | {"arch": "x86_64"}, unnamed, unnamed | {"arch": "aarch64"})
    )
    assert plain["trace_hash"] == on_x86["trace_hash"]
    assert {"HRTICK", "HRTICK_DL"} <= set(plain["settings"][FEATURES].split())
    assert {"NO_HRTICK", "NO_HRTICK_DL"} <= set(on_arm["settings"][FEATURES].split())
    assert switches(on_arm) == pytest.approx(125, abs=3)
    assert switches(plain) > 350
    chosen = newer(unnamed | {"arch": "ppc64le"}, {**HOGS, "features": {"HRTICK": True}})
    assert switches(chosen) > 350


@pytest.mark.parametrize("series", ["6.12", "6.1"], indirect=True)
def test_it_changes_nothing_in_older_trees(sim: Simulator) -> None:
    unnamed, hogs = machine("smp4"), {key: HOGS[key] for key in ("duration", "tasks")}
    assert (
        sim(unnamed, hogs)["trace_hash"] == sim(unnamed | {"arch": "aarch64"}, hogs)["trace_hash"]
    )


def test_machine_files_tell_it(newer: Simulator) -> None:
    features = newer("kunpeng-920-6426-2p", {"duration": "1ms"})["settings"][FEATURES].split()
    assert "NO_HRTICK" in features
