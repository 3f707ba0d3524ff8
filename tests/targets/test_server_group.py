"""A benchmark's server in a cgroup of its own, on this host's cgroups if a lab may make one."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.base.errors import RestoreError
from schedlab.base.system import LocalSystem
from schedlab.doctor.cgroups import own_group
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.settings import journal
from schedlab.settings.journal import left_behind, restore_left_behind
from schedlab.settings.switchboard import Switchboard
from schedlab.targets.host import HostTarget
from schedlab.targets.server_group import ServerGroups
from schedlab.targets.target import Order
from tests.helpers.rooted import RootedSystem, small_server
from tests.helpers.tool_output import TOOLS

TAG = "0123456789abcdef"
SERVER = f"""#!{sys.executable}
import os, pathlib, socket, sys, time
words = sys.argv[1:]
if "--version" in words:
    sys.exit()
if not os.fork():
    os.setsid()
    time.sleep(1000)
pathlib.Path("SEEN").write_text(pathlib.Path("/proc/self/cgroup").read_text())
address, port = (words[words.index(word) + 1] for word in ("--bind", "--port"))
with socket.create_server((address, int(port))):
    time.sleep(1000)
"""
LOAD = """#!/bin/sh
case "$*" in *-q | --version) exit 0 ;; esac
sed '1,/--- stdout/d;/--- stderr/,$d' RECORDED
"""


class WithCgroups(RootedSystem):
    """Files below a folder, and this host's own cgroups."""

    def path(self, path: str) -> Path:
        """Return the real place of what belongs to cgroups."""
        if path.startswith(("/sys/fs/cgroup", "/proc/self/")):
            return Path(path)
        return super().path(path)


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    found = own_group(LocalSystem())
    if not found or not LocalSystem().writable(f"{found}/cgroup.procs"):
        pytest.skip("this host has no cgroup of version 2 in which a group can be made")
    (tmp_path / "bin").mkdir()
    seen = tmp_path / "seen"
    programs = {
        "redis-server": SERVER.replace("SEEN", str(seen)),
        "redis-benchmark": LOAD.replace("RECORDED", str(TOOLS / "redis-benchmark.txt")),
    }
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return WithCgroups(small_server(tmp_path / "root"))


@pytest.fixture
def group(system: LocalSystem) -> Iterator[str]:
    """Make a group of the user's; return its name for a variant."""
    place = Path(f"{own_group(system)}/test-of-schedlab")
    if not str(place).startswith("/sys/fs/cgroup/"):
        pytest.skip("cgroups are mounted elsewhere")
    place.mkdir()
    yield str(place.relative_to("/sys/fs/cgroup"))
    place.rmdir()


def one_run(system: LocalSystem, raw: Path, **setting: object) -> tuple[RunRecord, list[str]]:
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "Redis"}],
            "variant": [{"name": "base"}, {"name": "changed", "env": {"X": "1"}, **setting}],
            "blocks": {"settle": "10ms"},
            "counters": [],
        }
    )
    target = HostTarget(system)
    [case] = plan.cases(target.machine())
    order = Order(RunKey(case.label, "changed", 0), case, plan.variant[1], seed=1, position=0)
    with target.open(plan, [case], raw) as session:
        return session.run(order, raw), session.notices


def groups_left(system: LocalSystem, seen: str) -> list[Path]:
    """Return the groups that are there of those a server said it was in; others' do not count."""
    below = Path(own_group(system) or "").rglob("schedlab-*")
    return [path for path in below if path.is_dir() and path.name in seen]


def test_a_server_has_a_group_of_its_own_and_ends_with_it(
    system: LocalSystem, tmp_path: Path
) -> None:
    record, _ = one_run(system, tmp_path / "raw")
    assert (record.error, record.caveats) == ("", [])
    seen = (tmp_path / "seen").read_text()
    assert "/schedlab-" in seen.splitlines()[-1]
    assert groups_left(system, seen) == []


def test_the_group_is_below_the_one_of_its_variant(
    system: LocalSystem, tmp_path: Path, group: str
) -> None:
    record, notices = one_run(system, tmp_path / "raw", cgroup={"path": group})
    assert record.error == ""
    seen = (tmp_path / "seen").read_text()
    assert "/test-of-schedlab/schedlab-" in seen
    assert groups_left(system, seen) == []
    [line] = [line for line in notices if "not with its server" in line]
    assert line.startswith("changed: prefix and env"), "the variant has env beside its group"


@pytest.fixture
def board(system: LocalSystem) -> Switchboard:
    """Begin a plan whose server's group is there; its end is the test's."""
    board = Switchboard(system, [])
    board.journal.groups = groups(system).places
    board.begin(TAG)
    system.make_folder(board.journal.groups[0])
    return board


def groups(system: LocalSystem) -> ServerGroups:
    variants = Plan.model_validate(
        {
            "benchmark": [{"name": "Redis"}],
            "variant": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}],
        }
    ).variant
    return ServerGroups(system, TAG, variants)


def test_what_a_killed_lab_left_is_removed(system: LocalSystem, board: Switchboard) -> None:
    [place] = board.journal.groups
    system.make_folder(f"{place}/below")
    system.make_folder(f"{place}/below/that")
    assert left_behind(system) == f"every knob is as it was; the cgroup {place} is there"
    assert restore_left_behind(system) == [f"removed the cgroup {place}"]
    assert not system.exists(place)
    assert left_behind(system) is None


def test_a_group_that_could_not_be_removed_is_told_and_tried_again(
    system: LocalSystem, board: Switchboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    [place] = board.journal.groups
    with monkeypatch.context() as busy:
        busy.setattr(journal, "remove_group", refuse)
        for again in (board.end, lambda: restore_left_behind(system)):
            with pytest.raises(RestoreError, match="the cgroup cannot be removed: Read-only"):
                again()
    board.end()
    assert not system.exists(place)
    assert left_behind(system) is None


def test_an_interrupt_while_a_group_is_made_leaves_none(
    system: LocalSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = LocalSystem.make_folder

    def interrupted(system: LocalSystem, path: str) -> None:
        made(system, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalSystem, "make_folder", interrupted)
    ours = groups(system)
    with pytest.raises(KeyboardInterrupt), ours.made("a"):
        pass
    assert not any(system.exists(place) for place in ours.places)


def test_where_none_can_be_had_a_notice_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: LocalSystem
) -> None:
    without = RootedSystem(small_server(tmp_path / "another"))
    record, notices = one_run(without, tmp_path / "raw")
    assert record.error == ""
    assert [line for line in notices if line.startswith("servers have no cgroup of their own:")]
    monkeypatch.setattr(LocalSystem, "make_folder", refuse)
    record, notices = one_run(system, tmp_path / "raw2")
    assert record.error == ""
    assert [line for line in notices if line.endswith("no cgroup there: Read-only file system")]


def refuse(system: LocalSystem, path: str) -> None:
    raise OSError(30, "Read-only file system")
