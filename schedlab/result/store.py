"""One folder a result: every run in SQLite, one transaction each, and the raw output beside it.

results.sqlite   tables `about` (key, JSON), `run` and `figure` (metrics, counters, draws, ...)
plan.toml        the plan, to be run again from here
inputs/          the files it names
raw/NNNNN-.../   what each run wrote
.lock            held by the lab that adds runs
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from schedlab import __version__
from schedlab.base.errors import StoreError, UsageError, writing
from schedlab.base.system.lock import FileLock, Taken
from schedlab.base.validation import KeptData
from schedlab.benchmarks import Case
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric, in_bounds
from schedlab.benchmarks.replay import Recording
from schedlab.machine.model import Machine
from schedlab.plan.design import Design
from schedlab.plan.plan import Plan
from schedlab.result.boots import Boot
from schedlab.result.folder import DATABASE, check_result
from schedlab.result.later import validate_known
from schedlab.result.plan_files import PlanFiles, PlanGiven
from schedlab.result.printed import Printed
from schedlab.result.record import Amount, Fit, RunRecord

_LOCK = ".lock"
PLAN = "plan.toml"
_OWN = (DATABASE, *(f"{DATABASE}-{end}" for end in ("wal", "shm", "journal")), _LOCK, PLAN, "raw")
"""What may not be a link: a result folder from elsewhere leads nowhere else."""
_LONGEST_VALUE = 256 << 20
"""Bytes of a value in the database."""
_FORMAT = 1
Origin = Literal["run", "import", "merge"]
"""How a result came about; only one that was run can be gone on with."""
PATCHES = "Patches of"
"""How the rows of the environment begin that name a simulated kernel's patches."""
RUN: Origin = "run"
IMPORT: Origin = "import"
MERGE: Origin = "merge"
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE run (
    position INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL, variant TEXT NOT NULL, block INTEGER NOT NULL,
    seed INTEGER NOT NULL, command TEXT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL,
    started TEXT NOT NULL, seconds REAL NOT NULL, exit_status INTEGER,
    settings TEXT NOT NULL, caveats TEXT NOT NULL,
    busy_before REAL, busy_during REAL, cpu_seconds REAL, raw TEXT NOT NULL,
    UNIQUE (benchmark, variant, block)
);
CREATE TABLE figure (
    position INTEGER NOT NULL REFERENCES run, kind TEXT NOT NULL, name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (position, kind, name)
);
"""


_RUN_COLUMNS = (
    *("position", "benchmark", "variant", "block", "seed", "command", "status", "error"),
    *("started", "seconds", "exit_status", "settings", "caveats"),
    *("busy_before", "busy_during", "cpu_seconds", "raw"),
)
_OF_THE_DISK = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS),
}
_LONGEST_REASON = 500
_TABLES = ("about", "run", "figure")
_WAL_MARK = slice(18, 20)
_STEPS_AT_ONCE = 100_000
_FEWEST_STEPS, _STEPS_A_BYTE = 1_000_000, 20
"""Instructions of SQLite that reading a table may take, and those for each byte of the file; it
takes less than one a byte."""
_RECORD = TypeAdapter(RunRecord)
_LINES = TypeAdapter(tuple[str, ...])


@dataclass(frozen=True)
class CaseInfo:
    """What a report says of a benchmark case; independent of the benchmark's module."""

    label: str
    benchmark: str
    summary: str
    command: str
    params: dict[str, int | str]
    metrics: tuple[Metric, ...]
    seconds: float | None = None
    """How long its runs were to take, where the size was fitted to that."""
    replays: str = ""
    """The kind of recording it replays (schedlab/benchmarks/replay.py); empty: none."""
    recording: Recording = field(default_factory=Recording)
    """What there is to say of that recording."""


