"""What a change did to the tasks' wakeup latency: a line for each benchmark, in percentiles."""

from schedlab.judging.analysis import Outcome
from schedlab.judging.wakeups import NAME
from schedlab.report.content import Report
from schedlab.report.wording import CLAIMED, brief_duration, is_evidence, points

HEADING = "Wakeup latency, from being woken to running:"


def wakeups(report: Report, variant: str) -> list[str]:
    """Return a line for each benchmark with percentiles that got better or worse in a variant."""
    labels = [case.info.label for case in report.cases]
    return [f"{label}: {said}" for label in labels for said in _said(report, label, variant)]


def wakeups_of(report: Report, outcome: Outcome) -> list[str]:
    """Return the same for one benchmark in one variant, without its name."""
    return [
        f"wakeup latency: {said}" for said in _said(report, outcome.case.label, outcome.variant)
    ]


def percentile_of(outcome: Outcome) -> str:
    """Return which percentile a result is: `p99.9`."""
    return outcome.metric.name.removeprefix(f"{NAME}_").replace("_", ".")


def _said(report: Report, label: str, variant: str) -> list[str]:
    found = [
        outcome
        for outcome in report.wakeups
        if (outcome.case.label, outcome.variant) == (label, variant)
        if outcome.verdict.word in CLAIMED and is_evidence(outcome.verdict)
    ]
    return [", ".join(map(_change, found))] if found else []


def _change(outcome: Outcome) -> str:
    verdict = outcome.verdict
    means = (verdict.base_mean, verdict.other_mean)
    base, other = (brief_duration((us or 0.0) / 1e6) for us in means)
    size = points(abs(verdict.effect or 0.0), plus=False)
    return f"{percentile_of(outcome)} {base} -> {other} ({size} % {verdict.word})"
