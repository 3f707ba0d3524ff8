"""Running the quick plans of published changes, and setting their results beside these."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from schedlab.base.data import is_path
from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks import Case
from schedlab.benchmarks.benchmark import Span
from schedlab.counters.times import MEASURED
from schedlab.judging.analysis import analyse
from schedlab.judging.matched import Counted, counted
from schedlab.judging.meanings import declared, meaning_of
from schedlab.judging.reference import Counts, Reference, Table, all_references, find_reference
from schedlab.lab.accuracy.scoring import Prediction, predictions
from schedlab.lab.runner import is_whole
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.plan import Plan, PlanEntry, all_plans, find_plan, find_suite
from schedlab.plan.targets import SIM, known, split
from schedlab.result.record import RunRecord
from schedlab.result.store import Store

DESIGN = "Design"
ENGINE = ("Engine version", "Compiler", "Kernels", DESIGN)
"""What says how a plan was simulated: rows of the platform table, and its design."""


@dataclass(frozen=True)
class Work:
    """A quick plan of a published change."""

    reference: str
    plan_name: str
    plan: Plan


def works(name: str) -> list[Work]:
    """Return the plans of one published change, or of all for an empty name.

    Raises:
        UsageError: there is none, it does not fit, or no plan of ours runs the same.
    """
    found = []
    for each in [name] if name else all_references():
        reference = find_reference(each)
        check_rows(each, reference)
        for plan_name in reference.plans:
            plan, where = find_plan(plan_name)
            if not plan.simulated:
                raise UsageError(f"{where}: its target is {plan.target}, not {SIM.syntax}")
            found.append(Work(each, Path(plan_name).stem, plan))
    if not found:
        raise UsageError(f"{name}: `plans` names no plan of schedlab that runs the same.")
    return found


def check_rows(name: str, reference: Reference) -> None:
    """Refuse rows that no plan of a document can repeat, as a typo would make them.

    Raises:
        UsageError: a target, variant, label, metric or parameter is of none of the plans.
    """
    where = name if is_path(name) else f"published/{name}.toml"
    plans = [
        find_plan(plan)[0] for plan in dict.fromkeys([*reference.plans, *_showing().get(name, ())])
    ]
    if not plans:
        return
    if reference.long:
        _check_long(where, reference)
    sized: dict[tuple[str, str], Mapping[str, Case]] = {}
    tables: list[tuple[str, Table | Counts]] = [
        *((f"{where}: table[{index}]", table) for index, table in enumerate(reference.table)),
        *((f"{where}: counts[{index}]", table) for index, table in enumerate(reference.counts)),
    ]
    for place, table in tables:
        key = (table.target, table.variant)
        if key not in sized:
            sized[key] = _cases_for(place, table, plans)
        _check_table(place, table, sized[key])


def _check_long(where: str, reference: Reference) -> None:
    quick = [find_plan(name)[0] for name in reference.plans]
    sized = [plan.cases(find_machine(split(plan.target)[1])) for plan in quick if plan.simulated]
    labels = {case.label for cases in sized for case in cases}
    for label in reference.long:
        if label not in labels:
            raise UsageError(
                f"{where}: long: '{label}' is not a benchmark of the document's quick plans."
                f"{nearest(label, labels)}"
            )


@cache
def _showing() -> Mapping[str, tuple[str, ...]]:
    """Return the plans of ours that show a document beside their results: the long ones too."""
    found: dict[str, tuple[str, ...]] = {}
    for plan in all_plans():
        document = find_plan(plan)[0].published
        found[document] = (*found.get(document, ()), plan)
    return found


def _cases_for(where: str, table: Table | Counts, plans: Sequence[Plan]) -> Mapping[str, Case]:
    """Return what the plans with a table's variant run on its target, by label.

    For a target that is not simulated they are sized for a machine that the plans are simulated on:
    labels, metrics and parameters are the same.
    """
    try:
        kind, which = known(table.target)
        machine = find_machine(which if kind.simulated else _simulated_on(plans))
    except UsageError as error:
        raise UsageError(f"{where}.target: {error}") from error
    variants = {variant.name for plan in plans for variant in plan.variant[1:]}
    if table.variant not in variants:
        raise UsageError(
            f"{where}.variant: '{table.variant}' is not a variant of the document's plans."
            f"{nearest(table.variant, variants)}"
        )
    having = [plan for plan in plans if table.variant in {v.name for v in plan.variant[1:]}]
    return {case.label: case for plan in having for case in plan.cases(machine)}


def _simulated_on(plans: Sequence[Plan]) -> str:
    for plan in plans:
        if plan.simulated:
            return split(plan.target)[1]
    raise UsageError(f"none of the document's plans is for {SIM.syntax}")


def _check_table(where: str, table: Table | Counts, cases: Mapping[str, Case]) -> None:
    # What nobody declared a meaning of says its own name.
    if isinstance(table, Counts) and meaning_of(table.counter).words == table.counter:
        raise UsageError(
            f"{where}.counter: schedlab knows no counter '{table.counter}'."
            f"{nearest(table.counter, (meaning.pattern for meaning in declared()))}"
        )
    for index, (label, _, _) in enumerate(table.rows):
        if label not in cases:
            raise UsageError(
                f"{where}.rows[{index}]: '{label}' is not a benchmark of the document's plans."
                f"{nearest(label, cases)}"
            )
        case = cases[label]
        for key in table.per:
            if key not in case.params:
                raise UsageError(
                    f"{where}.per: '{key}' is not a parameter of {label}."
                    f"{nearest(key, case.params)}"
                )
            if not _is_amount(case.params[key]):
                raise UsageError(
                    f"{where}.per: figures cannot grow with '{key}', which is"
                    f" '{case.params[key]}' of {label}: a number or a duration is expected."
                )
        metrics = {metric.name for metric in case.metrics}
        if isinstance(table, Table) and table.metric not in metrics:
            raise UsageError(
                f"{where}.metric: '{table.metric}' is not a metric of {label}."
                f"{nearest(table.metric, metrics)}"
            )


def _is_amount(value: int | str) -> bool:
    try:
        return 0 < Span(value).seconds < math.inf
    except ValueError:
        return False


@dataclass(frozen=True)
class Predicted:
    """What a result says of a published change."""

    rows: list[Prediction]
    counts: list[Counted]
    engine: Mapping[str, str]
    """What simulated it, by rows of the platform table."""
    costs: tuple[str, ...]
    """Those that its machine had."""
    cases: int
    """How many its plan has."""
    whole: tuple[str, ...]
    """The labels of those that are whole; of the others there is no row."""


def predicted(work: Work, store: Store, cases: Sequence[Case]) -> Predicted:
    """Set the rows and counts of a change beside what a result has of them: its whole cases."""
    reference = find_reference(work.reference)
    plan, records = work.plan, store.records()
    rows = predictions(
        work.reference, reference, work.plan_name, plan.target, analyse(store).outcomes,
        store.machine, plan.cold,
    )  # fmt: skip
    counts = counted(reference, plan.target, plan.baseline.name, store.cases, records)
    whole = tuple(case.label for case in cases if is_whole(store, [case]))
    measured = {label: measured_seconds(records, label) for label in whole}
    return Predicted(
        [replace(row, measured_s=measured[row.label]) for row in rows if row.label in whole],
        [count for count in counts if count.label in whole],
        engine_of(plan, store.environment),
        costs=costs_of(find_machine(split(plan.target)[1])),
        cases=len(cases),
        whole=whole,
    )


def engine_of(plan: Plan, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return what says how a plan is simulated, by the names of ENGINE."""
    return {row: environment[row] for row in ENGINE if row in environment} | {DESIGN: design(plan)}


