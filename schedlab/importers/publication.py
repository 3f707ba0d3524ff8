"""What a published document holds, whatever its shape, and how it becomes a result folder."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from schedlab.base.cpulist import MOST_CPUS, format_cpulist
from schedlab.base.validation import validate
from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers import bounds
from schedlab.importers.known import known_metric
from schedlab.importers.number import Number, follows, in_range, shortened
from schedlab.importers.source import Source
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import IMPORTED
from schedlab.result.boots import Boot
from schedlab.result.printed import Printed
from schedlab.result.record import Fit, RunKey, RunRecord
from schedlab.result.store import IMPORT, CaseInfo, Store, made_whole


@dataclass
class Publication:
    """All that was read of a document."""

    plan: Plan
    machine: Machine
    environment: dict[str, str]
    cases: list[CaseInfo]
    records: list[RunRecord]
    printed: list[Printed] = field(default_factory=list)
    boots: list[Boot] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    fits: Mapping[str, Fit] = field(default_factory=dict)
    ended: int | None = None
    """The block after which a time budget ended the plan."""
    made_by: str = ""
    """The command that made it, if it is a report of ours."""

    def store(self, folder: Path, source: Source, invocation: str) -> Store:
        """Make a result folder of it, the document kept below raw/.

        Raises:
            StoreError: the folder cannot be written.
        """
        name = source.name
        with made_whole(folder) as beside:
            store = Store.create(
                beside,
                self.plan,
                self.machine,
                self.environment,
                self.cases,
                invocation,
                self.printed,
                self.boots,
                origin=IMPORT,
            )
            with closing(store):
                (beside / "raw" / name).write_bytes(source.content)
                store.add(*self.records)
                if self.fits:
                    store.resize(self.fits, self.cases)
                if self.ended is not None:
                    store.end(self.ended)
                made = [f"made by: {self.made_by}"] if self.made_by else []
                imported = f"imported from {name}, which is kept below raw/"
                store.note([imported, *made, *self.notices])
        return Store.open(folder)

    def check(self, source: Source) -> None:
        """Refuse what no result can have, whatever the shape it was read from."""
        if self.plan.judging.unit == "boot" and not self.boots:
            source.refuse(None, "is of several boots, but does not name the boot of each run.")
        for what, there, most in self._amounts():
            if there > most:
                source.refuse(None, f"has {there:,} {what}; {most:,} are the most.")
        for what, text, longest in self._texts():
            if len(text) > longest:
                source.refuse(
                    source.line_of(text),
                    f"{what} has {len(text):,} characters; {longest:,} are the most:"
                    f" '{shortened(text)}'.",
                )
        labels = {case.label for case in self.cases}
        variants = {variant.name for variant in self.plan.variant}
        if len(labels) < len(self.cases):
            source.refuse(None, "has two benchmarks of one name.")
        keys: set[RunKey] = set()
        positions: set[int] = set()
        for record in self.records:
            key = record.key
            run = (
                f"the run of '{shortened(key.case)}' in {shortened(key.variant)}, block {key.block}"
            )
            if key.case not in labels or key.variant not in variants:
                source.refuse(None, f"{run}, is of no benchmark or variant of the plan.")
            if key in keys or record.position in positions:
                source.refuse(None, f"{run}, or its position {record.position} is there twice.")
            keys.add(key)
            positions.add(record.position)
            try:
                _check_figures(record)
            except ValueError as error:
                source.refuse(None, f"{run}: {error}.")

    def _amounts(self) -> Iterator[tuple[str, int, int]]:
        others = len(self.plan.variant) - 1
        counters: defaultdict[str, set[str]] = defaultdict(set)
        for record in self.records:
            counters[record.key.case] |= record.counters.keys()
        yield "runs", len(self.records), bounds.MOST_RUNS
        yield "results", others * sum(len(c.metrics) for c in self.cases), bounds.MOST_RESULTS
        yield "counters", others * sum(map(len, counters.values())), bounds.MOST_COUNTERS

    def _texts(self) -> Iterator[tuple[str, str, int]]:
        """Return every text of the document that a report shows, with what it may have at most."""
        names = [("a variant's name", variant.name) for variant in self.plan.variant]
        texts = [("a notice", notice) for notice in self.notices]
        for row, value in self.environment.items():
            names.append(("a row of the platform", row))
            texts.append((row, value))
        for case in self.cases:
            names += [("a benchmark", case.label), ("a benchmark", case.benchmark)]
            names += [
                ("a parameter", text) for pair in case.params.items() for text in map(str, pair)
            ]
            texts += [("a summary", case.summary), ("a command", case.command)]
            for metric in case.metrics:
                names += [("a metric", metric.name), ("a unit", metric.unit)]
                names += [("a metric", metric.label)]
        for record in self.records:
            names += [("a counter", name) for name in record.counters]
            names += [("a metric", name) for name in record.metrics]
            names.append(("a time", record.started))
            texts += [("a command", record.command), ("an error", record.error)]
            texts += [("a caveat", caveat) for caveat in record.caveats]
            texts += [("a setting", text) for pair in record.settings.items() for text in pair]
        texts += [("a doubt", doubt) for each in self.printed for doubt in each.doubts]
        names += [("a printed verdict", each.said) for each in self.printed]
        texts.append(("the plan", self.plan.title))
        yield from ((what, text, bounds.LONGEST_NAME) for what, text in names)
        yield from ((what, text, bounds.LONGEST_TEXT) for what, text in texts)


def _check_figures(record: RunRecord) -> None:
    """Raise ValueError for what cannot be counted or reckoned with."""
    for what, number, most in (
        ("block", record.key.block, bounds.MOST_BLOCKS),
        ("position", record.position, bounds.HIGHEST),
        ("seed", record.seed, bounds.HIGHEST),
        ("exit status", record.exit_status or 0, bounds.HIGHEST),
    ):
        if abs(number) > most:
            raise ValueError(f"{what}: {shortened(str(number))} is beyond {most}")
    for name, value in record.metrics.items():
        if value <= 0:
            raise ValueError(f"{shortened(name)} is {value:g}, which is not a result")
    spent = (record.seconds, record.busy_before, record.busy_during, record.cpu_seconds)
    known = [value for value in spent if value is not None]
    for value in (*record.metrics.values(), *record.counters.values(), *known):
        in_range(value, f"{value:g}")
    if min(known) < 0:
        raise ValueError("its time is negative")


@dataclass(frozen=True)
class Cell:
    """The figure of a variant, and what stands beside it."""

    variant: str
    figure: Number
    change: Number | None = None
    """In percent, as printed."""
    spread: float | None = None
    """Standard deviation over the mean."""
    said: str = ""


@dataclass(frozen=True)
class Row:
    """Means of one metric of one benchmark, the baseline's first."""

    line: int
    benchmark: str
    cells: tuple[Cell, ...]
    label: str
    params: Mapping[str, int | str] = field(default_factory=dict)
    metric: str = ""
    """Its name where the benchmark has several."""
    unit: str = ""
    better: Better | None = None
    """Where the table says so."""
    plus_is_more: bool = False
    """A printed plus means more, not better."""
    is_counter: bool = False
    own: Metric | None = None
    """The metric in full, where a report of schedlab's own says it."""


