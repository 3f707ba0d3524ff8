"""The shape of the Kunpeng reports: platform table, command, one row a run (`Default-0-0`).

Whoever made such a report seldom interleaved the runs, and the table does not tell; so they are
judged unpaired.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from schedlab.benchmarks.benchmark import REGISTRY
from schedlab.cpulist import format_cpulist
from schedlab.errors import UsageError
from schedlab.machine import Machine
from schedlab.metric import Better, Metric
from schedlab.plan import Plan
from schedlab.record import RunKey, RunRecord
from schedlab.store import CaseInfo, Store

_ROW_NAME = re.compile(r"(?P<variant>.+?)-(?P<run>\d+)-\d+")
_UNIT = re.compile(r"\(([^()]+)\)\s*$")
_LOWER = ("time", "latency", "sec)", "(ms)")
_HIGHER = ("bw", "/sec", "/s)", "throughput", "events", "bandwidth")
_IMPORTED = "imported"


@dataclass(frozen=True)
class _Section:
    """A benchmark of a report: its heading, its command, its table."""

    line: int
    name: str
    command: str
    columns: list[str]
    rows: list[list[str]]


def import_report(path: Path, output: Path, invocation: str) -> Store:
    """Read a report into a result folder.

    Raises:
        UsageError: with file and line, where the report has not this shape.
        StoreError: the folder cannot be written.
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    title = next((line.strip("# ") for line in lines if line.strip()), "")
    environment = dict(_platform(lines))
    sections = list(_sections(path, lines))
    if not sections:
        raise UsageError(f"{path}: has no table of runs below a `## Benchmark` heading.")
    cases = [_case(path, section) for section in sections]
    records = [record for section in sections for record in _records(path, section)]
    variants = list(dict.fromkeys(record.key.variant for record in records))
    if len(variants) < 2:
        raise UsageError(f"{path}: has runs of {', '.join(variants)} only; nothing to compare.")
    runs = max(record.key.block for record in records) + 1
    plan = Plan.model_validate(
        {
            "title": title,
            "target": _IMPORTED,
            "benchmark": [{"name": case.benchmark} for case in cases],
            "variant": [{"name": name} for name in variants],
            "blocks": {"looks": [max(runs, 2)], "warmup": 0},
            "judging": {"paired": False},
        }
    )
    store = Store.create(output, plan, _machine(environment), environment, cases, invocation)
    for position, record in enumerate(records):
        record.position = position
        store.add(record)
    store.note(
        [
            f"imported from {path.name}: what the runs' order was is not told, so they are judged"
            " unpaired; drift between the variants' runs, if any, looks like an effect"
        ]
    )
    return store


def _platform(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    inside = False
    for line in lines:
        if line.startswith("# "):
            inside = line.strip("# ").lower() == "platform"
        cells = _cells(line)
        if inside and len(cells) == 2 and cells[0] != "System" and not cells[0].startswith(":"):
            yield cells[0], cells[1]


def _sections(path: Path, lines: Sequence[str]) -> Iterator[_Section]:
    starts = [i for i, line in enumerate(lines) if line.startswith("## ")]
    for start, end in pairwise([*starts, len(lines)]):
        body = lines[start + 1 : end]
        tables = [_cells(line) for line in body if line.lstrip().startswith("|")]
        if not tables:
            continue
        columns, *rows = [cells for cells in tables if not cells[0].startswith(":")]
        for row in rows:
            if len(row) != len(columns):
                raise UsageError(
                    f"{path}:{start + 1}: {lines[start][3:]}: the row {row[0]} has {len(row)}"
                    f" columns, the table has {len(columns)}."
                )
        fences = [i for i, line in enumerate(body) if line.strip().startswith("~~~")]
        command = " ".join(body[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""
        name = lines[start][3:].strip()
        yield _Section(start + 1, name, " ".join(command.split()), columns, rows)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _case(path: Path, section: _Section) -> CaseInfo:
    known = REGISTRY.get(section.name)
    label = section.columns[1]
    unit = _UNIT.search(label)
    metric = Metric(
        name=known.metrics[0].name if known else label,
        unit=unit[1] if unit else "1/s" if label.casefold().endswith("/sec") else label,
        better=known.metrics[0].better if known else _direction(path, section, label),
        label=label,
    )
    return CaseInfo(
        label=section.name,
        benchmark=section.name,
        summary=known.summary if known else "",
        command=section.command,
        params={},
        metrics=(metric,),
    )


def _direction(path: Path, section: _Section, label: str) -> Better:
    """Guess from a column's name which way is better, or refuse to."""
    folded = label.casefold()
    if any(word in folded for word in _HIGHER):
        return "higher"
    if any(word in folded for word in _LOWER):
        return "lower"
    raise UsageError(
        f"{path}:{section.line}: {section.name}: is more or less of '{label}' better?"
        " No benchmark of that name is known; say Time or Events/sec in the column's name."
    )


def _records(path: Path, section: _Section) -> Iterator[RunRecord]:
    metric = _case(path, section).metrics[0]
    for row in section.rows:
        named = _ROW_NAME.fullmatch(row[0])
        if not named:
            raise UsageError(
                f"{path}:{section.line}: {section.name}: the row '{row[0]}' is not named"
                " VARIANT-RUN-0."
            )
        try:
            value, *counts = (float(cell.replace(",", "")) for cell in row[1:])
        except ValueError:
            raise UsageError(
                f"{path}:{section.line}: {section.name}: the row {row[0]} holds no numbers."
            ) from None
        yield RunRecord(
            key=RunKey(section.name, named["variant"], int(named["run"])),
            position=0,
            seed=0,
            command=section.command,
            metrics={metric.name: value},
            counters=dict(zip(section.columns[2:], counts, strict=True)),
        )


def _machine(environment: dict[str, str]) -> Machine:
    """Describe the machine as far as a platform table tells."""
    cpus = int(environment.get("CPUs", "1"))
    return Machine.model_validate(
        {
            "name": _IMPORTED,
            "title": environment.get("Processor version", ""),
            "arch": environment.get("Architecture", ""),
            "cpus": format_cpulist(range(cpus)),
        }
    )
