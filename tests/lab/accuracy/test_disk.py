"""What a disk takes, in a machine's file."""

import os
from pathlib import Path

import pytest

from schedlab.lab.accuracy.disk import Flushes, flushes, with_disk
from schedlab.machine.model import find_machine, load_machine


def test_flushes_are_timed_and_leave_nothing(tmp_path: Path) -> None:
    policy = os.sched_getscheduler(0)
    found = flushes(tmp_path)
    assert found.took == sorted(found.took) and found.took[0] > 0
    assert 0 < found.worked[0] < found.took[0]
    assert not list(tmp_path.iterdir())
    assert os.sched_getscheduler(0) == policy


def test_without_the_right_to_real_time_a_flush_is_one_that_waited_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refused)
    found = flushes(tmp_path)
    assert not found.undisturbed
    value = with_disk(find_machine("smp4"), found).work["postgresql"]["flush"]
    assert value == f"{found.took[len(found.took) // 10]}ns"


def test_a_machine_has_what_its_disk_takes(tmp_path: Path) -> None:
    took = list(range(1000, 2000, 10))
    machine = with_disk(find_machine("smp4"), Flushes(took, took, undisturbed=True))
    file = tmp_path / "x.toml"
    file.write_text(machine.to_toml())
    read = load_machine(file)
    for workload in ("postgresql", "mariadb"):
        assert read.work[workload]["flush"] == "1500ns"
        assert read.ledger[f"work.{workload}.flush"].range == ("1100ns", "1900ns")
        assert read.core
        assert read.work[workload]["flush_work"] == round(1.5 * read.core.mhz)
    usual = find_machine("smp4")
    assert read.work["postgresql"]["select"] == usual.work["postgresql"]["select"]
    assert read.work["sqlite"] == usual.work["sqlite"]