def design(plan: Plan) -> str:
    """Return a name for the looks of a plan and the sizes of its loads."""
    asked = _asked(plan)
    sizes = [entry.get("simulated") for entry in asked["benchmark"]]
    digest = hashlib.sha256(json.dumps([asked.get("blocks"), sizes]).encode()).hexdigest()
    looks = " or ".join(map(str, plan.blocks.looks))
    return f"{looks} blocks ({digest[:6]})"


def what_is_asked(plan: Plan) -> str:
    """Return a plan as its file would be, without how long and how often it measures."""
    asked = _asked(plan)
    asked.pop("blocks", None)
    for entry in asked["benchmark"]:
        entry.pop("simulated", None)
    return json.dumps(asked, sort_keys=True)


def _asked(plan: Plan) -> dict[str, Any]:
    """Return a plan as its file would be, with the benchmarks of its suite written out."""
    asked = plan.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    asked["benchmark"] = [
        entry.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        for entry in benchmarks(plan)
    ]
    return asked


def benchmarks(plan: Plan) -> list[PlanEntry]:
    """Return the entries of a plan's suite and its own."""
    suite = find_suite(plan.suite)[0].benchmark if plan.suite else ()
    return [*suite, *plan.benchmark]


def measured_seconds(records: Iterable[RunRecord], label: str) -> float | None:
    """Return how long the runs of a case measured, on average; None where no run says it."""
    found = [
        record.counters[MEASURED] * 1e-9
        for record in records
        if record.key.case == label and MEASURED in record.counters
    ]
    return sum(found) / len(found) if found else None


def together(parts: Sequence[Predicted], labels: Sequence[str]) -> list[Predicted]:
    """Merge the parts of a plan that the same engine simulated, in the order of its cases."""
    merged: list[Predicted] = []
    for part in parts:
        same = next((n for n, other in enumerate(merged) if _alike(other, part)), None)
        if same is None:
            merged.append(part)
            continue
        first = merged[same]
        merged[same] = replace(
            first,
            rows=sorted([*first.rows, *part.rows], key=lambda row: labels.index(row.label)),
            counts=sorted([*first.counts, *part.counts], key=lambda c: labels.index(c.label)),
            whole=tuple(sorted([*first.whole, *part.whole], key=labels.index)),
        )
    return merged


def _alike(one: Predicted, other: Predicted) -> bool:
    return (one.engine, one.costs) == (other.engine, other.costs)


def costs_of(machine: Machine) -> tuple[str, ...]:
    """Return the names of a machine's costs."""
    return tuple(sorted({*machine.cycles, *machine.cost}))


def plans_of(found: Sequence[Work]) -> Mapping[tuple[str, str], tuple[str, bool]]:
    """Return by change and target the plan that runs the same, and whether its runs are cold."""
    return {(w.reference, w.plan.target): (w.plan_name, w.plan.cold) for w in found}


def references_of(found: Sequence[Work]) -> Iterator[tuple[str, Reference]]:
    """Return each change once, by name."""
    for name in dict.fromkeys(work.reference for work in found):
        yield name, find_reference(name)


def cpu_seconds_left(
    found: Sequence[Work], runs: Callable[[Work], int], measured: Mapping[str, float]
) -> float | None:
    """Return the CPU seconds the plans of a list still take; None where nothing is known of one.

    Args:
        found: the plans that are still to be run.
        runs: how many runs a plan is made of.
        measured: CPU seconds of a run, by the plan's name, as far as they are known.
    """
    total = 0.0
    for work in found:
        each = measured.get(work.plan_name, work.plan.run_seconds)
        if each is None:
            return None
        total += each * runs(work)
    return total