class _About(KeptData):
    """What a result says of itself, as the database holds it."""

    version: str
    invocation: str
    plan: Plan
    machine: Machine
    environment: dict[str, str]
    cases: tuple[CaseInfo, ...]
    notices: tuple[str, ...]
    printed: tuple[Printed, ...] = ()
    boots: tuple[Boot, ...] = ()
    origin: Origin = RUN
    fits: dict[str, Fit] = {}
    ended: int | None = None
    spent: Amount = 0.0
    plan_files: PlanFiles = PlanFiles()


class Store:
    """The runs of one plan, on disk."""

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, lock: FileLock | None = None
    ) -> None:
        """Take an open database, and the lock of one that is written; use `create` or `open`."""
        self.folder = folder
        self._db = connection
        self._lock = lock
        self._records: list[RunRecord] | None = None
        # A view is a program of whoever wrote it; a table's rows have a place in the file.
        tables = self._rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        for name in _TABLES:
            if (name,) not in tables:
                raise ValueError(f"no such table: {name}")
        data = _decoded(dict(self._rows("SELECT key, value FROM about")))
        _check_format(folder, data)
        try:
            about, self._unknown = validate_known(data, _About, f"{folder / DATABASE}")
        except UsageError as error:
            wrote = data.get("version")
            other = f" (schedlab {wrote} wrote it, this is {__version__})"
            raise ValueError(f"{error}{other if wrote != __version__ else ''}") from None
        self.plan = about.plan
        self.machine = about.machine
        self.environment = about.environment
        self.version = about.version
        self.invocation = about.invocation
        self.origin = about.origin
        self.cases = list(about.cases)
        self.printed = list(about.printed)
        """What was printed beside figures that are not runs but means of others."""
        self.boots = list(about.boots)
        """The boots of the host its runs were made at; none where there was no host."""
        self.fits = dict(about.fits)
        """The sizes that were fitted to seconds, by the labels of their cases."""
        self.ended = about.ended
        """The number of blocks after which a time budget ended the plan, if it did."""
        self.spent = about.spent
        """The seconds of a time budget that are gone, up to the last run."""
        self.plan_files = about.plan_files
        """The plan's files as they were when it began."""

    @classmethod
    def create(
        cls,
        folder: Path,
        plan: Plan,
        machine: Machine,
        environment: dict[str, str],
        cases: Sequence[CaseInfo],
        invocation: str,
        printed: Sequence[Printed] = (),
        boots: Sequence[Boot] = (),
        origin: Origin = RUN,
        again: Plan | None = None,
        inputs: Sequence[Enclosure] = (),
        given: PlanGiven | None = None,
    ) -> "Store":
        """Begin a result in a folder that is new or empty.

        `again` is the plan as it names `inputs`, the files that are kept beside it; `given` is the
        plan file that the user named.

        Raises:
            StoreError: the folder holds something, or cannot be written.
        """
        check_free(folder)
        text = (again or plan).to_toml().encode(errors="backslashreplace").decode()
        with writing(folder, StoreError):
            folder.mkdir(parents=True, exist_ok=True)
            lock = _lock(folder)
            (folder / "raw").mkdir()
            (folder / PLAN).write_text(text, "utf-8")
            for file in inputs:
                (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
                file.put(folder)
        about = {
            "format": _FORMAT,
            "version": __version__,
            "invocation": invocation.encode(errors="backslashreplace").decode(),
            "plan": plan.model_dump(mode="json"),
            "machine": machine.model_dump(mode="json"),
            "environment": environment,
            "cases": [asdict(case) for case in cases],
            "notices": [],
            "printed": [asdict(each) for each in printed],
            "boots": [asdict(boot) for boot in boots],
            "origin": origin,
            "plan_files": PlanFiles.of(text, inputs, given).model_dump(mode="json"),
        }
        with _as_store_error(folder):
            connection = _connect(folder, "rwc")
            with connection:
                connection.executescript(_SCHEMA)
                connection.executemany(
                    "INSERT INTO about VALUES (?, ?)",
                    [(key, json.dumps(value)) for key, value in about.items()],
                )
            return cls(folder, connection, lock)

    @classmethod
    def open(cls, folder: Path, readonly: bool = True) -> "Store":
        """Open a result.

        Raises:
            StoreError: there is none, it is damaged, or another lab adds runs to it.
        """
        path = folder / DATABASE
        for name in _OWN:
            if (folder / name).is_symlink():
                raise StoreError(
                    f"{folder}: {name} is a link: a result's files lie in its own folder."
                    "\n  Copy what it leads to there, if you trust it."
                )
        check_result(folder)
        if not path.stat().st_size:
            raise StoreError(
                f"{path}: is empty (0 bytes): nothing was recorded, or the file was cut off."
                f"\n  What runs wrote, if any, is below {folder}/raw."
            )
        lock = None if readonly else _lock(folder)
        try:
            with _as_store_error(folder):
                connection = _connect(folder, "ro" if readonly else "rw")
                try:
                    store = cls(folder, connection, lock)
                    if store._unknown and not readonly:
                        raise StoreError(
                            f"{path}: a later schedlab wrote it, and this one cannot continue it:"
                            f" {store._unknown[0]}."
                        )
                    return store
                except BaseException:
                    connection.close()
                    raise
        except BaseException:
            if lock:
                lock.release()
            raise

    def check_plan(self) -> None:
        """Refuse a result whose plan.toml is not the plan it began with: runs go by that one."""
        self.plan_files.check(self.folder / PLAN)

    def close(self) -> None:
        """Close the database; one that was written is left as a single file."""
        if self._lock:
            with suppress(sqlite3.Error):  # another process reads it, or the disk is full
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()
        if self._lock:
            self._lock.release()

    def add(self, *records: RunRecord) -> None:
        """Keep runs, all of them whole or none at all; StoreError when the disk refuses."""
        self._records = None
        with _as_store_error(self.folder), self._db:
            self._db.executemany(
                f"INSERT INTO run ({', '.join(_RUN_COLUMNS)})"
                f" VALUES ({','.join('?' * len(_RUN_COLUMNS))})",
                (
                    (
                        *(run.position, run.key.case, run.key.variant, run.key.block),
                        *(run.seed, run.command, run.status, run.error),
                        *(run.started, run.seconds, run.exit_status),
                        *(json.dumps(run.settings), json.dumps(run.caveats)),
                        *(run.busy_before, run.busy_during, run.cpu_seconds, run.raw),
                    )
                    for run in records
                ),
            )
            self._db.executemany(
                "INSERT INTO figure (position, kind, name, value) VALUES (?, ?, ?, ?)",
                (
                    (run.position, kind, name, value)
                    for run in records
                    for kind, values in (
                        *(("metric", run.metrics), ("counter", run.counters)),
                        *(("draw", run.draws), ("trace", {run.trace: 1.0} if run.trace else {})),
                    )
                    for name, value in values.items()
                ),
            )

    def records(self) -> list[RunRecord]:
        """Return every run in run order, warm-up and failed ones too."""
        if self._records is None:
            with _as_store_error(self.folder):
                figures: dict[tuple[int, str], dict[str, float]] = {}
                for position, kind, name, value in self._rows(
                    "SELECT position, kind, name, value FROM figure"
                ):
                    figures.setdefault((position, kind), {})[name] = value
                rows = self._rows(f"SELECT {', '.join(_RUN_COLUMNS)} FROM run ORDER BY position")
                self._records = [_record(row, figures) for row in rows]
        return list(self._records)

    @property
    def notices(self) -> list[str]:
        """Return what the user should know once."""
        with _as_store_error(self.folder):
            found = dict(self._rows("SELECT key, value FROM about WHERE key = 'notices'"))
            return [*self._unknown, *_LINES.validate_json(found["notices"])]

    def note(self, lines: Sequence[str]) -> None:
        """Keep lines the user should know once; a line already kept is not repeated."""
        merged = list(dict.fromkeys([*self.notices, *lines]))
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                "UPDATE about SET value = ? WHERE key = 'notices'", (json.dumps(merged),)
            )

    @property
    def design(self) -> Design:
        """The rules by which the evidence is judged, with the looks as they were taken."""
        return replace(self.plan.design(), ended=self.ended)

    def resize(self, fits: Mapping[str, Fit], cases: Sequence[CaseInfo]) -> None:
        """Keep the sizes that were found, and the cases as they are run with them."""
        self.fits, self.cases = dict(fits), list(cases)
        kept = {
            "fits": {label: asdict(fit) for label, fit in fits.items()},
            "cases": [asdict(case) for case in cases],
        }
        with _as_store_error(self.folder), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                [(key, json.dumps(value)) for key, value in kept.items()],
            )

    def end(self, blocks: int) -> None:
        """Keep that a time budget has ended the plan after so many blocks."""
        self.ended = blocks
        with _as_store_error(self.folder), self._db:
            self._db.execute("INSERT INTO about VALUES ('ended', ?)", (json.dumps(blocks),))

    def spend(self, seconds: float) -> None:
        """Keep how much of a time budget is gone."""
        self.spent = seconds
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO about VALUES ('spent', ?)", (json.dumps(seconds),)
            )

    def went_on(self, boot: str) -> None:
        """Keep that the runs to come are made at another boot."""
        self.boots.append(Boot(boot, len(self.records())))
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                "UPDATE about SET value = ? WHERE key = 'boots'",
                (json.dumps([asdict(boot) for boot in self.boots]),),
            )

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        left = _FEWEST_STEPS + _STEPS_A_BYTE * (self.folder / DATABASE).stat().st_size

        def beyond() -> bool:
            nonlocal left
            left -= _STEPS_AT_ONCE
            return left < 0

        self._db.set_progress_handler(beyond, _STEPS_AT_ONCE)
        try:
            with closing(self._db.execute(query)) as cursor:
                return cursor.fetchall()
        except sqlite3.OperationalError as error:
            if left < 0:
                raise ValueError("reading it takes longer than any table of its size") from error
            raise
        finally:
            self._db.set_progress_handler(None, 0)


