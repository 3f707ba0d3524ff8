"""Imports hold to their bounds, leave nothing when they fail, and say what is damaged."""

import json
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.base.errors import StoreError, UsageError
from schedlab.importers import bounds
from schedlab.importers.files import import_file
from schedlab.judging.analysis import analyse
from schedlab.judging.sessions import compare
from schedlab.report import Report, all_shapes
from schedlab.result.folder import DATABASE
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.fuzz_imports import originals, run
from tests.helpers.report_store import HACKBENCH, SCHED_PIPE, make_store

CAPPED = replace(SCHED_PIPE, caveats=("capped: at a limit",))
HEAD = "benchmark,variant,block,kind,name,value,better,seconds,seed,position\n"
LINES = "x,a,0,metric,t,1,lower,1,1,0\nx,b,0,metric,t,2,lower,1,1,1\n"


def document(folder: Path) -> dict[str, object]:
    """Return a report in JSON as data."""
    with closing(make_store(folder / "whole", [HACKBENCH, SCHED_PIPE], nr_blocks=2)) as store:
        found: dict[str, object] = json.loads(
            all_shapes()["json"].render(Report(store, analyse(store)))
        )
    return found


@contextmanager
def little_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HEAD + "x,A B,0,metric,t,1,lower,1,1,0\n", r":2: variant: name: 'A B' is not a name"),
        (HEAD + ",a,0,metric,t,1,lower,1,1,0\n", r":2: benchmark is empty"),
        (HEAD + "x,a,0,metric,t,1e308,lower,1,1,0\n", r":2: value: '1e308' is out of range"),
        (
            HEAD + "x,a,0,metric,t,1,lower,Infinity,1,0\n",
            r":2: seconds: 'Infinity' is not a number",
        ),
        (
            HEAD + f"x,a,0,metric,t,1,lower,1,{2**63},0\n",
            r":2: seed: 9223372036854775808 is beyond",
        ),
        (HEAD + "x,a,99999999,metric,t,1,lower,1,1,0\n", r":2: block: 99999999 is beyond 1000000"),
        (
            HEAD + LINES + f"x,a,1,metric,t,{'1' * 10_000},lower,1,1,0\n",
            r":4: has a number of more",
        ),
        (
            "# Platform\n|System|Information|\n|:--|:--|\n|CPUs|99999999999|\n"
            "## X\n|Test|Time|\n|A-0-0|1|\n|B-0-0|2|\n",
            r":4: CPUs: 99999999999 is not a number from 1 to the 8192",
        ),
        (
            "Node 0: 208-1\nTest: tip patch\nx: 4.99 (0.00 pct) 4.46 (10.62 pct)\n",
            ":1: '208-1' runs",
        ),
        ("Node 0: 0-99999999999\nTest: tip patch\nx: 4 (0.00 pct) 4.46 (1 pct)\n", ":1: CPU 999"),
        ("## X\n|Test|Time|\n|A B-0-0|1|\n", r":3: variant: name: 'A B' is not a name"),
        ("Test: tip patch\nx: 4 (0.00 pct) 1e999 (1 pct)\n", r":2: '1e999' is out of range"),
        ("x" * 30_000, r":1: is longer than 20,000 characters"),
    ],
)
def test_one_message_with_file_and_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "doc.txt"
    path.write_text(text)
    with little_memory(), pytest.raises(UsageError, match=rf"doc\.txt{why}"):
        import_file(path, tmp_path / "new" / "out", "schedlab import")
    assert not (tmp_path / "new").exists()


