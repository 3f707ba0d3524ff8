"""What a disk takes, in a machine's file."""

from pathlib import Path

from schedlab.lab.accuracy.disk import flushes, with_disk
from schedlab.machine.model import find_machine, load_machine


def test_flushes_are_timed_and_leave_nothing(tmp_path: Path) -> None:
    took = flushes(tmp_path)
    assert took == sorted(took) and took[0] > 0
    assert not list(tmp_path.iterdir())


def test_a_machine_has_what_its_disk_takes(tmp_path: Path) -> None:
    machine = with_disk(find_machine("smp4"), list(range(1000, 2000, 10)))
    file = tmp_path / "x.toml"
    file.write_text(machine.to_toml())
    read = load_machine(file)
    for workload in ("postgresql", "mariadb"):
        assert read.work[workload]["flush"] == "1100ns"
        assert read.ledger[f"work.{workload}.flush"].range == ("1000ns", "1500ns")
    usual = find_machine("smp4")
    assert read.work["postgresql"]["select"] == usual.work["postgresql"]["select"]
    assert read.work["sqlite"] == usual.work["sqlite"]
