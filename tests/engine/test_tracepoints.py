"""Every tracepoint that the engine knows by name fires: none stays silent whose function runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.engine.test_numa_balancing import numa_mem, often
from tests.helpers import builds
from tests.helpers.engine.loads import scenario
from tests.helpers.engine.simulator import ROOT, Json, Simulator
from tests.helpers.engine.switching import HOTPLUG, MIX, REAL_TIME

NO_LOAD = {"sched_pi_setprio": "no simulated program has a futex that hands its priority on"}
"""Those that fire for nothing that can be simulated, and why."""
NAP: Json = {"name": "nap", "count": 4, "program": [{"run": "300us"}, {"sleep": "1ms"}]}


def loads() -> Iterator[tuple[str, Json]]:
    """Machines and scenarios in which all others fire."""
    for each in (MIX, REAL_TIME, HOTPLUG):
        yield "smp4", each
    yield "hikey960", {"duration": "100ms", "tasks": [NAP], "cpufreq": {"governor": "schedutil"}}
    yield "smp4", scenario("postgresql", time="40ms", transactions="tpcb", clients=2, scale=10)
    for processes, threads in ((2, 8), (1, 4)):
        shared = numa_mem(nr_proc=processes, nr_threads=threads, mb_proc=32, nr_secs="3s")
        yield "numa16", {**shared, "knobs": often(10)}


def test_every_tracepoint_fires(series: str, sim: Simulator) -> None:
    listed = (ROOT / "engine/hooked/expected.txt").read_text()
    facts = builds.made(series).facts
    named = re.findall(r"^trace_(\w+)\(.*?\)(?:\s+if (\w+))?$", listed, re.M)
    silent = {name for name, fact in named if not fact or fact in facts} - NO_LOAD.keys()
    assert len(silent) > 30
    for machine, load in loads():
        counters = sim(machine, load)["counters"]
        silent -= {name.partition(":")[2] for name, count in counters.items() if count}
    assert not silent