def test_bounds_of_whole_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = document(tmp_path)
    data["environment"] = {"Kernel command line": "x" * (5 << 20)}
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match="Kernel command line has 5,242,880 characters"):
        import_file(path, tmp_path / "out", "schedlab import")
    for name in ("MOST_RUNS", "MOST_RESULTS", "MOST_COUNTERS"):
        path.write_text(json.dumps(document(tmp_path / name)))
        with monkeypatch.context() as patch:
            patch.setattr(bounds, name, 1)
            with pytest.raises(UsageError, match=r"doc\.json: has \d+ \w+; 1 are the most"):
                import_file(path, tmp_path / "out", "schedlab import")
    with monkeypatch.context() as patch:
        patch.setattr("schedlab.importers.source.MOST_BYTES", 1000)
        with pytest.raises(UsageError, match="is too large to import"):
            import_file(path, tmp_path / "out", "schedlab import")


def test_a_run_that_is_there_twice(cli: Cli, tmp_path: Path) -> None:
    data = document(tmp_path)
    assert isinstance(data["runs"], list)
    data["runs"].append(data["runs"][-1])
    (tmp_path / "dup.json").write_text(json.dumps(data))
    status, _, err = cli("import", tmp_path / "dup.json", "--output", tmp_path / "out")
    assert (status, "is there twice" in err) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_import_that_ends_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "doc.csv"
    path.write_text(HEAD + LINES)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Store, "note", fail)
    with pytest.raises((StoreError, KeyboardInterrupt)):
        import_file(path, tmp_path / "results" / "out", "schedlab import")
    assert [path.name for path in tmp_path.iterdir()] == ["doc.csv"]


def test_a_merge_that_fails_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_store(tmp_path / name, [HACKBENCH], nr_blocks=2).close()
    status, _, _ = cli("merge", tmp_path / "a", tmp_path / "b", "--output", tmp_path / "m")
    assert status == 2
    status, _, _ = cli(
        *("merge", tmp_path / "a", tmp_path / "b", "--output", tmp_path / "m", "--looks", 0)
    )
    assert status == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_files_that_want_one_folder_are_refused_before_anything_is_written(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "good.csv").write_text(HEAD + LINES)
    (tmp_path / "good.txt").write_text(HEAD + LINES)
    (tmp_path / "bad.csv").write_text("nothing")
    out = tmp_path / "out"
    status, _, err = cli("import", tmp_path / "good.csv", tmp_path / "good.txt", "--output", out)
    assert status == 2
    assert f"would both become {out / 'good'}" in err
    status, _, err = cli("import", tmp_path / "good.csv", tmp_path / "bad.csv", "--output", out)
    assert (status, "bad.csv:1" in err) == (2, True)
    assert not out.exists()


def test_a_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    path.write_text(HEAD + LINES)
    store = import_file(path, tmp_path / "out", "schedlab import")
    assert store.notices[0].startswith(r"imported from caf\udce9.csv")
    assert (tmp_path / "out" / "raw" / r"caf\udce9.csv").is_file()


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x FROM r"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("UPDATE about SET value = '99' WHERE key = 'format'", r"format 99.*reads format 1"),
        ("DELETE FROM about WHERE key = 'plan'", "plan: is missing"),
        ("UPDATE about SET value = 'x' WHERE key = 'plan'", "plan is not JSON"),
        ("UPDATE about SET value = '[]' WHERE key = 'environment'", "environment"),
        ("UPDATE run SET settings = 'x' WHERE position = 1", "table run, position 1: settings"),
        ("UPDATE run SET seconds = 'x' WHERE position = 1", "table run, position 1: seconds"),
        ("UPDATE run SET busy_during = 1.7e308 WHERE position = 1", "position 1: busy_during"),
        ("UPDATE run SET status = 'x' WHERE position = 1", "table run, position 1: status"),
        ("UPDATE figure SET value = -1 WHERE position = 1 AND kind = 'metric'", "position 1: time"),
        ("UPDATE figure SET value = 9e999", "table figure, position 0: .* is inf"),
        ("UPDATE figure SET value = 1.7e308", "table figure, position 0: .* is 1.7e[+]308"),
        ("UPDATE figure SET value = 1e-310", "table figure, position 0: .* is 1e-310"),
        ("DROP TABLE figure", "no such table: figure"),
        (f"DROP TABLE run; CREATE VIEW run AS {ENDLESS}", "no such table: run"),
        (
            f"DROP TABLE figure; CREATE VIEW figure AS {ENDLESS}; PRAGMA writable_schema = ON;"
            " UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE name = 'figure'",
            "figure|longer than any table",
        ),
    ],
)
def test_a_damaged_store_is_one_message(cli: Cli, tmp_path: Path, sql: str, why: str) -> None:
    make_store(tmp_path / "r", [HACKBENCH], nr_blocks=2).close()
    with closing(sqlite3.connect(tmp_path / "r" / DATABASE)) as db, db:
        db.executescript(sql)
    with pytest.raises(StoreError, match=f"(?s){DATABASE}: .*{why}") as found:
        Store.open(tmp_path / "r").records()
    assert "check the disk" not in str(found.value)
    status, _, err = cli("report", tmp_path / "r")
    assert status == 2
    assert err.startswith("schedlab: ")


