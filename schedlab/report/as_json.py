"""The whole result as JSON. docs/manual/reports.md describes every key; keys are only added."""

import json
import math
from dataclasses import asdict
from typing import Any

from schedlab import __version__
from schedlab.judging.stats import Verdict
from schedlab.report.content import Report
from schedlab.report.sensitivity import dependences
from schedlab.report.shape import shape
from schedlab.report.wording import counter_unit
from schedlab.result.record import RunRecord

SCHEMA = "schedlab-report/1"


@shape("json", suffix="json")
def render(report: Report) -> str:
    """JSON: the verdicts, every run, the plan and the machine."""
    store, plan = report.store, report.plan
    document = {
        "schema": SCHEMA,
        "title": report.title,
        "banners": report.banners,
        "aa": plan.aa,
        "target": plan.target,
        "kernel": report.kernel,
        "seed": plan.blocks.seed,
        "version": store.version,
        "report_version": __version__,
        "invocation": store.invocation,
        "folder": str(store.folder),
        "design": {
            **asdict(report.design),
            "correction": "holm" if report.design.strict else "benjamini-hochberg",
        },
        "method": report.method(),
        "environment": store.environment,
        "machine": store.machine.model_dump(mode="json"),
        "plan": plan.model_dump(mode="json"),
        "notices": report.notices,
        "benchmarks": [asdict(case.info) for case in report.cases],
        "results": [
            {
                "benchmark": outcome.case.label,
                "metric": outcome.metric.name,
                "unit": outcome.metric.unit,
                "baseline": report.baseline,
                "variant": outcome.variant,
                **_verdict(outcome.verdict),
            }
            for outcome in report.analysis.outcomes
        ],
        "counters": [
            {
                "benchmark": counter.case.label,
                "counter": counter.counter,
                "unit": counter_unit(counter.counter),
                "baseline": report.baseline,
                "variant": counter.variant,
                **_verdict(counter.verdict),
            }
            for counter in report.analysis.counters
        ],
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
        "boots": [asdict(boot) for boot in store.boots],
        "printed": [asdict(each) for each in store.printed],
        "runs": [_run(record) for record in report.records],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of a verdict under their own names, and those with the sign turned."""
    fields = asdict(verdict)
    del fields["key"]
    fields["effect_better"] = verdict.effect_better
    fields["interval_better"] = verdict.interval_better
    fields["interval_adjusted_better"] = verdict.interval_adjusted_better
    return {name: _finite(value) for name, value in fields.items()}


def _run(record: RunRecord) -> dict[str, Any]:
    fields = {name: _finite(value) for name, value in vars(record).items() if name != "key"}
    key = record.key
    return {
        "benchmark": key.case,
        "variant": key.variant,
        "block": key.block,
        "warmup": key.warmup,
        **fields,
    }


def _finite(value: Any) -> Any:
    """Return a value as JSON can hold it: null for what is infinite or no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, tuple) else value
