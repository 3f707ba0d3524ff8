"""The whole result as JSON. docs/manual/reports.md describes every key; keys are only added."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from schedlab import __version__
from schedlab.judging.analysis import Outcome
from schedlab.judging.meanings import meaning_of
from schedlab.judging.verdict import Verdict
from schedlab.judging.why import Part, TimeSpent
from schedlab.report.content import Report
from schedlab.report.decided import decision
from schedlab.report.sensitivity import dependences
from schedlab.report.shape import shape
from schedlab.report.why import sentence
from schedlab.report.wording import counter_unit
from schedlab.result.document import finite, to_document


@shape("json", suffix="json")
def render(report: Report) -> str:
    """JSON: the verdicts, every run, the plan and the machine."""
    store, plan = report.store, report.plan
    result = to_document(store)
    document = {
        "schema": result.pop("schema"),
        "title": report.title,
        "banners": report.banners,
        "aa": plan.aa,
        "target": plan.target,
        "kernel": report.kernel,
        "seed": plan.blocks.seed,
        "report_version": __version__,
        "folder": str(store.folder),
        "design": {
            **asdict(report.design),
            "correction": "holm" if report.design.strict else "benjamini-hochberg",
        },
        "method": report.method(),
        "results": _outcomes(report, report.analysis.outcomes),
        "counters": [
            {
                "benchmark": counter.case.label,
                "counter": counter.counter,
                "topic": meaning_of(counter.counter).topic,
                "meaning": meaning_of(counter.counter).words,
                "unit": counter_unit(counter.counter),
                "baseline": report.baseline,
                "variant": counter.variant,
                **_verdict(counter.verdict),
            }
            for counter in report.analysis.counters
        ],
        "wakeups": _outcomes(report, report.wakeups),
        "decision": _decision(report),
        "why": [_why(report, spent) for spent in report.times],
        "dependences": [
            {
                "benchmark": outcome.case.label,
                "metric": outcome.metric.name,
                "variant": outcome.variant,
                **asdict(found),
            }
            for outcome, found in dependences(report)
        ],
        "trends": [
            {
                "benchmarks": [case.label for case in trend.axis.cases],
                "parameter": trend.axis.parameter,
                "values": list(trend.axis.values),
                "metric": trend.metric.name,
                "baseline": report.baseline,
                "variant": trend.variant,
                "effects_better": list(trend.effects),
                "direction": trend.direction,
                "tau": trend.tau,
                "p": trend.p,
                "p_adjusted": trend.p_adjusted,
            }
            for trend in report.analysis.trends
        ],
        **result,
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _why(report: Report, spent: TimeSpent) -> dict[str, Any]:
    return {
        "benchmark": spent.case.label,
        "baseline": report.baseline,
        "variant": spent.variant,
        "text": sentence(spent),
        "per": spent.per.value,
        "whole": _part(spent.whole),
        "parts": [_part(part) for part in spent.parts],
        "roles": {role: [_part(part) for part in parts] for role, parts in spent.roles.items()},
    }


def _part(part: Part) -> dict[str, Any]:
    verdict = part.verdict
    return {
        "state": part.state,
        "meaning": part.words,
        "base_ns": finite(part.base),
        "other_ns": finite(part.other),
        "contribution": finite(part.contribution),
        "interval": finite(verdict.interval),
        "interval_adjusted": finite(verdict.interval_adjusted),
    }


def _decision(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "benchmark": part.case,
            "variant": part.variant,
            "counter": ranked.outcome.counter,
            "text": line,
            "clearness": ranked.clearness,
            "alignment": ranked.alignment,
            "alike": list(ranked.alike),
        }
        for part in decision(report).parts
        for ranked, line in zip(part.ranked, part.lines, strict=True)
    ]


def _outcomes(report: Report, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    return [
        {
            "benchmark": outcome.case.label,
            "metric": outcome.metric.name,
            "unit": outcome.metric.unit,
            "baseline": report.baseline,
            "variant": outcome.variant,
            **_verdict(outcome.verdict),
        }
        for outcome in outcomes
    ]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of a verdict under their own names, and those with the sign turned."""
    fields = asdict(verdict)
    del fields["key"], fields["notes"]
    fields["note"] = verdict.note
    fields["effect_better"] = verdict.effect_better
    fields["interval_better"] = verdict.interval_better
    fields["interval_adjusted_better"] = verdict.interval_adjusted_better
    return {name: finite(value) for name, value in fields.items()}
