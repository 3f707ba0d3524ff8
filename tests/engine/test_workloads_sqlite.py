"""Copies of sqlite3 on one journaled file system in the simulator."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, scenario
from tests.helpers.engine.simulator import Json, Simulator, machine

WORK = machine("smp4")["work"]["sqlite"]
ROW_CYCLES = sum(WORK.values()) + 3 * WORK["write"]  # of its own, and what its four waits cost
ROW_NS = ROW_CYCLES * 1000 / machine("smp4")["core"]["mhz"]
TIMER_SLACK = 50e-6


def rows(sim: Simulator, disk: str, copies: int = 1, where: str = "smp4") -> Load:
    return Load(sim, where, scenario("sqlite", copies=copies, rows=200, disk=disk))


def test_a_row_waits_six_times(sim: Simulator) -> None:
    """Four times for itself and twice for the file system's journal, with nobody else there."""
    short, long = (rows(sim, disk)["time"] / 200 for disk in ("100us", "1100us"))
    assert long - short == pytest.approx(6e-3, rel=0.05)
    assert short == pytest.approx(6 * (100e-6 + TIMER_SLACK) + ROW_NS * 1e-9, rel=0.1)


def test_work_takes_cycles_and_what_the_machine_says(sim: Simulator) -> None:
    """The same rows on a core of half the frequency, and with another figure in the machine's file."""
    slow, other, plain = (machine("smp4") for _ in range(3))
    slow["core"]["mhz"] /= 2
    other["work"]["sqlite"]["statement"] *= 2
    del plain["work"]

    def seconds(described: Json) -> float:
        return Load(sim, described, scenario("sqlite", rows=200))["time"] / 200

    usual = seconds(machine("smp4"))
    all_of_it = ROW_CYCLES + WORK["write"]  # and jbd2's, which it waits for
    assert seconds(slow) - usual == pytest.approx(all_of_it / ROW_CYCLES * ROW_NS * 1e-9, rel=0.1)
    more = WORK["statement"] * 1e-6 / machine("smp4")["core"]["mhz"]
    assert seconds(other) - usual == pytest.approx(more, rel=0.1)
    assert seconds(plain) == usual, "the program has the same figures as the lab"


def test_copies_share_a_commit(sim: Simulator) -> None:
    """Whoever asks while the journal is written waits for the next commit, together."""
    one, many = (rows(sim, "300us", copies, "numa16") for copies in (1, 16))
    assert many["rows"] > 10 * one["rows"]
    assert many.counters["switches:voluntary"] < 16 * one.counters["switches:voluntary"]
