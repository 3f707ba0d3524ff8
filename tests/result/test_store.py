"""The store: what goes in comes out; a full or read-only disk loses nothing recorded."""

import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from schedlab.base.errors import StoreError
from schedlab.benchmarks.metric import Metric
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.result.folder import DATABASE
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store

PLAN = Plan.model_validate({"suite": "quick", "variant": [{"name": "a"}, {"name": "b"}]})
MACHINE = Machine.model_validate(
    {"name": "m", "arch": "x86_64", "memory_gib": 8, "cpus": "0-3", "topology": {}}
)
CASE = CaseInfo("c", "B", "does", "b --x", {"loops": 3}, (Metric("time", "s", "lower", "Time"),))


def new_store(folder: Path) -> Store:
    return Store.create(folder, PLAN, MACHINE, {"Kernel release": "6.1"}, [CASE], "schedlab run")


def record(position: int = 0, **more: object) -> RunRecord:
    run = RunRecord(RunKey("c", "ab"[position % 2], position // 2), position, 7, "b --x")
    for name, value in more.items():
        setattr(run, name, value)
    return run


def test_everything_comes_back(tmp_path: Path) -> None:
    store = new_store(tmp_path / "new" / "result")
    full = record(
        0,
        metrics={"time": 1.25},
        counters={"sched:x": 3.0},
        settings={"kernel.x": "1"},
        caveats=["capped"],
        busy_before=0.5,
        busy_during=0.25,
        cpu_seconds=2.0,
        started="2026-11-21T21:00:00+00:00",
        seconds=1.5,
        exit_status=0,
        raw="raw/00000",
    )
    failed = record(1, status="failed", error="no 'Time:' line", exit_status=-9)
    store.add(full)
    store.add(failed)
    store.note(["one", "two"])
    store.note(["two", "three"])
    store.close()
    again = Store.open(tmp_path / "new" / "result")
    assert again.records() == [full, failed]
    assert again.notices == ["one", "two", "three"]
    assert (again.plan, again.machine, again.cases) == (PLAN, MACHINE, [CASE])
    assert again.environment == {"Kernel release": "6.1"}
    assert (tmp_path / "new" / "result" / "plan.toml").read_text().startswith('suite = "quick"')


def test_a_run_is_recorded_once(tmp_path: Path) -> None:
    store = new_store(tmp_path / "r")
    store.add(record(0))
    with pytest.raises(StoreError, match="UNIQUE"):
        store.add(record(0))
    assert len(store.records()) == 1


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 1000])
def test_a_folder_that_is_no_result(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "results.sqlite").write_bytes(content)
    with pytest.raises(StoreError):
        Store.open(tmp_path)


def test_a_result_of_a_later_format_is_not_guessed_at(tmp_path: Path) -> None:
    new_store(tmp_path / "r").close()
    with sqlite3.connect(tmp_path / "r" / "results.sqlite") as db:
        db.execute("UPDATE about SET value = '99' WHERE key = 'format'")
    with pytest.raises(StoreError, match="format 99"):
        Store.open(tmp_path / "r")


def test_what_a_later_version_added_is_named_and_not_gone_on_with(tmp_path: Path) -> None:
    new_store(tmp_path / "r").close()
    with closing(sqlite3.connect(tmp_path / "r" / DATABASE)) as db, db:
        db.execute("UPDATE about SET value = json_set(value, '$.mood', 1) WHERE key = 'plan'")
    with pytest.raises(StoreError, match="unknown key"):
        Store.open(tmp_path / "r")
    with closing(sqlite3.connect(tmp_path / "r" / DATABASE)) as db, db:
        db.execute("""UPDATE about SET value = '"9.0.0"' WHERE key = 'version'""")
    with closing(Store.open(tmp_path / "r")) as store:
        assert store.notices[0].startswith("plan.mood: schedlab 9.0.0 wrote it")
    with pytest.raises(StoreError, match=r"cannot continue it: plan\.mood"):
        Store.open(tmp_path / "r", readonly=False)


def test_a_folder_that_holds_something_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("dear")
    with pytest.raises(StoreError, match="is not empty"):
        new_store(tmp_path)


def test_a_folder_that_cannot_be_written() -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        new_store(Path("/proc/schedlab-result"))


def assert_read_without_trace(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    with closing(Store.open(folder)) as again:
        assert again.records() == [record(0)]
        assert sorted(path.name for path in folder.iterdir()) == before
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_closed_result_is_one_file_and_reading_leaves_it_so(tmp_path: Path) -> None:
    with closing(new_store(tmp_path / "r")) as store:
        store.add(record(0))
    assert [path.name for path in (tmp_path / "r").glob("results.sqlite*")] == ["results.sqlite"]
    assert_read_without_trace(tmp_path / "r")
    Store.open(tmp_path / "r", readonly=False).close()
    assert_read_without_trace(tmp_path / "r")


@pytest.mark.parametrize("writable", [True, False])
def test_an_empty_wal_that_a_reader_left_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    with closing(new_store(tmp_path / "r")) as store:
        store.add(record(0))
    path = tmp_path / "r" / DATABASE
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    monkeypatch.setattr("os.access", lambda path, mode: writable)
    assert_read_without_trace(tmp_path / "r")
    for kind in ("wal", "shm"):
        path.with_name(f"{DATABASE}-{kind}").touch()
    assert_read_without_trace(tmp_path / "r")


def test_a_result_that_is_read_while_it_is_closed(tmp_path: Path) -> None:
    store = new_store(tmp_path / "r")
    store.add(record(0))
    with closing(Store.open(tmp_path / "r")) as reader:
        store.close()
        assert reader.records() == [record(0)]
    assert_read_without_trace(tmp_path / "r")


def test_a_result_that_cannot_be_written_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path / "r")
    store.add(record(0))
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(StoreError, match="was not closed"):
        Store.open(tmp_path / "r")
    store.close()
    assert_read_without_trace(tmp_path / "r")


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """Let no file grow beyond `limit`, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_loses_nothing_recorded(tmp_path: Path) -> None:
    store = new_store(tmp_path / "r")
    store.add(record(0, metrics={"time": 1.0}))
    big = {f"counter {i}": 1.0 for i in range(3000)}
    with full_disk(100_000), pytest.raises(StoreError, match="Runs recorded before are safe"):
        store.add(record(1, counters=big))
    assert [run.position for run in store.records()] == [0]
    store.add(record(1, metrics={"time": 2.0}))
    store.close()
    assert [run.metrics for run in Store.open(tmp_path / "r").records()] == [
        {"time": 1.0},
        {"time": 2.0},
    ]