def imported_plan(
    source: Source,
    title: str,
    cases: Iterable[CaseInfo],
    variants: Sequence[str],
    looks: Sequence[int] = (2,),
    paired: bool = False,
    unit: Literal["block", "boot"] = "block",
) -> Plan:
    """Return the plan that a published result amounts to; refuse names it cannot have."""
    fields: dict[str, Any] = {
        "title": title,
        "target": IMPORTED.name,
        "benchmark": [
            {"name": case.benchmark, "label": case.label[:80], "params": case.params}
            for case in cases
        ],
        "variant": [{"name": name} for name in variants],
        "blocks": {"looks": list(looks), "warmup": 0},
        "judging": {"paired": paired, "unit": unit},
    }
    return validate(fields, Plan, str(source.path))


def imported_machine(source: Source, environment: Mapping[str, str]) -> Machine:
    """Describe a machine as far as a platform table does."""
    digits = environment.get("CPUs", "")
    if digits.isdecimal() and not 1 <= int(digits) <= MOST_CPUS:
        source.refuse(
            source.line_of(digits),
            f"CPUs: {shortened(digits)} is not a number from 1 to the {MOST_CPUS} a kernel can"
            " have.",
        )
    return Machine.model_validate(
        {
            "name": IMPORTED.name,
            "title": environment.get("Processor version", "") or environment.get("System", ""),
            "arch": environment.get("Architecture", ""),
            "cpus": format_cpulist(range(int(digits) if digits.isdecimal() else 1)),
        }
    )


