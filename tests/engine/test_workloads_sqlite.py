"""Copies of sqlite3 on one journaled file system in the simulator."""

from __future__ import annotations

import pytest
from conftest import Simulator
from loads import Load, scenario

ROW_NS = 42_000 + 4 * 10_000  # work of a row, and what its four waits cost
TIMER_SLACK = 50e-6


def rows(sim: Simulator, disk: str, copies: int = 1, where: str = "smp4") -> Load:
    return Load(sim, where, scenario("sqlite", copies=copies, rows=200, disk=disk))


def test_a_row_waits_six_times(sim: Simulator) -> None:
    """Four times for itself and twice for the file system's journal, with nobody else there."""
    short, long = (rows(sim, disk)["time"] / 200 for disk in ("100us", "1100us"))
    assert long - short == pytest.approx(6e-3, rel=0.05)
    assert short == pytest.approx(6 * (100e-6 + TIMER_SLACK) + ROW_NS * 1e-9, rel=0.1)


def test_copies_share_a_commit(sim: Simulator) -> None:
    """Whoever asks while the journal is written waits for the next commit, together."""
    one, many = (rows(sim, "300us", copies, "numa16") for copies in (1, 16))
    assert many["rows"] > 10 * one["rows"]
    assert many.counters["switches:voluntary"] < 16 * one.counters["switches:voluntary"]
