from pathlib import Path

import pytest

from schedlab.base.errors import IncompleteRun, SystemLost
from schedlab.base.system import LocalSystem
from schedlab.targets.stage import full_disk_said


class Far(LocalSystem):
    """A machine whose disk is full, while ours is not."""

    def free_bytes(self, folder: Path) -> int | None:
        return 4096


def test_a_full_disk_of_another_machine_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(IncompleteRun, match=r"^exit status 2; the file system to which the runs'"),
        full_disk_said(Far(), tmp_path),
    ):
        raise IncompleteRun("exit status 2")


def test_what_else_fails_is_left_as_it_is(tmp_path: Path) -> None:
    with (
        pytest.raises(IncompleteRun, match=r"^exit status 2$"),
        full_disk_said(LocalSystem(), tmp_path),
    ):
        raise IncompleteRun("exit status 2")
    with pytest.raises(SystemLost, match=r"^gone$"), full_disk_said(Far(), tmp_path):
        raise SystemLost("gone")


class Short(LocalSystem):
    """A machine with little room."""

    def free_bytes(self, folder: Path) -> int | None:
        return 6 << 20


def test_little_room_is_told_where_what_was_written_may_be_gone(tmp_path: Path) -> None:
    with (
        pytest.raises(IncompleteRun, match=r"writes has only 6 MB left$"),
        full_disk_said(Short(), tmp_path, scarce=64 << 20),
    ):
        raise IncompleteRun("exit status 1")
    with pytest.raises(IncompleteRun, match=r"^exit status 1$"), full_disk_said(Short(), tmp_path):
        raise IncompleteRun("exit status 1")