@pytest.mark.parametrize("content", [b"", b"x" * 5000, b"SQLite format 3\0" + b"\0" * 5000])
def test_a_database_that_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(StoreError, match=DATABASE) as found:
        Store.open(tmp_path)
    assert "check the disk" not in str(found.value)
    assert ("is empty" in str(found.value)) == (not content)


def test_a_later_schedlab_may_add_columns_and_is_named_where_it_changes_more(
    tmp_path: Path,
) -> None:
    make_store(tmp_path / "r", [HACKBENCH], nr_blocks=2).close()
    with closing(sqlite3.connect(tmp_path / "r" / DATABASE)) as db, db:
        db.execute("ALTER TABLE run ADD COLUMN later TEXT")
        db.execute("ALTER TABLE about ADD COLUMN later TEXT")
        db.execute("ALTER TABLE figure ADD COLUMN later TEXT")
    with closing(Store.open(tmp_path / "r")) as store:
        assert len(store.records()) == 6
    with closing(sqlite3.connect(tmp_path / "r" / DATABASE)) as db, db:
        db.execute("UPDATE about SET value = '\"99.0\"' WHERE key = 'version'")
        db.execute("UPDATE about SET value = '{\"later\": 1}' WHERE key = 'plan'")
    with pytest.raises(StoreError, match=r"schedlab 99\.0 wrote it"):
        Store.open(tmp_path / "r")


def test_capped_metrics_are_never_certified_between_sessions(tmp_path: Path) -> None:
    first, second = (make_store(tmp_path / n, [CAPPED], nr_blocks=12) for n in "ab")
    sessions = compare(first, second)
    plain = compare(*(make_store(tmp_path / n, [SCHED_PIPE], nr_blocks=12) for n in "cd"))
    assert "equivalent" in {row.between.word for row in plain.levels}
    assert {row.between.word for row in plain.effects if row.between} == {"equivalent"}
    assert {row.between.word for row in sessions.levels} == {"can't tell"}
    assert {row.between.word for row in sessions.effects if row.between} == {"can't tell"}


def test_a_cap_comes_back_in_every_shape_with_runs(tmp_path: Path) -> None:
    with closing(make_store(tmp_path / "a", [CAPPED], nr_blocks=12)) as store:
        report = Report(store, analyse(store))
        for shape in ("json", "html", "markdown", "csv"):
            path = tmp_path / f"r.{all_shapes()[shape].suffix}"
            path.write_text(all_shapes()[shape].render(report))
            with closing(import_file(path, tmp_path / shape, "schedlab import")) as back:
                (outcome,) = analyse(back).outcomes
                assert "capped: cannot be certified" in outcome.verdict.note, shape


def test_some_hundred_damaged_inputs(tmp_path: Path) -> None:
    """The same as `python -m tests.helpers.fuzz_imports 200`."""
    found = [
        (seed, kind, outcome)
        for seed, kind, outcome in run(originals(tmp_path), range(200))
        if outcome[0] not in ("imported", "refused")
    ]
    assert not found
