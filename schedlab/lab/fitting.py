"""Fitting sizes to seconds: a few runs of growing size, before the first that counts.

What a run takes at any size, such as the start of the tool and of what counts beside it, tells
nothing of the size: each run is compared with the smallest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from schedlab.benchmarks import Case
from schedlab.plan.plan import Plan
from schedlab.result.record import Fit, RunKey
from schedlab.targets.target import Order, Session, Target

FOLDER = "calibration"
"""Where below the raw output those runs are kept."""

_STEP = 8
_STEPS = 6
_TELLING = 0.25
"""A run that takes this part of the wanted seconds more than the smallest tells what takes all."""


def fit_sizes(
    plan: Plan, platform: Mapping[str, str], cases: Sequence[Case], target: Target, raw: Path
) -> dict[str, Fit]:
    """Return a size for every case that wants one, found by runs of the first variant.

    Those runs are kept below `raw`, in FOLDER, and count for nothing else.

    Raises:
        SchedlabError: the target cannot run them at all.
    """
    wanting = [case for case in cases if case.seconds]
    if not wanting:
        return {}
    variant = plan.here(platform)[0]
    ladders = {case.label: _ladder(case) for case in wanting}
    steps = [step for ladder in ladders.values() for step in ladder]
    place = raw / FOLDER
    place.mkdir(exist_ok=True)
    with target.open(plan, steps, place) as session:
        orders = {
            step.label: Order(RunKey(step.label, variant.name, -1), step, variant, 0, i)
            for i, step in enumerate(steps)
        }
        return {
            case.label: _fit(
                case, [orders[step.label] for step in ladders[case.label]], session, place
            )
            for case in wanting
        }


def fitted(case: Case, fit: Fit | None) -> Case:
    """Return a case with the size that was found for it."""
    if fit is None:
        return case
    return replace(case, params={**case.params, fit.parameter: fit.value})


def _ladder(case: Case) -> list[Case]:
    """Return a case in growing sizes, from one smaller than its own."""
    parameter, own = case.benchmark.grows, int(case.params[case.benchmark.grows])
    smaller = [own // _STEP or 1] if own > 1 else []
    sizes = [*smaller, *(own * _STEP**i for i in range(_STEPS))]
    return [
        replace(
            case,
            label=f"{case.label}-{size}",
            params={**case.params, parameter: size},
            sweep=case.sweep or case.label,
        )
        for size in sizes
    ]


def _fit(case: Case, orders: Sequence[Order], session: Session, raw: Path) -> Fit:
    parameter, wanted = case.benchmark.grows, case.seconds or 0.0
    smallest, least = 0, 0.0
    for order in orders:
        size = int(order.case.params[parameter])
        record = session.run(order, raw)
        if record.error:
            own = int(case.params[parameter])
            return Fit(parameter, own, wanted, f"as given; with {size:,} it failed: {record.error}")
        if not smallest:
            smallest, least = size, record.seconds
        more = record.seconds - least
        if more >= _TELLING * wanted:
            value = _two_digits(round(wanted * (size - smallest) / more))
            found = f"for runs of about {wanted:g} s: {_took(size, more, smallest)}"
            return Fit(parameter, value, wanted, found)
    found = f"the largest tried, too small for {wanted:g} s: {_took(size, more, smallest)}"
    return Fit(parameter, size, wanted, found)


def _took(size: int, more: float, smallest: int) -> str:
    if more <= 0:
        return f"{size:,} took no longer than {smallest:,}"
    return f"{size:,} took {more:.2g} s more than {smallest:,}"


def _two_digits(value: int) -> int:
    """Round to two digits: more would only look exact."""
    if value < 10:
        return max(1, value)
    return round(value, 1 - math.floor(math.log10(value)))
