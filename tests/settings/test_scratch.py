"""Data of servers that a killed lab left: told, and removed with what else it left."""

from pathlib import Path

from schedlab.settings.journal import left_behind, restore_left_behind
from schedlab.settings.scratch import Scratch
from schedlab.settings.switchboard import Switchboard
from tests.helpers.rooted import RootedSystem, small_server


def killed(system: RootedSystem, raw: Path) -> None:
    """Leave what a lab that is killed leaves."""
    board = Switchboard(system, [])
    board.journal.scratch = Scratch.of(raw, ["db"])
    board.begin("tag")
    for folder in ("data/postgres-1/base", "00001-x/db/base", "00001-x/client", "loading-x/db"):
        (raw / folder).mkdir(parents=True)
    (raw / "00001-x/stdout.txt").write_text("said")


def test_what_a_killed_lab_loaded_is_told_and_removed(tmp_path: Path) -> None:
    system, raw = RootedSystem(small_server(tmp_path / "root")), tmp_path / "raw"
    killed(system, raw)
    folders = [raw / "data", raw / "00001-x/db", raw / "loading-x/db"]
    told = left_behind(system)
    assert told == "; ".join(
        [
            "every knob is as it was",
            *(f"data that a lab left are in {folder}" for folder in folders),
        ]
    )
    assert restore_left_behind(system) == [
        f"removed {folder}, data that an earlier lab left" for folder in folders
    ]
    assert (raw / "00001-x/client").exists()
    assert (raw / "00001-x/stdout.txt").exists()
    assert (left_behind(system), restore_left_behind(system)) == (None, [])


def test_they_are_removed_after_a_reboot_as_well(tmp_path: Path) -> None:
    root, raw = small_server(tmp_path / "root"), tmp_path / "raw"
    killed(RootedSystem(root), raw)
    boot = root / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True, exist_ok=True)
    boot.write_text("another\n")
    system = RootedSystem(root)
    assert "data that a lab left" in (left_behind(system) or "")
    assert len(restore_left_behind(system)) == 3
    assert left_behind(system) is None


def test_a_link_leads_to_nothing_that_is_removed(tmp_path: Path) -> None:
    """The folder of a result may be another user's by then."""
    users, raw = tmp_path / "users", tmp_path / "raw"
    (users / "db").mkdir(parents=True)
    raw.mkdir()
    (raw / "data").symlink_to(users)
    (raw / "00001-x").symlink_to(users)
    (raw / "00002-x").mkdir()
    (raw / "00002-x/db").symlink_to(users / "db")
    assert Scratch.of(raw, ["db"]).remove() == []
    linked = tmp_path / "linked"
    linked.symlink_to(users)
    assert Scratch.of(linked, ["db"]).remove() == []
    assert (users / "db").is_dir()
