"""The simulator with Debian's configuration: what `kernel build --config debian` switches on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_build import FORK_BESIDE_RT, light_sleepers

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator
from tests.helpers.engine.simulator import machine as described

MODEL = "/sys/kernel/debug/sched/preempt"


@pytest.fixture
def debian(tmp_path: Path) -> Simulator:
    """A simulator of 6.12 as Debian configures it."""
    return Simulator(builds.as_debian(), tmp_path)


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


def test_a_slice_ends_when_it_is_due(tmp_path: Path) -> None:
    """In 7.3 by default, the timer armed once an interrupt; without HRTICK it ends at a tick."""
    sim = Simulator(builds.build("7.3"), tmp_path)
    hogs: Json = {"name": "h", "count": 2, "affinity": "0", "program": [{"run": "10s"}]}
    knobs = {"/sys/kernel/debug/sched/base_slice_ns": "1000000"}
    case: Json = {"duration": "1s", "tasks": [hogs], "knobs": knobs}
    at_ticks = sim("smp4", {**case, "features": {"HRTICK": False}})["counters"]
    when_due = sim("smp4", case)["counters"]
    assert at_ticks["switches:involuntary"] == pytest.approx(250, abs=3)
    assert 700 < when_due["switches:involuntary"] < 1010
    assert when_due["timer:hrtimer_rearm"] < 1.1 * when_due["timer:hrtimer_expire_entry"]


@pytest.mark.parametrize(
    ("arch", "order"), [("x86_64", "expire switch rearm1"), ("aarch64", "expire rearm1 switch")]
)
def test_the_timer_is_armed_once_an_interrupt(tmp_path: Path, arch: str, order: str) -> None:
    """Deferred, behind the switch that the interrupt asked for; elsewhere by the interrupt itself.

    So the kernel's entry code has it: what returns to user mode without a switch, or to the kernel,
    arms it on the way out, and what schedules leaves it to the end of the choice.
    """
    trace = tmp_path / "trace"
    hogs: Json = {"name": "h", "count": 2, "affinity": "0", "program": [{"run": "10s"}]}
    knobs = {"/sys/kernel/debug/sched/base_slice_ns": "1000000"}
    features = {"HRTICK": True}
    case: Json = {"duration": "60ms", "tasks": [hogs], "knobs": knobs, "features": features}
    events = "hrtimer_expire_entry,hrtimer_rearm,sched_switch"
    words = ("--trace", str(trace), "--trace-cpus", "0", "--trace-events", events)
    Simulator(builds.build("7.3"), tmp_path)({**described("smp4"), "arch": arch}, case, *words)
    steps = re.findall(
        r": (?:hrtimer_(expire)_entry|sched_(switch)|hrtimer_(rearm): .*deferred=(\d))",
        trace.read_text(),
    )
    text = " ".join("".join(step) for step in steps)
    assert text.count(order) > 40
    assert text.count("expire") == pytest.approx(text.count("rearm1"), abs=1)
    assert re.findall("expire (?:switch )?(?!switch|rearm1)", text) == []


def test_a_model_that_it_does_not_have_is_refused(debian: Simulator) -> None:
    done = debian.start("smp4", {**FORK_BESIDE_RT, "knobs": {MODEL: "lazy"}})
    assert (done.returncode, "it takes a model that it lists" in done.stderr) == (2, True)


def ping_pong(depth: int) -> Json:
    """Two tasks of a cgroup so deep that wake each other on one CPU."""
    paths = ["".join(f"/g{n}" for n in range(1, d + 1)) for d in range(depth + 1)]
    one: Json = {"name": "p", "program": [{"pipe_write": "a"}, {"pipe_read": "b"}]}
    other: Json = {"name": "q", "program": [{"pipe_read": "a"}, {"pipe_write": "b"}]}
    where = {"affinity": "0", **({"group": paths[-1]} if depth else {})}
    groups = [{"path": path} for path in paths[1:]]
    return {"duration": "50ms", "groups": groups, "tasks": [{**one, **where}, {**other, **where}]}


def test_pressure_costs_by_the_depth_of_cgroups(debian: Simulator, tmp_path: Path) -> None:
    """A switch between two tasks of a cgroup and what wakes them change each group above, too."""

    def ns_a_switch(sim: Simulator, depth: int) -> float:
        return 50e6 / float(sim("smp4", ping_pong(depth))["counters"]["switches:voluntary"])

    without = Simulator(builds.build("6.12"), tmp_path)
    flat, half, deep = (ns_a_switch(debian, depth) for depth in (0, 8, 16))
    assert deep - half == pytest.approx(half - flat, rel=0.1)
    assert deep - flat > 10 * abs(ns_a_switch(without, 16) - ns_a_switch(without, 0))


def test_pressure_is_not_counted_as_looks_at_runqueues(debian: Simulator) -> None:
    def misses_a_switch(depth: int) -> float:
        case = ping_pong(depth)
        case["tasks"][1]["affinity"] = "1"
        counters = debian("smp4", case)["counters"]
        return float(counters["cost:runqueue_misses"]) / float(counters["switches:voluntary"])

    assert misses_a_switch(16) < 2 * misses_a_switch(0) + 1


def test_pressure_is_what_the_load_makes_it(debian: Simulator) -> None:
    """One of two tasks always waits: after 6 s the average of 10 s is at 1 - exp(-6/10)."""
    hogs = {"name": "h", "count": 2, "affinity": "0", "program": [{"run": "10s"}]}
    some, _ = debian("smp4", {"duration": "6s", "tasks": [hogs]})["pressure_cpu"].splitlines()
    averages = dict(word.split("=") for word in some.split()[1:])
    assert float(averages["avg10"]) == pytest.approx(45.1, abs=1)
    assert int(averages["total"]) == pytest.approx(6e6, rel=1e-3)


def test_pressure_is_switched_at_boot(debian: Simulator, tmp_path: Path) -> None:
    """As on the kernel's command line; without it a deep cgroup costs no more than none."""

    def booted(sim: Simulator, psi: str | None, depth: int = 16) -> Json:
        case = ping_pong(depth)
        return sim("smp4", case if psi is None else {**case, "boot": {"psi": psi}})

    on, off, default = (booted(debian, psi) for psi in ("1", "off", None))
    assert (on["settings"]["psi"], off["settings"]["psi"]) == ("1", "0")
    assert on["trace_hash"] == default["trace_hash"] != off["trace_hash"]
    assert ("pressure_cpu" in on, "pressure_cpu" in off) == (True, False)
    flat = booted(debian, "0", depth=0)["counters"]["switches:voluntary"]
    assert off["counters"]["switches:voluntary"] == pytest.approx(flat, rel=0.005)
    refused = debian.start("smp4", {**ping_pong(0), "boot": {"psi": "maybe"}})
    assert (refused.returncode, 'boot.psi: "maybe"' in refused.stderr) == (2, True)
    without = Simulator(builds.build("6.12"), tmp_path)
    refused = without.start("smp4", {**ping_pong(0), "boot": {"psi": "0"}})
    assert (refused.returncode, "built without PSI" in refused.stderr) == (2, True)
