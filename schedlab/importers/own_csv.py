"""schedlab's own CSV: a line a figure. Plan, machine, commands and settings are not in it."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NoReturn

from pydantic import TypeAdapter, ValidationError

from schedlab.base.validation import validate
from schedlab.benchmarks import registered
from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers.bounds import HIGHEST, MOST_BLOCKS
from schedlab.importers.number import parse_number, parse_whole, shortened
from schedlab.importers.publication import Publication, imported_machine, imported_plan
from schedlab.importers.source import Source
from schedlab.report.as_csv import COLUMNS
from schedlab.result.boots import boots_of
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo
from schedlab.settings.variant import Variant

_NEEDED = ("benchmark", "variant", "block", "kind", "name", "value")
_CAVEATS = TypeAdapter(tuple[str, ...])
_LOOKS = (6, 12, 24, 40)
"""What a plan has that says nothing of them: the looks are not in the file."""


def read_own_csv(source: Source) -> Publication | None:
    """Read a CSV report, or another with its most important columns; None for another text.

    Raises:
        UsageError: with the line, where a value is missing or does not fit.
    """
    head = source.text.lstrip("\n").partition("\n")[0].strip().split(",")
    if not set(_NEEDED) <= set(head):
        return None
    reader = csv.DictReader(io.StringIO(source.text), restkey="", strict=True)
    records: dict[RunKey, RunRecord] = {}
    boots: dict[RunKey, str] = {}
    metrics: dict[str, dict[str, Metric]] = {}
    baselines: set[str] = set()
    try:
        for row in reader:
            key = _Line(source, reader.line_num, row).read(records, metrics)
            if boot := row.get("boot"):
                boots[key] = boot
            if row.get("baseline") == "1":
                baselines.add(row["variant"])
                if len(baselines) > 1:
                    source.refuse(reader.line_num, f"has two baselines: {sorted(baselines)}.")
    except csv.Error as error:
        source.refuse(reader.line_num, f"is not CSV: {error}.")
    if not records:
        source.refuse(1, "has no runs.")
    if boots and boots.keys() != records.keys():
        source.refuse(1, "names the boot of some runs and not of others.")
    runs = sorted(records.values(), key=lambda record: record.position)
    for position, record in enumerate(runs):
        record.position = position
    variants = _variants(runs, baselines)
    if len(variants) < 2:
        source.refuse(1, f"has runs of {', '.join(variants)} only; nothing to compare.")
    cases = [
        CaseInfo(label, label, "", "", {}, tuple(found.values()))
        for label, found in metrics.items()
    ]
    paired = bool(boots) or _interleaved(runs)
    measured = 1 + max((run.key.block for run in runs), default=0)
    notices = [
        "a CSV does not contain the plan: the looks are taken to be those of a plan that names none"
        if paired
        else "the runs were not interleaved in blocks, so they are judged unpaired"
    ]
    return Publication(
        plan=imported_plan(
            source,
            source.path.stem,
            cases,
            variants,
            _LOOKS if paired else [max(2, measured)],
            paired,
            "boot" if boots else "block",
        ),
        machine=imported_machine(source, {}),
        environment={},
        cases=cases,
        records=runs,
        boots=boots_of(boots[run.key] for run in runs) if boots else [],
        notices=notices,
    )


def _variants(runs: Sequence[RunRecord], baselines: set[str]) -> list[str]:
    """Return the variants in the order of their first runs, the baseline before all others."""
    seen = dict.fromkeys(run.key.variant for run in runs)
    return [*baselines, *(variant for variant in seen if variant not in baselines)]


def _interleaved(runs: Sequence[RunRecord]) -> bool:
    """Return whether the runs of each benchmark went block after block, more than one of them."""
    blocks: dict[str, list[int]] = {}
    for run in runs:
        blocks.setdefault(run.key.case, []).append(run.key.block)
    return all(found == sorted(found) for found in blocks.values()) and any(
        len(set(found)) > 1 for found in blocks.values()
    )


class _Line:
    """One line: a figure of a run."""

    def __init__(self, source: Source, number: int, row: dict[str, str]) -> None:
        self._source = source
        self._number = number
        self._row = row
        if "" in row or None in row.values():
            self._refuse(f"has not the {len(set(row) - {''})} columns of the head")

    def read(
        self, records: dict[RunKey, RunRecord], metrics: dict[str, dict[str, Metric]]
    ) -> RunKey:
        """Record the figure; return the run it is of."""
        key = RunKey(self._row["benchmark"], self._row["variant"], self._whole("block"))
        known = metrics.setdefault(key.case, {})
        record = records.get(key)
        if record is None:
            if not key.case:
                self._refuse("benchmark is empty")
            validate({"name": key.variant}, Variant, f"{self._source.path}:{self._number}: variant")
            record = records[key] = self._record(key, len(records))
        kind, name = self._row["kind"], self._row["name"]
        if kind not in ("metric", "counter", ""):
            self._refuse(f"kind is '{kind}', not metric or counter")
        if not kind:
            return key
        figures = record.metrics if kind == "metric" else record.counters
        if name in figures:
            self._refuse(f"{name} of this run is there already")
        figures[name] = self._number_in("value")
        if kind == "metric":
            if figures[name] <= 0:
                self._refuse(f"{name} is {figures[name]:g}, which is not a result")
            metric = self._metric(key.case, name)
            if known.setdefault(name, metric) != metric:
                self._refuse(f"{name} has another unit or direction than before")
        return key

    def _record(self, key: RunKey, position: int) -> RunRecord:
        status = self._row.get("status") or "ok"
        if status not in ("ok", "failed"):
            self._refuse(f"status is '{status}', not ok or failed")
        busy = self._row.get("busy_during")
        return RunRecord(
            key=key,
            position=self._whole("position", position),
            seed=self._whole("seed", 0),
            command="",
            status="ok" if status == "ok" else "failed",
            error="" if status == "ok" else "a CSV does not say why",
            started=self._row.get("started") or "",
            seconds=self._number_in("seconds") if self._row.get("seconds") else 0.0,
            busy_during=self._number_in("busy_during") if busy else None,
            caveats=self._caveats(),
        )

    def _caveats(self) -> list[str]:
        text = self._row.get("caveats") or "[]"
        try:
            return list(_CAVEATS.validate_json(text))
        except ValidationError:
            self._refuse(f"caveats is '{shortened(text)}', not a list in JSON")

    def _metric(self, case: str, name: str) -> Metric:
        known = next((m for m in self._known(case) if m.name == name), None)
        better: Better
        match self._row.get("better") or (known and known.better):
            case "higher":
                better = "higher"
            case "lower":
                better = "lower"
            case other:
                self._refuse(f"better is '{other or ''}', not higher or lower")
        unit = self._row.get("unit") or (known.unit if known else "")
        return Metric(name, unit, better, known.label if known else name)

    def _known(self, case: str) -> Iterator[Metric]:
        if case in registered():
            yield from registered()[case].metrics

    def _whole(self, column: str, default: int | None = None) -> int:
        text = self._row.get(column) or ""
        if not text and default is not None:
            return default
        try:
            return parse_whole(text, MOST_BLOCKS if column == "block" else HIGHEST)
        except ValueError as error:
            self._refuse(f"{column}: {error}")

    def _number_in(self, column: str) -> float:
        try:
            number = parse_number(self._row[column])
        except ValueError as error:
            self._refuse(f"{column}: {error}")
        if number.unit:
            self._refuse(f"{column} is '{self._row[column]}', not a number alone")
        return number.value

    def _refuse(self, why: str) -> NoReturn:
        self._source.refuse(self._number, f"{why}. The columns are {', '.join(COLUMNS)}.")
