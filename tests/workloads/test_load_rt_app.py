"""rt-app's files on this host: our reader, our threads and rt-app itself."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedlab.base.data import data_folder
from schedlab.benchmarks.rt_app import read_log
from schedlab.benchmarks.rt_app_file import RtAppFile
from schedlab.lab.recording.workload import Item, RecordedTask, RecordedWorkload
from tests.helpers.load import start
from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.rt_app_files import EXAMPLES, NATIVE, ROWS, files

SLOW = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MANY = settings(parent=SLOW, max_examples=120)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return start("rt-app", *map(str, words))


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """The workload as a program that finds its own errors of memory and arithmetic."""
    for tool in ("make", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is needed")
    out = tmp_path_factory.mktemp("sanitized")
    make = ["make", "-j2", "-C", data_folder("workloads"), f"O={out}", "SANITIZE=1"]
    subprocess.run(make, check=True, capture_output=True)
    # What lives to the end of a run is not lost.
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [out / "schedlab-load", "rt-app", *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
            env=env,
        )

    return run


def logs(folder: Path) -> dict[str, Path]:
    return {path.stem.partition("-")[2]: path for path in sorted(folder.glob("*.log"))}


@pytest.mark.parametrize("file", NATIVE, ids=lambda file: file.stem)
def test_examples(tmp_path: Path, file: Path) -> None:
    done = run("--file", file, "--logdir", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: len(read_log(path)) for name, path in logs(tmp_path).items()} == ROWS[file.stem]


@pytest.mark.skipif(shutil.which("rt-app") is None, reason="rt-app is not installed")
@pytest.mark.parametrize("file", NATIVE, ids=lambda file: file.stem)
def test_rt_app_writes_the_same_logs(tmp_path: Path, file: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ours.mkdir()
    theirs.mkdir()
    enclosed = RtAppFile(str(file)).for_rt_app()
    enclosed.put(theirs)
    subprocess.run(
        ["rt-app", enclosed.name],
        cwd=theirs,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert run("--file", file, "--logdir", ours).returncode == 0
    assert logs(theirs).keys() == logs(ours).keys()
    for name, log in logs(theirs).items():
        other = logs(ours)[name]
        assert log.read_text().splitlines()[:2] == other.read_text().splitlines()[:2]
        rows, others = read_log(log), read_log(other)
        assert [row.c_duration for row in rows] == [row.c_duration for row in others]
        assert [row.c_period for row in rows] == [row.c_period for row in others]
        if "runtime" not in file.read_text():
            assert [row.perf for row in rows] == [row.perf for row in others]


def test_what_stands_in_a_row(tmp_path: Path) -> None:
    run("--file", EXAMPLES[-2], "--logdir", tmp_path)
    assert EXAMPLES[-2].stem == "periodic"
    rows = read_log(tmp_path / "periodic-tick-0.log")
    for before, row in pairwise(rows):
        assert before.end <= row.start
    for row in rows:
        assert abs(row.end - row.start - row.period) <= 1
        assert row.period >= row.run
        assert row.perf == 500 * 1000 // 20
    first = rows[0].start - rows[0].rel_st
    assert all(abs(row.start - row.rel_st - first) <= 1 for row in rows)


TASK = '{"tasks" : {"a" : {\n"loop" : 1, %s}}}'
WRONG = [
    ("", "1: '[' or '{' expected"),
    ('{ "tasks" : {\n"a" : { "run" : 1', "2: '}' expected"),
    ("[" * 40, " brackets are nested deeper than 32"),
    ("[]", "1: an object { ... } is expected"),
    ("{}", '1: "tasks" is missing'),
    ('{"tasks" : {}}', "1: tasks: there is no task in it"),
    ('{"tasks" : {"a" : {"run" : 1}}}', "1: tasks.a: its loop never ends"),
    (TASK % '"perod" : 3', "2: tasks.a.perod: unknown key"),
    (TASK % '"run" : "1"', "2: tasks.a.run: a whole number is expected"),
    (TASK % '"run2" : 1.5', "2: tasks.a.run2: a whole number is expected"),
    (TASK % '"sleep" : -1', "2: tasks.a.sleep: -1 is not within"),
    (TASK % '"run"', "2: tasks.a.run: a whole number is expected"),
    (
        TASK % '"run" : 1,\n"loop" : 2',
        "3: tasks.a.loop: stands here a second time, first in line 2",
    ),
    (TASK % '"timer" : 5', "2: tasks.a.timer: an object"),
    (TASK % '"timer" : {"period" : 5}', '2: tasks.a.timer: "ref" is missing'),
    (TASK % '"timer" : {"ref" : "t", "period" : 5, "mode" : "x"}', "2: tasks.a.timer.mode: "),
    (TASK % '"wait" : {"ref" : "c"}', '2: tasks.a.wait: "mutex" is missing'),
    (TASK % '"resume"', "2: tasks.a.resume: a text is expected"),
    (TASK % '"fork" : "b"', '2: tasks.a.fork: no task "b"'),
    (TASK % '"run" : 1, "cpus" : [0, 9999]', "2: tasks.a.cpus: there is no CPU 9999"),
    (TASK % '"run" : 1, "cpus" : []', "2: tasks.a.cpus: a list of CPUs is expected"),
    (TASK % '"run" : 1, "priority" : 50', "2: tasks.a.priority: 50 is not within -20..19"),
    (TASK % '"run" : 1, "policy" : "FIFO"', '2: tasks.a.policy: "FIFO": one of'),
    (TASK % '"run" : 1, "policy" : "SCHED_DEADLINE"', '1: tasks.a: SCHED_DEADLINE needs "dl-ru'),
    (TASK % '"run" : 1, "dl-period" : 5', "2: tasks.a.dl-period: belongs beside"),
    (TASK % '"run" : 1, "slice" : 99', "2: tasks.a.slice: 99 is not within 100..100000"),
    (
        TASK % '"run" : 1, "slice" : 900, "policy" : "SCHED_IDLE"',
        "2: tasks.a.slice: a task of SCHED_IDLE has no slice",
    ),
    (TASK % '"run" : 1, "taskgroup" : "x"', '2: tasks.a.taskgroup: "x" does not begin with /'),
    (TASK % '"run" : 1, "phases" : {"p" : {"run" : 1}}', "2: tasks.a.run: an event beside phases"),
    (TASK % '"phases" : {"p" : {"loop" : 2}}', "2: tasks.a.phases.p: there is no event"),
    (TASK % '"phases" : {"p" : {"run" : 2, "delay" : 1}}', "2: tasks.a.phases.p.delay: unknown"),
    (TASK % '"memrun" : {}', "2: tasks.a.memrun: reading and chasing"),
    (TASK % '"sem_wait" : "s"', "2: tasks.a.sem_wait: semaphores are not modelled"),
    ('{"global" : {"pi_enabled" : true}, "tasks" : {}}', "1: global.pi_enabled: mutexes that hand"),
    ('{"global" : {"calibration" : "CPUx"}, "tasks" : {}}', '1: global.calibration: "CPUx": '),
    ('{"global" : {"io_device" : "/x"},\n"tasks" : {"a" : {"iorun" : 1}}}', "2: tasks.a.iorun: "),
    ('{"resources" : {"m" : {"type" : "x"}}, "tasks" : {}}', "1: resources.m.type: "),
    ('{"tasks" : {"a\\nb" : {"loop" : 1, "run" : 1}}}', "1: tasks.a?b: a task's name"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(
    sanitized: Callable[..., Any], tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    done = sanitized("--file", file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"schedlab-load rt-app: {file}:{message}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_files_and_folders_that_are_none(tmp_path: Path) -> None:
    for arguments, message in [
        ((), "no file is named"),
        (("--file", tmp_path / "none.json"), "No such file"),
        (("--file", tmp_path), "Is a directory"),
        (("--file", EXAMPLES[0], "--logdir", tmp_path / "none"), "is not a folder"),
    ]:
        done = run(*arguments)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@SLOW
@given(files())
def test_any_right_file_runs(
    sanitized: Callable[..., Any], tmp_path: Path, drawn: tuple[str, dict[str, int]]
) -> None:
    text, rows = drawn
    for left in tmp_path.iterdir():
        left.unlink()
    (tmp_path / "x.json").write_text(text)
    done = sanitized("--file", tmp_path / "x.json", "--logdir", tmp_path)
    assert done.returncode == 0, done.stderr
    found = {path.stem.removeprefix("rt-app-"): path for path in tmp_path.glob("*.log")}
    assert {name: len(read_log(path)) for name, path in found.items()} == rows


@MANY
@given(
    st.sampled_from([path.read_bytes() for path in EXAMPLES]),
    st.lists(
        st.tuples(
            st.integers(min_value=0),
            st.integers(0, 20),
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from([b'"', b"{", b"}", b"]", b",", b"\\", b"/*", b"null", b"-1", b"@"]),
            ),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_no_damage_to_a_file_breaks_the_reader(
    sanitized: Callable[..., Any], tmp_path: Path, text: bytes, damage: list[tuple[int, int, bytes]]
) -> None:
    for place, length, instead in damage:
        at = place % (len(text) + 1)
        text = text[:at] + instead + text[at + length :]
    (tmp_path / "x.json").write_bytes(text)
    # A folder that is not there: what is still right is refused after it has been read.
    done = sanitized("--file", tmp_path / "x.json", "--logdir", tmp_path / "none")
    assert done.returncode == 2
    assert re.fullmatch(r"schedlab-load rt-app: [^\n]+\n", done.stderr), done.stderr


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    """Two tasks hand a token to and fro, started by a third; all of it ends."""
    tasks = [
        RecordedTask(1, "main", "1000 +2 +3"),
        RecordedTask(2, "a", " ".join([">3 500 w"] * 20), {"instance": 0}),
        RecordedTask(3, "b", " ".join(["w 500 >2"] * 20), {"instance": 0}),
    ]
    file = tmp_path / "x.slw"
    RecordedWorkload(tasks, {}).write(file)
    done = run("--file", file, "--json")
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each["value"] for each in json.loads(done.stdout)["results"]}
    assert 0 < found["time"] < PATIENCE_SECONDS
    file.write_text(file.read_text().replace(">3 500 w", "?3", 1))
    done = run("--file", file)
    assert done.returncode == 2
    assert 'tasks.a-2.replay: "?3 >3 500 w' in done.stderr


def test_objects_of_a_recording_are_shared(tmp_path: Path) -> None:
    """Each turn needs the lock, the barrier and an item; nobody waits for ever."""
    turn = "l1 1000 u1 y b1"
    tasks = [
        RecordedTask(1, "a", " ".join([f"{turn} p{n}" for n in range(1, 21)] + ["b1"])),
        RecordedTask(2, "b", " ".join([turn] * 20 + ["q1 b1"])),
        RecordedTask(3, "c", " ".join([turn] * 20 + ["q1 b1"])),
    ]
    file = tmp_path / "x.slw"
    items = [Item(1, "l1 20000 u1 y")] * 20
    RecordedWorkload(tasks, {}, barriers=[3], items=items).write(file)
    done = run("--file", file, "--json")
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each["value"] for each in json.loads(done.stdout)["results"]}
    assert 0 < found["work rate"] < os.cpu_count()
    text = file.read_text()
    for right, wrong, why in (
        ("p20 b1", "p21 b1", "no such item"),
        ("q1 b1", "q2 b1", "no item of the file is of such a pool"),
        ("y b1 p1 ", "y b2 p1 ", "no such barrier"),
        ("l1 20000", "l0 20000", "from 1 to"),
        ("20000 u1 y", "20000 w", "neither w nor q"),
        ("p20 b1", "p19 b1", "the item is put more than once"),
        ('"loop":1', '"loop":9', "a replay is done once"),
        ('"c-3"', '"c-2"', "another task has the same number"),
        ("p20 b1", "p20 +2 b1", "it is started more than once"),
    ):
        file.write_text(text.replace(right, wrong, 1))
        done = run("--file", file)
        assert done.returncode == 2 and why in done.stderr, done.stderr


def test_tasks_of_other_processes_are_processes_again(tmp_path: Path) -> None:
    """A build: processes that start and await others, one by one and all at once, and threads."""
    alone = {"instance": 0}
    tasks = [
        RecordedTask(1, "make", "1000000 +2 j2 +3 +4 j3 j4 >9 w", {"process": 1}),
        RecordedTask(2, "sh", "200000 +5 j5", {"process": 2, **alone}),
        RecordedTask(5, "cc", "300000", {"process": 3, **alone}),
        RecordedTask(3, "sh", "200000 +6 100000", {"process": 4, **alone}),
        RecordedTask(6, "thread", "900000", {"process": 4, **alone}),
        RecordedTask(4, "thread", "200000", {"process": 1, **alone}),
        RecordedTask(9, "server", "w 1000 >1", {"process": 7}),
        RecordedTask(10, "thread", "5000", {"process": 7}),
        RecordedTask(
            *(
                11,
                "many",
                " ".join([f"+{n} j{n}" if n < 120 else f"+{n}" for n in range(100, 260)]),
            ),
            {"process": 8},
        ),
        *(RecordedTask(n, "child", "20000", {"process": n, **alone}) for n in range(100, 260)),
    ]
    file = tmp_path / "x.slw"
    RecordedWorkload(tasks, {}).write(file)
    for _ in range(3):
        done = run("--file", file, "--json")
        assert done.returncode == 0, done.stderr
    file.write_text(file.read_text().replace("j2 ", "j77 ", 1))
    assert "no task's name ends in -77" in run("--file", file).stderr
