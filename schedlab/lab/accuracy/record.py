"""The record of what was simulated of published changes, so that a score outlives its results.

It stands beside the study. A case in it is not simulated again by the same engine; one that another
engine simulated keeps its row until it is. Rows whose plan, machine or published figures changed
since are left out, and that is said.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from schedlab.base.errors import UsageError
from schedlab.base.files import read_json
from schedlab.base.validation import Data, validate
from schedlab.base.words import plural
from schedlab.judging.matched import Counted
from schedlab.judging.reference import Reference, find_reference
from schedlab.lab.accuracy.published import Predicted, Work, costs_of, what_is_asked
from schedlab.lab.accuracy.scoring import Prediction, published_row
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.targets import split

_MOST_BYTES = 4 << 20
_Share = Annotated[float, Field(ge=-1e15, le=1e15)]


class _Row(Data):
    label: str
    metric: str
    published: _Share
    simulated: _Share | None
    low: _Share | None
    high: _Share | None
    verdict: str
    ratio: _Share | None
    note: str
    judged: bool
    pairs: Annotated[int, Field(ge=0, le=10_000)] | None = None
    measured_s: _Share | None = None


class _Count(Data):
    label: str
    counter: str
    variant: str
    is_baseline: bool
    published: _Share
    here: _Share


class _Part(Data):
    """What one engine simulated of a plan."""

    plan: str
    inputs: str
    """Of inputs_of(): the plan, its machine and the published rows."""
    costs: tuple[str, ...]
    """Of costs_of(): those the machine had."""
    engine: dict[str, str]
    whole: tuple[str, ...]
    """The labels of the cases, also of those without a published row."""
    rows: tuple[_Row, ...]
    counts: tuple[_Count, ...]


class _Record(Data):
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


def record_of(study_file: Path) -> Path:
    """Return the place of a study's record."""
    return study_file.with_suffix(".json")


def inputs_of(work: Work, costs: Iterable[str]) -> str:
    """Name what a plan's rows depend on beside the engine: another name for other inputs.

    A cost that came in after a row was simulated cannot have acted on it, nor can a key of machine
    files that a machine does not set. What programs do for themselves is left out: a figure of one
    is added without the others' rows being another's. So are what a sched_ext scheduler's code
    takes, which no published change has, and how long and how often is measured, which is the
    plan's design.

    Args:
        work: the plan.
        costs: those that the machine had when the rows were simulated.
    """
    reference = find_reference(work.reference)
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
        reference.model_dump_json(include={"table", "counts"}),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _of_sched_ext(machine: Machine) -> set[str]:
    return {name for name in machine.cycles if name.startswith("bpf_")}


def read_record(
    path: Path, found: Sequence[Work], cases: Mapping[str, int], say: Callable[[str], None]
) -> dict[str, Kept]:
    """Return what a record has of some plans, by their names; nothing where there is none.

    Args:
        path: the record.
        found: the plans.
        cases: how many cases each of them has.
        say: receives a message for each row that no longer counts.

    Raises:
        UsageError: it cannot be read, or it is not a record.
    """
    if not path.exists():
        return {}
    by_name = {work.plan_name: work for work in found}
    kept: dict[str, Kept] = {}
    for part in validate(read_json(path, _MOST_BYTES), _Record, str(path)).parts:
        work = by_name.get(part.plan)
        if work is None:
            continue
        if part.inputs != inputs_of(work, part.costs):
            say(
                f"{path}: {plural(len(part.rows), 'row')} of {part.plan} left out: the plan, its"
                " machine or the published figures changed since"
            )
            continue
        before = kept.get(part.plan, Kept()).without(part.whole)
        predicted = _predicted(part, work, cases[part.plan], path)
        kept[part.plan] = Kept((*before.parts, predicted))
    return kept


def write_record(
    path: Path, found: Sequence[Work], parts: Mapping[str, Sequence[Predicted]]
) -> None:
    """Write what was simulated of each plan; OSError where that cannot be."""
    lines = [
        json.dumps(_part(work, part).model_dump(), ensure_ascii=False)
        for work in found
        for part in parts[work.plan_name]
    ]
    path.write_text('{"parts": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def _predicted(part: _Part, work: Work, cases: int, path: Path) -> Predicted:
    reference = find_reference(work.reference)
    return Predicted(
        rows=[_prediction(row, work, reference, path) for row in part.rows],
        counts=[Counted(**count.model_dump()) for count in part.counts],
        engine=part.engine,
        costs=part.costs,
        cases=cases,
        whole=part.whole,
    )


def _prediction(row: _Row, work: Work, reference: Reference, path: Path) -> Prediction:
    for table in reference.table:
        labels = {label for label, _, _ in table.rows}
        if (table.target, table.metric) == (work.plan.target, row.metric) and row.label in labels:
            empty = published_row(
                work.reference, reference, table, row.label, work.plan_name, row.published,
                work.plan.cold,
            )  # fmt: skip
            return replace(empty, **row.model_dump(exclude={"label", "metric", "published"}))
    raise UsageError(
        f"{path}: {work.plan_name}: nothing is published of {row.label}, {row.metric};"
        " remove the file, and the same command simulates anew"
    )


def _part(work: Work, part: Predicted) -> _Part:
    rows = [_Row(**{name: getattr(row, name) for name in _Row.model_fields}) for row in part.rows]
    return _Part(
        plan=work.plan_name,
        inputs=inputs_of(work, part.costs),
        costs=part.costs,
        engine=dict(part.engine),
        whole=part.whole,
        rows=tuple(rows),
        counts=tuple(_Count(**asdict(count)) for count in part.counts),
    )
