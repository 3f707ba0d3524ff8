"""The shape of the Kunpeng reports: platform table, command, one row a run (`Default-0-0`).

Whoever made such a report seldom interleaved the runs, and the table does not say; so they are
judged unpaired.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from schedlab.base.validation import validate
from schedlab.benchmarks import registered
from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers.number import parse_number
from schedlab.importers.publication import Publication, imported_machine, imported_plan
from schedlab.importers.source import Line, Source
from schedlab.importers.sysbench_slips import sysbench_slips
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo
from schedlab.settings.variant import Variant

_ROW_NAME = re.compile(r"(?P<variant>.+?)-(?P<run>\d+)-\d+")
_UNIT = re.compile(r"\(([^()]+)\)\s*$")
_LOWER = ("time", "latency", "sec)", "(ms)")
_HIGHER = ("bw", "/sec", "/s)", "throughput", "events", "bandwidth")
_HEADING = re.compile(r"## +(?P<name>\S.*)")


@dataclass(frozen=True)
class _Section:
    """A benchmark of a report: its heading, its command, its table."""

    line: int
    name: str
    command: str
    columns: list[str]
    rows: list[tuple[int, list[str]]]


def read_markdown_report(source: Source) -> Publication | None:
    """Read a report of this shape; None if it has no table below a `## Benchmark` heading.

    Raises:
        UsageError: with file and line, where the report has not this shape.
    """
    lines = source.rows()
    sections = list(_sections(source, lines))
    if not sections:
        return None
    environment = dict(_platform(lines))
    title = next((line.text.strip("# ") for line in lines if line.text.strip()), "")
    notices = [
        "the order of the runs is not stated, so they are judged unpaired; drift between"
        " the variants' runs, if any, looks like an effect"
    ]
    cases = [_case(source, section) for section in sections]
    records = []
    for section, case in zip(sections, cases, strict=True):
        found = list(_records(source, section, case.metrics[0], notices))
        notices += [f"{source.name}:{section.line}: {slip}" for slip in sysbench_slips(found)]
        records += found
    variants = list(dict.fromkeys(record.key.variant for record in records))
    if len(variants) < 2:
        source.refuse(
            sections[0].line, f"has runs of {', '.join(variants)} only; nothing to compare."
        )
    for position, record in enumerate(records):
        record.position = position
    runs = max(record.key.block for record in records) + 1
    return Publication(
        plan=imported_plan(source, title, cases, variants, looks=[max(runs, 2)]),
        machine=imported_machine(source, environment),
        environment=environment,
        cases=cases,
        records=records,
        notices=notices,
    )


def _platform(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    inside = False
    for line in lines:
        if line.text.startswith("# "):
            inside = line.text.strip("# ").lower() == "platform"
        cells = _cells(line.text)
        if inside and len(cells) == 2 and cells[0] != "System" and not cells[0].startswith(":"):
            yield cells[0], cells[1]


def _sections(source: Source, lines: Sequence[Line]) -> Iterator[_Section]:
    starts = [i for i, line in enumerate(lines) if _HEADING.fullmatch(line.text)]
    for start, end in pairwise([*starts, len(lines)]):
        body = lines[start + 1 : end]
        name = lines[start].text[3:].strip()
        tables = [
            (each.number, _cells(each.text)) for each in body if each.text.lstrip().startswith("|")
        ]
        if not tables:
            continue
        (head, columns), *rows = [row for row in tables if not row[1][0].startswith(":")]
        if len(columns) < 2 or not rows:
            source.refuse(head, f"{name}: the table has no figures.")
        for number, row in rows:
            if len(row) != len(columns):
                source.refuse(
                    number,
                    f"{name}: the row {row[0]} has {len(row)} columns, the table has"
                    f" {len(columns)}.",
                )
        fences = [i for i, line in enumerate(body) if line.text.strip().startswith("~~~")]
        inside = body[fences[0] + 1 : fences[1]] if len(fences) > 1 else []
        command = " ".join(" ".join(line.text for line in inside).split())
        yield _Section(lines[start].number, name, command, columns, rows)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _case(source: Source, section: _Section) -> CaseInfo:
    known = registered().get(section.name)
    label = section.columns[1]
    unit = _UNIT.search(label)
    metric = Metric(
        name=known.metrics[0].name if known else label,
        unit=unit[1] if unit else "1/s" if label.casefold().endswith("/sec") else label,
        better=known.metrics[0].better if known else _direction(source, section, label),
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


def _direction(source: Source, section: _Section, label: str) -> Better:
    """Guess from a column's name which way is better, or refuse to."""
    folded = label.casefold()
    if any(word in folded for word in _HIGHER):
        return "higher"
    if any(word in folded for word in _LOWER):
        return "lower"
    source.refuse(
        section.line,
        f"{section.name}: is more or less of '{label}' better?"
        " No benchmark of that name is known; say Time or Events/sec in the column's name.",
    )


def _records(
    source: Source, section: _Section, metric: Metric, notices: list[str]
) -> Iterator[RunRecord]:
    seen: dict[RunKey, tuple[int, list[str]]] = {}
    for number, row in section.rows:
        named = _ROW_NAME.fullmatch(row[0])
        if not named:
            source.refuse(number, f"{section.name}: the row '{row[0]}' is not named VARIANT-RUN-0.")
        try:
            value, *counts = (parse_number(cell).value for cell in row[1:])
        except ValueError as error:
            source.refuse(number, f"{section.name}: the row {row[0]} holds no numbers: {error}.")
        if value <= 0:
            source.refuse(number, f"{section.name}: {row[0]} is {value:g}, which is not a result.")
        validate({"name": named["variant"]}, Variant, f"{source.path}:{number}: variant")
        key = RunKey(section.name, named["variant"], int(named["run"]))
        first, figures = seen.setdefault(key, (number, row))
        if figures is not row:
            if figures != row:
                source.refuse(
                    number, f"{section.name}: the run {row[0]} is there already, in line {first}."
                )
            notices.append(f"{source.name}:{number}: {row[0]} repeats line {first}; read once")
            continue
        yield RunRecord(
            key=key,
            position=0,
            seed=0,
            command=section.command,
            metrics={metric.name: value},
            counters=dict(zip(section.columns[2:], counts, strict=True)),
        )