def describe(case: Case, command: str) -> CaseInfo:
    """Return what a report says of a case."""
    return CaseInfo(
        label=case.label,
        benchmark=case.benchmark.name,
        summary=case.benchmark.summary,
        command=command,
        params=dict(case.params),
        metrics=case.metrics,
        seconds=case.seconds,
        replays=case.replays,
        recording=case.recording,
    )


def _lock(folder: Path) -> FileLock:
    """Lock a result for this lab to add runs to; StoreError if another lab has it."""
    lock = FileLock(folder / _LOCK)
    try:
        lock.take()
    except Taken as taken:
        raise StoreError(
            f"{folder}: another schedlab{taken.holder} is running this result."
            "\n  Wait for its end, or stop it with Ctrl-C: its results are kept."
        ) from None
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    return lock


def _connect(folder: Path, mode: str) -> sqlite3.Connection:
    path = (folder / DATABASE).resolve()
    options = f"mode={mode}"
    if mode == "ro" and _in_wal_mode(path):
        # SQLite writes beside such a database even to read it, unless nothing can change.
        wal = path.with_name(f"{path.name}-wal")
        if not wal.exists() or not wal.stat().st_size:
            options += "&immutable=1"
        elif not os.access(folder, os.W_OK):
            raise StoreError(
                f"{folder}: was not closed and cannot be written, so its last runs cannot be read."
                "\n  Copy the folder to where you may write, and read it there."
            )
    connection = sqlite3.connect(f"{path.as_uri()}?{options}", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.execute("PRAGMA foreign_keys = ON")
    if mode != "ro":
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def _in_wal_mode(path: Path) -> bool:
    """Return what the header of a database says of its journal."""
    with path.open("rb") as file:
        return file.read(_WAL_MARK.stop)[_WAL_MARK] == b"\2\2"


def _decoded(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the table `about`; ValueError with the key where one is not JSON."""
    found = {}
    for key, value in about.items():
        try:
            found[key] = json.loads(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"table about: {key} is not JSON: {error}") from None
    return found


def _check_format(folder: Path, about: Mapping[str, Any]) -> None:
    """Refuse a result of a later schedlab by its name, not as damaged."""
    if "format" not in about:
        raise ValueError("table about: format is missing")
    if about["format"] != _FORMAT:
        raise StoreError(
            f"{folder / DATABASE}: is of format {about['format']}, written by schedlab"
            f" {about.get('version', 'of an unknown version')}; this is schedlab {__version__},"
            f" which reads format {_FORMAT}."
            "\n  Read it with the schedlab that wrote it, or a later one."
        )


def _record(row: tuple[Any, ...], figures: dict[tuple[int, str], dict[str, float]]) -> RunRecord:
    fields = dict(zip(_RUN_COLUMNS, row, strict=True))
    position = fields["position"]
    key = {"case": fields.pop("benchmark"), **{k: fields.pop(k) for k in ("variant", "block")}}
    try:
        record = _RECORD.validate_python(
            {
                **fields,
                "key": key,
                "metrics": figures.get((position, "metric"), {}),
                "counters": figures.get((position, "counter"), {}),
                "draws": figures.get((position, "draw"), {}),
                "trace": next(iter(figures.get((position, "trace"), {})), ""),
                "settings": json.loads(fields["settings"]),
                "caveats": json.loads(fields["caveats"]),
            }
        )
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ValueError(f"table run, position {position}: {place}: {problem['msg']}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"table run, position {position}: settings or caveats: {error}") from None
    wrong = {name: value for name, value in record.counters.items() if not in_bounds(value)}
    wrong |= {n: v for n, v in record.metrics.items() if v <= 0 or not in_bounds(v)}
    if wrong:
        name, value = next(iter(wrong.items()))
        raise ValueError(f"table figure, position {position}: {name} is {value}")
    return record


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Return a folder to fill, which becomes `folder` when all went well and else is removed.

    Raises:
        StoreError: `folder` holds something, or cannot be written.
    """
    check_free(folder)
    made = [parent for parent in folder.absolute().parents if not parent.exists()]
    with writing(folder, StoreError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder.with_name(f".{folder.name[:100]}-{os.getpid()}")
        beside.mkdir()
    try:
        yield beside
        beside.replace(folder)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if not folder.exists():
            for parent in made:
                with suppress(OSError):
                    parent.rmdir()


def check_free(folder: Path) -> None:
    """Refuse a folder that is not new or empty."""
    with writing(folder, StoreError):
        if folder.exists() and any(folder.iterdir()):
            raise StoreError(
                f"{folder}: is not empty. Name another folder, or continue with --resume {folder}."
            )


@contextmanager
def _as_store_error(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with the database into one message with the right advice."""
    path = folder / DATABASE
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
            raise StoreError(
                f"{path}: cannot be read or written: {error}."
                "\n  Runs recorded before are safe; check the disk, then `schedlab run --resume`."
            ) from error
        raise _damaged(path, str(error)) from error
    except (KeyError, ValueError, OverflowError) as error:
        raise _damaged(path, str(error).removeprefix(f"{path}: ")) from error


def _damaged(path: Path, why: str) -> StoreError:
    why = why.rstrip(".") if len(why) <= _LONGEST_REASON else f"{why[: _LONGEST_REASON - 3]}..."
    return StoreError(
        f"{path}: is damaged, or written by another version of schedlab: {why}."
        f"\n  What runs wrote is below {path.parent}/raw; a copy of the file may still be whole."
    )
