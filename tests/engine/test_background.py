"""What a machine does besides its load: how often it wakes, where, and what that takes."""

from __future__ import annotations

import pytest

from tests.helpers.engine.simulator import Json, Simulator, machine

QUIET: Json = {"duration": "12s", "warmup": "2s"}
HOG: Json = {"name": "hog", "count": 4, "program": [{"run": "1ms"}]}


def busy_ns(cpu: Json) -> int:
    return int(cpu["user_ns"] + cpu["kernel_ns"])


def with_daemons(name: str, **background: float | str) -> Json:
    described = machine(name)
    described["background"].update(background)
    return described


def test_daemons_wake_as_often_as_the_machine_says(sim: Simulator) -> None:
    """The machine's 30 wakeups of 40 us a second, all daemons together."""
    described = with_daemons("smp4", per_cpu=0)
    result = sim(described, {**QUIET, "background": True})
    user = sum(cpu["user_ns"] for cpu in result["per_cpu"])
    assert user == pytest.approx(10 * 30 * 40_000, rel=0.15)


def test_an_idle_machine_is_idle(sim: Simulator) -> None:
    """Services take less than a percent of a CPU, however many CPUs there are."""
    result = sim("smp4", {**QUIET, "background": True})
    user = sum(cpu["user_ns"] for cpu in result["per_cpu"])
    assert 0 < user < 10e9 * 0.01


@pytest.mark.parametrize(("name", "cpus"), [("smp4", 4), ("numa16", 16)])
def test_every_cpu_has_works_of_its_own(sim: Simulator, name: str, cpus: int) -> None:
    """They grow with the machine and stay where they are; the services do not."""
    scenario = {**QUIET, "background": True}
    few, many = (sim(with_daemons(name, wakeups=0, per_cpu=rate), scenario) for rate in (0, 10))
    woken = many["counters"]["sched:sched_wakeup"] - few["counters"]["sched:sched_wakeup"]
    # a timer of the wheel ends up to a jiffy late: 26 jiffies of 4 ms and not 25
    assert woken == pytest.approx(10 * 10 * cpus, rel=0.08)
    for cpu in range(cpus):
        longer = busy_ns(many["per_cpu"][cpu]) - busy_ns(few["per_cpu"][cpu])
        assert 1 < longer / (100 * 40_000) < 1.5


def test_works_of_a_cpu_wait_while_it_is_off_line(sim: Simulator) -> None:
    scenario: Json = {
        **QUIET,
        "background": True,
        "actions": [{"at": "2s", "offline": 3}, {"at": "7s", "online": 3}],
    }
    ran = [
        sim(with_daemons("smp4", wakeups=0, per_cpu=rate), scenario)["per_cpu"][3]["kernel_ns"]
        for rate in (0, 100)
    ]
    assert ran[1] - ran[0] == pytest.approx(5 * 100 * 40_000, rel=0.25)


def test_a_number_of_daemons_as_files_had_it_means_the_machines(sim: Simulator) -> None:
    hashes = {
        value: sim("smp4", {"duration": "100ms", "background": value, "tasks": [HOG]})["trace_hash"]
        for value in (4, True, 0, False)
    }
    assert hashes[4] == hashes[True] != hashes[0] == hashes[False]


def test_a_machine_that_says_nothing_cannot_have_one(sim: Simulator) -> None:
    described = machine("smp4")
    del described["background"]
    done = sim.start(described, {**QUIET, "background": True})
    assert done.returncode == 2
    assert "background" in done.stderr
