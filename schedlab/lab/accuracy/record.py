"""The record of what was simulated of published changes, so that a score outlives its results.

It stands beside the study. A case in it is not simulated again by the same engine; one that another
engine simulated keeps its row until it is. Rows whose plan or machine changed since do not count:
they stay in the file until their cases are simulated anew, as a change may be undone. What was
published is taken from published/, never from here.
"""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from schedlab.base.errors import UsageError, writing
from schedlab.base.files import read_json
from schedlab.base.system.durable import write_durably
from schedlab.base.validation import Data, repeated, validate
from schedlab.base.words import first_of, plural
from schedlab.benchmarks import Case
from schedlab.judging.matched import Counted, change_of, counts_of
from schedlab.judging.reference import Reference, Table, find_reference, mean
from schedlab.judging.verdict import Word
from schedlab.lab.accuracy.published import Predicted, Work, costs_of, what_is_asked
from schedlab.lab.accuracy.scoring import Prediction, published_row
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.targets import split

_MOST_BYTES = 4 << 20
_ADVICE = (
    "\n  Mend it, or put an older copy in its place, or remove it: the same command simulates anew"
    " what is not in it."
)


def _text(text: str) -> str:
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in text):
        raise ValueError("has a character that is not printable")
    return text


_Text = Annotated[str, AfterValidator(_text)]
_Share = Annotated[float, Field(ge=-1e15, le=1e15, strict=True)]


class _Row(Data):
    label: _Text
    metric: _Text
    published: _Share
    """As it was; the change in published/ is what counts."""
    simulated: _Share | None
    low: _Share | None
    high: _Share | None
    verdict: Word
    ratio: _Share | None
    note: _Text
    judged: bool
    pairs: Annotated[int, Field(ge=0, le=10_000)] | None = None
    measured_s: _Share | None = None
    base: _Share | None = None
    """The published baseline that `ratio` is over; None: as it is published today."""

    @model_validator(mode="after")
    def _interval_is_one(self) -> "_Row":
        if (self.low is None) != (self.high is None):
            raise ValueError("only one of low and high is given")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low, {self.low}, is more than high, {self.high}")
        return self

    @model_validator(mode="after")
    def _verdict_is_of_the_effect(self) -> "_Row":
        effect = self.simulated
        if effect is not None and self.low is not None and self.high is not None:
            low, high = self.low, self.high
            if effect != min(max(effect, low), high):
                raise ValueError(f"simulated, {effect}, is not between low and high")
        sign = {"better": 1, "worse": -1}.get(self.verdict)
        if sign and (effect is None or effect * sign < 0 or not self.judged):
            raise ValueError(f"the verdict {self.verdict} does not fit simulated and judged")
        return self


class _Count(Data):
    label: _Text
    counter: _Text
    variant: _Text
    is_baseline: bool
    published: _Share
    """As it was; the count in published/ is what counts."""
    here: _Share


class _Part(Data):
    """What one engine simulated of a plan."""

    plan: _Text
    inputs: _Text
    """Of inputs_of(): the plan, its machine and which rows are published."""
    costs: tuple[_Text, ...]
    """Of costs_of(): those the machine had."""
    engine: dict[_Text, _Text]
    whole: tuple[_Text, ...]
    """The labels of the cases, also of those without a published row."""
    rows: tuple[_Row, ...]
    counts: tuple[_Count, ...]

    @model_validator(mode="after")
    def _names_are_known_and_once(self) -> "_Part":
        for what, names in (
            ("whole", self.whole),
            ("rows", [f"{row.label}, {row.metric}" for row in self.rows]),
        ):
            if twice := repeated(names):
                raise ValueError(f"{what}: '{twice}' stands there twice")
        labels = [*(row.label for row in self.rows), *(count.label for count in self.counts)]
        for label in labels:
            if label not in self.whole:
                raise ValueError(f"whole: '{label}', which has a row, is missing")
        return self

    def of(self, labels: Iterable[str]) -> "_Part":
        """Return what it has of some cases."""
        some = set(labels)
        return self.model_copy(
            update={
                "whole": tuple(label for label in self.whole if label in some),
                "rows": tuple(row for row in self.rows if row.label in some),
                "counts": tuple(count for count in self.counts if count.label in some),
            }
        )


class _Parts(Data):
    parts: tuple[_Part, ...]


@dataclass(frozen=True)
class Kept:
    """What earlier calls simulated of a plan, one part for each engine."""

    parts: tuple[Predicted, ...] = ()

    def by(self, engine: Mapping[str, str]) -> set[str]:
        """Return the labels of the cases that an engine simulated."""
        return {label for part in self.parts if part.engine == engine for label in part.whole}

    def without(self, labels: Sequence[str]) -> "Kept":
        """Return what is left when these cases are simulated again."""
        left = (_without(part, set(labels)) for part in self.parts)
        return Kept(tuple(part for part in left if part.whole))


