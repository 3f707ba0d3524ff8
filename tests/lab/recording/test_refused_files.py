"""What no run would take of a workload file is refused when it is read, and told by `show`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording import workload
from schedlab.lab.recording.showing import describe
from schedlab.lab.recording.workload import read_workload
from tests.helpers.command_line import Cli

GLOBAL = {"duration": -1, "calibration": 1}


def written(folder: Path, tasks: dict[str, object], **shared: object) -> Path:
    file = folder / "x.slw"
    recorded = {"version": 1, "source": "x", "seconds": 1}
    file.write_text(json.dumps({"recorded": recorded, "global": GLOBAL, **shared, "tasks": tasks}))
    return file


def task(words: str, **settings: object) -> dict[str, object]:
    return {"loop": 1, "replay": words, **settings}


REFUSED = {
    "a task's name has 1 to 40": ({f"{'a' * 39}-1": task("1")}, {}),
    "a task's name has 1 to 40 characters and no /": ({"a/b-1": task("1")}, {}),
    "no task begins": ({"a-1": task("1", instance=0)}, {}),
    "locks have numbers from 1": ({"a-1": task("l0 1 u0")}, {}),
    "gates have numbers from 1 to 1000000": ({"a-1": task("o1000001")}, {}),
    "an item belongs to no task": (
        {"a-1": task("p1 q1")},
        {"items": {"1": {"pool": 1, "replay": "1 w"}}},
    ),
    "messages.2: channel 1 is of another kind": (
        {"a-1": task("m1 r2")},
        {
            "messages": {
                "1": {"kind": "pipe", "channel": 1, "bytes": 1},
                "2": {"kind": "unix", "channel": 1, "bytes": 1},
            }
        },
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_run_takes_is_refused(cli: Cli, tmp_path: Path, message: str) -> None:
    tasks, shared = REFUSED[message]
    file = written(tmp_path, tasks, **shared)
    status, _, err = cli("workload", "show", file)
    assert (status, message in err, str(file) in err) == (2, True, True), err


def test_words_are_read_once_for_all_checks_and_twice_for_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading words is most of what a large file costs."""
    read: list[str] = []

    def counted(words: str, where: str) -> Iterator[tuple[str, int]]:
        read.append(where)
        return read_words(words, where)

    read_words = workload.read_words
    monkeypatch.setattr(workload, "read_words", counted)
    tasks = {"a-1": task("5000 p1 p2 >2"), "b-2": task("q1 w 5000")}
    items = {str(number): {"pool": 1, "replay": "700"} for number in (1, 2)}
    made = read_workload(written(tmp_path, tasks, items=items))
    assert len(read) == 4
    list(describe(made))
    assert len(read) == 3 * 4


def test_the_same_is_refused_natively(tmp_path: Path) -> None:
    """The limits are those of workloads/rt-app-file.c."""
    from schedlab.base.system import LocalSystem
    from schedlab.kernels.native import schedlab_load

    for tasks, shared in REFUSED.values():
        file = written(tmp_path, tasks, **shared)
        argv = (str(schedlab_load()), "rt-app", "--file", str(file))
        assert LocalSystem().capture(argv).returncode, file.read_text()


def test_a_lock_that_is_not_held_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, {"a-1": task("1 u1"), "b-2": task("l1 1 u1"), "c-3": task("u2")})
    told = "\n".join(describe(read_workload(file)))
    assert "note: tasks.a-1: u1 gives back a lock that it does not hold then, and 1 more" in told
    file = written(tmp_path, {"b-2": task("l1 1 l2 u1 u2")})
    assert "gives back" not in "\n".join(describe(read_workload(file)))


def test_a_name_that_runs_is_read(tmp_path: Path) -> None:
    read_workload(written(tmp_path, {f"{'a' * 38}-1": task("1")}))
    with pytest.raises(UsageError):
        read_workload(written(tmp_path, {}))