def published_means(
    source: Source, title: str, environment: dict[str, str], rows: Sequence[Row]
) -> Publication:
    """Put tables of means together.

    Raises:
        UsageError: rows that contradict each other, or of which nobody knows what is better.
    """
    notices: list[str] = []
    variants = _variants(source, rows)
    rows = _read_once(source, rows, notices)
    metrics = _metrics(source, [row for row in rows if not row.is_counter])
    printed = [
        note
        for row in rows
        if not row.is_counter
        for note in _notes(source, row, metrics[row.benchmark, row.metric])
    ]
    cases: dict[str, CaseInfo] = {}
    records: dict[tuple[str, str], RunRecord] = {}
    for row in _joined(source, rows, notices):
        case = cases.setdefault(
            row.label, CaseInfo(row.label, row.benchmark, "", "", dict(row.params), ())
        )
        name = row.metric
        if not row.is_counter:
            metric = metrics[row.benchmark, row.metric]
            name = metric.name
            cases[row.label] = replace(case, metrics=(*case.metrics, metric))
        for cell in _settled(row, None if row.is_counter else metrics[row.benchmark, row.metric]):
            record = records.setdefault(
                (row.label, cell.variant),
                RunRecord(RunKey(row.label, cell.variant, 0), len(records), 0, ""),
            )
            figures = record.counters if row.is_counter else record.metrics
            figures[name] = cell.figure.value
    notices += [f"{each.where}: {doubt}" for each in printed for doubt in each.doubts]
    return Publication(
        plan=imported_plan(source, title, cases.values(), variants),
        machine=imported_machine(source, environment),
        environment=environment,
        cases=list(cases.values()),
        records=list(records.values()),
        printed=printed,
        notices=notices,
    )


def _read_once(source: Source, rows: Sequence[Row], notices: list[str]) -> list[Row]:
    """Drop what is printed twice, refuse what contradicts."""
    found: list[Row] = []
    by_name: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        seen = by_name[row.label, row.metric]
        name = f"{row.label} {row.metric}".strip()
        if same := next((other for other in seen if other.cells == row.cells), None):
            notices.append(
                f"{source.name}:{row.line}: '{name}' repeats line {same.line}; read once"
            )
            continue
        if other := next((other for other in seen if _others(other) & _others(row)), None):
            source.refuse(
                row.line,
                f"'{name}' is there already, with other figures, in line {other.line};"
                " leave one of them out.",
            )
        seen.append(row)
        found.append(row)
    return found


def _others(row: Row) -> set[str]:
    return {cell.variant for cell in row.cells[1:]}