def _without(part: Predicted, labels: set[str]) -> Predicted:
    return replace(
        part,
        rows=[row for row in part.rows if row.label not in labels],
        counts=[count for count in part.counts if count.label not in labels],
        whole=tuple(label for label in part.whole if label not in labels),
    )


@dataclass(frozen=True)
class Record:
    """A record as it was read, or an empty one."""

    path: Path
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, study_file: Path) -> "Record":
        """Read a study's record.

        Raises:
            UsageError: it cannot be read, or it is not a record.
        """
        path = record_of(study_file)
        if not path.exists():
            return cls(path, ())
        try:
            return cls(path, validate(read_json(path, _MOST_BYTES), _Parts, str(path)).parts)
        except UsageError as error:
            raise UsageError(f"{error}{_ADVICE}") from error

    @property
    def plans(self) -> set[str]:
        """Return the names of the plans that it has rows of."""
        return {part.plan for part in self.parts}

    def kept(
        self, found: Mapping[str, tuple[Work, Sequence[Case]]], say: Callable[[str], None]
    ) -> "tuple[dict[str, Kept], Record]":
        """Return what counts of some plans, by their names, and the record of all that does not.

        Args:
            found: the plans and their cases, by name.
            say: receives a message for each part that does not count.

        Raises:
            UsageError: a part is not of its plan.
        """
        kept: dict[str, Kept] = {}
        rest: list[_Part] = []
        for part in self.parts:
            rows = plural(len(part.rows), "row")
            if part.plan not in found:
                say(
                    f"{self.path}: {rows} of {part.plan} stay there and do not count: no file of"
                    " published/ names that plan"
                )
                rest.append(part)
                continue
            work, cases = found[part.plan]
            if not _fits(part, work):
                say(
                    f"{self.path}: {rows} of {part.plan} left out, of {first_of(part.whole)}: the"
                    " plan, its machine or which rows are published changed since; they stay there"
                    " until these cases are simulated anew"
                )
                rest.append(part)
                continue
            before = kept.get(part.plan, Kept())
            known = {label for other in before.parts for label in other.whole}
            try:
                predicted = _predicted(part, work, cases, known)
            except ValueError as error:
                raise UsageError(f"{self.path}: {part.plan}: {error}{_ADVICE}") from error
            kept[part.plan] = Kept((*before.parts, predicted))
        return kept, Record(self.path, tuple(rest))

    def write(
        self,
        found: Mapping[str, tuple[Work, Sequence[Case]]],
        simulated: Mapping[str, Sequence[Predicted]],
    ) -> None:
        """Write what is simulated of each plan, and behind it what this record has of others.

        Of a part of these plans it is what is still owed: a part of which nothing is, is left out.

        Raises:
            HostError: it cannot be written; the file is then as it was.
        """
        parts = [
            _part(work, part, cases)
            for name, (work, cases) in found.items()
            for part in simulated[name]
        ]
        for part in self.parts:
            if part.plan not in found:
                parts.append(part)
                continue
            known = {label for other in simulated[part.plan] for label in other.whole}
            owed = {case.label for case in found[part.plan][1]} - known
            if owed.intersection(part.whole):
                parts.append(part.of(set(part.whole) - known))
        lines = [json.dumps(part.model_dump(), ensure_ascii=False) for part in parts]
        with writing(self.path):
            write_durably(self.path, ('{"parts": [\n' + ",\n".join(lines) + "\n]}\n").encode())


def record_of(study_file: Path) -> Path:
    """Return the place of a study's record."""
    return study_file.with_suffix(".json")


def inputs_of(work: Work, costs: Iterable[str]) -> str:
    """Name what a plan's rows depend on beside the engine: another name for other inputs.

    A cost that came in after a row was simulated cannot have acted on it, nor can a key of machine
    files that a machine does not set. What programs do for themselves is left out: a figure of one
    is added without the others' rows being another's. So are what a sched_ext scheduler's code
    takes, which no published change has, and how long and how often is measured, which is the
    plan's design. Of what is published it has the names of rows and counts, not their figures.

    Args:
        work: the plan.
        costs: those that the machine had when the rows were simulated.
    """
    reference = find_reference(work.reference)
    here = work.plan.target
    rows = [
        (t.variant, t.metric, r[0]) for t in reference.table if t.target == here for r in t.rows
    ]
    counts = [
        (t.variant, t.counter, r[0]) for t in reference.counts if t.target == here for r in t.rows
    ]
    return _digest(work, costs, [sorted(rows), sorted(counts)])


def _inputs_with_figures(work: Work, costs: Iterable[str]) -> str:
    """Return the name that records of before 0.2.0 have, where the figures were part of it."""
    reference = find_reference(work.reference)
    return _digest(work, costs, reference.model_dump_json(include={"table", "counts"}))


def _fits(part: _Part, work: Work) -> bool:
    names = (inputs_of, _inputs_with_figures)
    return any(part.inputs == name(work, part.costs) for name in names)


