"""One folder a result: every run in SQLite, one transaction each, and the raw output beside it.

results.sqlite   tables `about` (key, JSON), `run` and `figure` (metrics and counters of a run)
plan.toml        the plan as it was run
raw/NNNNN-.../   what each run wrote
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from schedlab import __version__
from schedlab.benchmarks import Case
from schedlab.boots import Boot
from schedlab.errors import StoreError
from schedlab.machine import Machine
from schedlab.metric import Metric
from schedlab.plan import Plan
from schedlab.printed import Printed
from schedlab.record import RunKey, RunRecord

DATABASE = "results.sqlite"
_FORMAT = 1
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


@dataclass(frozen=True)
class CaseInfo:
    """What a report says of a benchmark case; independent of the benchmark's module."""

    label: str
    benchmark: str
    summary: str
    command: str
    params: dict[str, int | str]
    metrics: tuple[Metric, ...]


class Store:
    """The runs of one plan, on disk."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Take an open database; use `create` or `open`."""
        self.folder = folder
        self._db = connection
        self._records: list[RunRecord] | None = None
        about = {key: json.loads(value) for key, value in self._rows("SELECT * FROM about")}
        if about["format"] != _FORMAT:
            raise StoreError(
                f"{folder}: is of format {about['format']}; this schedlab reads {_FORMAT}."
            )
        self.plan = Plan.model_validate(about["plan"])
        self.machine = Machine.model_validate(about["machine"])
        self.environment: dict[str, str] = about["environment"]
        self.version: str = about["version"]
        self.invocation: str = about["invocation"]
        self.cases = [_case_info(item) for item in about["cases"]]
        self.printed = [_printed(item) for item in about.get("printed", [])]
        """What was printed beside figures that are no runs but means of others."""
        self.boots = [Boot(**item) for item in about.get("boots", [])]
        """The boots of the host its runs were made at; none where there was no host."""

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
    ) -> "Store":
        """Begin a result in a folder that is new or empty.

        Raises:
            StoreError: the folder holds something, or cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise StoreError(
                    f"{folder}: is not empty. Name another folder, or go on with --resume {folder}."
                )
            (folder / "raw").mkdir()
            (folder / "plan.toml").write_text(plan.to_toml())
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
        about = {
            "format": _FORMAT,
            "version": __version__,
            "invocation": invocation,
            "plan": plan.model_dump(mode="json"),
            "machine": machine.model_dump(mode="json"),
            "environment": environment,
            "cases": [asdict(case) for case in cases],
            "notices": [],
            "printed": [asdict(each) for each in printed],
            "boots": [asdict(boot) for boot in boots],
        }
        with _as_store_error(folder):
            connection = _connect(folder, "rwc")
            with connection:
                connection.executescript(_SCHEMA)
                connection.executemany(
                    "INSERT INTO about VALUES (?, ?)",
                    [(key, json.dumps(value)) for key, value in about.items()],
                )
            return cls(folder, connection)

    @classmethod
    def open(cls, folder: Path, readonly: bool = True) -> "Store":
        """Open a result; StoreError where there is none or it is damaged."""
        if not (folder / DATABASE).is_file():
            raise StoreError(f"{folder}: is no result folder (it has no {DATABASE}).")
        with _as_store_error(folder):
            return cls(folder, _connect(folder, "ro" if readonly else "rw"))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def add(self, record: RunRecord) -> None:
        """Keep a run, whole or not at all; StoreError when the disk refuses."""
        key = record.key
        self._records = None
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                f"INSERT INTO run VALUES ({','.join('?' * 17)})",
                (
                    *(record.position, key.case, key.variant, key.block),
                    *(record.seed, record.command, record.status, record.error),
                    *(record.started, record.seconds, record.exit_status),
                    *(json.dumps(record.settings), json.dumps(record.caveats)),
                    *(record.busy_before, record.busy_during, record.cpu_seconds, record.raw),
                ),
            )
            figures = [("metric", record.metrics), ("counter", record.counters)]
            self._db.executemany(
                "INSERT INTO figure VALUES (?, ?, ?, ?)",
                [
                    (record.position, kind, name, value)
                    for kind, values in figures
                    for name, value in values.items()
                ],
            )

    def records(self) -> list[RunRecord]:
        """Give every run in run order, warm-up and failed ones too."""
        if self._records is None:
            with _as_store_error(self.folder):
                figures: dict[tuple[int, str], dict[str, float]] = {}
                for position, kind, name, value in self._rows("SELECT * FROM figure"):
                    figures.setdefault((position, kind), {})[name] = value
                rows = list(self._rows("SELECT * FROM run ORDER BY position"))
            self._records = [_record(row, figures) for row in rows]
        return list(self._records)

    @property
    def notices(self) -> list[str]:
        """Give what the user should know once."""
        ((value,),) = self._rows("SELECT value FROM about WHERE key = 'notices'")
        notices: list[str] = json.loads(value)
        return notices

    def note(self, lines: Sequence[str]) -> None:
        """Keep lines the user should know once; a line already kept is not repeated."""
        merged = list(dict.fromkeys([*self.notices, *lines]))
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                "UPDATE about SET value = ? WHERE key = 'notices'", (json.dumps(merged),)
            )

    def went_on(self, boot: str) -> None:
        """Keep that the runs to come are made at another boot."""
        self.boots.append(Boot(boot, len(self.records())))
        with _as_store_error(self.folder), self._db:
            self._db.execute(
                "UPDATE about SET value = ? WHERE key = 'boots'",
                (json.dumps([asdict(boot) for boot in self.boots]),),
            )

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        with closing(self._db.execute(query)) as cursor:
            yield from cursor


def describe(case: Case, command: str) -> CaseInfo:
    """Give what a report says of a case."""
    return CaseInfo(
        label=case.label,
        benchmark=case.benchmark.name,
        summary=case.benchmark.summary,
        command=command,
        params=dict(case.params),
        metrics=case.metrics,
    )


def _connect(folder: Path, mode: str) -> sqlite3.Connection:
    path = (folder / DATABASE).resolve()
    options = f"mode={mode}"
    if mode == "ro" and not os.access(folder, os.W_OK):
        # SQLite wants to write beside a WAL database even to read it, unless nothing can change.
        if path.with_name(f"{DATABASE}-wal").exists():
            raise StoreError(
                f"{folder}: was not closed and cannot be written, so its last runs cannot be read."
                "\n  Copy the folder to where you may write, and read it there."
            )
        options += "&immutable=1"
    connection = sqlite3.connect(f"{path.as_uri()}?{options}", uri=True)
    connection.execute("PRAGMA foreign_keys = ON")
    if mode != "ro":
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def _case_info(item: dict[str, Any]) -> CaseInfo:
    metrics = tuple(Metric(**metric) for metric in item["metrics"])
    return CaseInfo(**{**item, "metrics": metrics})


def _printed(item: dict[str, Any]) -> Printed:
    return Printed(**{**item, "doubts": tuple(item["doubts"])})


def _record(row: tuple[Any, ...], figures: dict[tuple[int, str], dict[str, float]]) -> RunRecord:
    position, case, variant, block, seed, command, status, error = row[:8]
    started, seconds, exit_status, settings, caveats = row[8:13]
    busy_before, busy_during, cpu_seconds, raw = row[13:]
    return RunRecord(
        key=RunKey(case, variant, block),
        position=position,
        seed=seed,
        command=command,
        status=status,
        error=error,
        started=started,
        seconds=seconds,
        exit_status=exit_status,
        metrics=figures.get((position, "metric"), {}),
        counters=figures.get((position, "counter"), {}),
        settings=json.loads(settings),
        caveats=json.loads(caveats),
        busy_before=busy_before,
        busy_during=busy_during,
        cpu_seconds=cpu_seconds,
        raw=raw,
    )


@contextmanager
def _as_store_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, KeyError, ValueError) as error:
        raise StoreError(
            f"{folder}: the results cannot be read or written: {error}."
            "\n  Runs recorded before are safe; check the disk, then `schedlab run --resume`."
        ) from error