def _joined(source: Source, rows: Sequence[Row], notices: list[str]) -> list[Row]:
    """Join the tables of several variants."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = row.label, row.metric
        first = found.setdefault(key, row)
        if first is row:
            continue
        base, own_base = first.cells[0], row.cells[0]
        more = (_against(base, own_base, cell) for cell in row.cells[1:])
        found[key] = replace(first, cells=(*first.cells, *more))
        if own_base.figure.value != base.figure.value:
            notices.append(
                f"{source.name}:{row.line}: the baseline of '{' '.join(key).strip()}' is not"
                f" that of line {first.line}; the other figure is scaled to it, its change is as"
                " printed"
            )
    return list(found.values())


def _against(base: Cell, own_base: Cell, cell: Cell) -> Cell:
    """Return a figure as it would be against another value of the baseline."""
    if own_base.figure.value == base.figure.value or own_base.figure.value <= 0:
        return cell
    factor = base.figure.value / own_base.figure.value
    figure = Number(cell.figure.value * factor, cell.figure.step * factor, cell.figure.unit)
    return replace(cell, figure=figure)


def _variants(source: Source, rows: Sequence[Row]) -> list[str]:
    """Return the variants, the common baseline first."""
    baseline = rows[0].cells[0].variant
    for row in rows:
        if row.cells[0].variant != baseline:
            source.refuse(
                row.line,
                f"compares with {row.cells[0].variant}, line {rows[0].line} with {baseline};"
                " import them as two files.",
            )
    return list(dict.fromkeys(cell.variant for row in rows for cell in row.cells))


def _metrics(source: Source, rows: Sequence[Row]) -> dict[tuple[str, str], Metric]:
    """Return each metric with its unit and the direction in which it is better."""
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.benchmark, row.metric].append(row)
    found = {}
    for (benchmark, name), members in groups.items():
        if members[0].own:
            found[benchmark, name] = members[0].own
            continue
        known = known_metric(benchmark, name)
        stated = next((row.better for row in members if row.better), None)
        better = (known.better if known else None) or stated or _by_signs(members)
        if not better:
            source.refuse(
                members[0].line,
                f"{benchmark}: is more or less of '{name or benchmark}' better? No benchmark of"
                " that name is known, and no printed percentage says it.",
            )
        unit = next((row.unit for row in members if row.unit), "")
        if all(row.cells[0].figure.value == 1 for row in members):
            unit = f"of {members[0].cells[0].variant}"
        metric = known or Metric(name or benchmark, unit, better, name or benchmark)
        if unit and unit != metric.unit:
            label = metric.name.replace("_", " ").capitalize()
            metric = replace(metric, unit=unit, label=f"{label} ({unit})")
        found[benchmark, name] = metric
    return found


def _by_signs(rows: Sequence[Row]) -> Better | None:
    """Infer which direction is better from the signs of the printed changes, if they show it."""
    votes = 0
    for row in rows:
        base = row.cells[0].figure.value
        for cell in row.cells[1:]:
            change = cell.change.value if cell.change and not row.plus_is_more else 0
            votes += _sign(change) * _sign(cell.figure.value - base)
    return None if votes == 0 else "higher" if votes > 0 else "lower"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _notes(source: Source, row: Row, metric: Metric) -> list[Printed]:
    base = row.cells[0]
    return [
        Printed(
            case=row.label,
            metric=metric.name,
            variant=cell.variant,
            where=f"{source.name}:{row.line}",
            change=cell.change.value / 100 if cell.change else None,
            base_spread=base.spread,
            other_spread=cell.spread,
            said=cell.said,
            doubts=tuple(_doubts(row, metric, cell)),
        )
        for cell in row.cells[1:]
    ]


def _doubts(row: Row, metric: Metric, cell: Cell) -> Iterable[str]:
    """Yield what of a printed change does not follow from the figures."""
    base, printed = row.cells[0].figure, cell.change
    if printed is None or follows(base, cell.figure, _as_more(row, metric, printed)):
        return
    turned = replace(printed, value=-printed.value)
    figures = 100 * (cell.figure.value / base.value - 1)
    better = figures if row.plus_is_more or metric.better == "higher" else -figures
    if follows(base, cell.figure, _as_more(row, metric, turned)):
        yield (
            f"printed as {printed.value:+.2f} %, as if {metric.name} were better the other way"
            f" ({metric.better} is better): {better:+.2f} %"
        )
    else:
        yield f"printed as {printed.value:+.2f} %, but the figures give {better:+.2f} %"


def _as_more(row: Row, metric: Metric, printed: Number) -> Number:
    """Return a printed change with the sign that says more."""
    if row.plus_is_more or metric.better == "higher":
        return printed
    return replace(printed, value=-printed.value)


def _settled(row: Row, metric: Metric | None) -> Iterable[Cell]:
    """Yield the cells; a figure too coarse for the change printed beside it is worked out."""
    base = row.cells[0]
    yield base
    for cell in row.cells[1:]:
        printed = cell.change
        if metric is None or printed is None or base.figure.value <= 0:
            yield cell
            continue
        more = _as_more(row, metric, printed)
        coarse = 100 * cell.figure.step / base.figure.value > 2 * printed.step
        fits = follows(base.figure, cell.figure, more)
        if coarse and fits and base.figure.value == 1 and math.isfinite(more.value):
            yield replace(cell, figure=Number(base.figure.value * (1 + more.value / 100)))
        else:
            yield cell