def _digest(work: Work, costs: Iterable[str], published: object) -> str:
    machine = find_machine(split(work.plan.target)[1])
    later = set(costs_of(machine)).difference(costs)
    apart = {f"{table}.{name}" for table in ("cycles", "cost") for name in later}
    parts = [
        what_is_asked(work.plan),
        machine.model_dump_json(
            exclude_defaults=True,
            exclude={
                "title": True, "notes": True, "ledger": True, "work": True,
                "cycles": later | _of_sched_ext(machine), "cost": later,
            },
        ),
        {
            key: entry.range
            for key, entry in machine.ledger.items()
            if key not in apart and not key.startswith(("work.", "cycles.bpf_"))
        },
        published,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _of_sched_ext(machine: Machine) -> set[str]:
    return {name for name in machine.cycles if name.startswith("bpf_")}


@dataclass(frozen=True)
class _Published:
    """A published row of a plan's case."""

    table: Table
    change: float
    """Positive is better."""
    base: float
    """The baseline's figure, for the parameters of ours."""


def _published(
    reference: Reference, work: Work, cases: Sequence[Case]
) -> dict[tuple[str, str], _Published]:
    """Return what is published of a plan's cases, by label and metric."""
    known = {case.label: case for case in cases}
    variants = {variant.name for variant in work.plan.variant}
    found = {}
    for table in reference.table:
        if table.target != work.plan.target or table.variant not in variants:
            continue
        for label, base, other in table.rows:
            for metric in known[label].metrics if label in known else ():
                if metric.name == table.metric:
                    found[label, metric.name] = _Published(
                        table,
                        change_of(base, other, metric.better),
                        mean(base) * table.scale(known[label].params),
                    )
    return found


def _predicted(part: _Part, work: Work, cases: Sequence[Case], known: set[str]) -> Predicted:
    """Return a part as it counts; ValueError where it contradicts its plan."""
    labels = {case.label for case in cases}
    for label in part.whole:
        if label not in labels:
            raise ValueError(f"whole: '{label}' is not a benchmark of the plan")
        if label in known:
            raise ValueError(f"'{label}' is in two of its parts")
    reference = find_reference(work.reference)
    published = _published(reference, work, cases)
    for row in part.rows:
        if (row.label, row.metric) not in published:
            raise ValueError(f"nothing is published of {row.label}, {row.metric}")
    there = {(row.label, row.metric) for row in part.rows}
    for label, metric in published:
        if label in part.whole and (label, metric) not in there:
            raise ValueError(f"the row of {label}, {metric} is missing, though the case is whole")
    return Predicted(
        rows=[
            _prediction(row, work, reference, published[row.label, row.metric]) for row in part.rows
        ],
        counts=_counted(part, work, reference, cases),
        engine=part.engine,
        costs=part.costs,
        cases=len(cases),
        whole=part.whole,
    )


def _prediction(row: _Row, work: Work, reference: Reference, published: _Published) -> Prediction:
    empty = published_row(
        work.reference, reference, published.table, row.label, work.plan_name,
        published.change, work.plan.cold,
    )  # fmt: skip
    told: dict[str, Any] = row.model_dump(exclude={"label", "metric", "published", "base", "ratio"})
    ratio = row.ratio
    if ratio is not None and row.base is not None:
        ratio *= row.base / published.base
    return replace(empty, **told, ratio=None if published.table.relative else ratio)


def _counted(part: _Part, work: Work, reference: Reference, cases: Sequence[Case]) -> list[Counted]:
    sizes: dict[tuple[str, str, str], list[float]] = {}
    baseline = work.plan.baseline.name
    for each in counts_of(reference, work.plan.target, baseline, cases):
        sizes.setdefault((each.label, each.counter, each.variant), []).append(each.size)
    counts = []
    for count in part.counts:
        left = sizes.get((count.label, count.counter, count.variant))
        if not left:
            raise ValueError(
                f"nothing is published of {count.label}, {count.counter} of {count.variant}, or"
                " less often"
            )
        is_baseline = count.variant == baseline
        counts.append(
            Counted(
                *(count.label, count.counter, count.variant, is_baseline),
                published=left.pop(0),
                here=count.here,
            )
        )
    return counts


def _part(work: Work, part: Predicted, cases: Sequence[Case]) -> _Part:
    published = _published(find_reference(work.reference), work, cases)
    return _Part(
        plan=work.plan_name,
        inputs=inputs_of(work, part.costs),
        costs=part.costs,
        engine=dict(part.engine),
        whole=part.whole,
        rows=tuple(_row(row, published[row.label, row.metric]) for row in part.rows),
        counts=tuple(_Count(**asdict(count)) for count in part.counts),
    )


def _row(row: Prediction, published: _Published) -> _Row:
    told = {name: getattr(row, name) for name in _Row.model_fields if name != "base"}
    return _Row(**told, base=published.base)
