"""Cache-aware scheduling, of trees that have it: a process's threads keep to one cache."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean

import pytest

from tests.helpers.engine.simulator import Json, Simulator, has_cache_groups
from tests.helpers.engine.switching import BATCHES, DEBUG

SEEDS = "12345678"
"""How soon threads gather differs from run to run."""


def share_of_busier_half(sim: Simulator, enabled: str) -> float:
    """Of the CPU time, what the busier of two nodes has in the mean of some runs."""
    settings: Json = {"duration": "400ms", "knobs": {f"{DEBUG}/llc_balancing/enabled": enabled}}
    shares = []
    for seed in SEEDS:
        result = sim("numa16", {**BATCHES, **settings}, "--seed", seed)
        spent = [cpu["user_ns"] for cpu in result["per_cpu"]]
        half = len(spent) // 2
        shares.append(max(sum(spent[:half]), sum(spent[half:])) / sum(spent))
    return fmean(shares)


def test_threads_of_a_process_gather(series: str, sim: Simulator) -> None:
    """Two threads that wake three others each, on nodes of their own if nothing is said."""
    if not has_cache_groups(series):
        pytest.skip(f"Linux {series} has no cache-aware scheduling")
    apart, together = (share_of_busier_half(sim, enabled) for enabled in "01")
    assert apart < 0.55
    assert together > 0.6


def test_a_trace_names_what_only_such_trees_have(
    series: str, sim: Simulator, tmp_path: Path
) -> None:
    """Types of groups and of migrations: one that no trace names stands there as a number."""
    if not has_cache_groups(series):
        pytest.skip(f"Linux {series} has no cache-aware scheduling")
    path = tmp_path / "trace.txt"
    events = "schedlab:group_stats,schedlab:load_balance"
    sim("numa16", BATCHES, "--trace", str(path), "--trace-events", events)
    text = path.read_text()
    found = {kind: set(re.findall(rf" {kind}=(\S+)", text)) for kind in ("type", "migration")}
    assert "llc_balance" in found["type"] and "llc_task" in found["migration"]
    assert not [name for names in found.values() for name in names if name[0].isdigit()]
