"""Every figure as a line of CSV: one line a run and metric or counter, warm-up and failures too."""

import csv
import io
import json
from collections.abc import Iterator

from schedlab.report.content import Report
from schedlab.report.shape import shape
from schedlab.report.wording import counter_unit
from schedlab.result.record import RunRecord

COLUMNS = (
    *("position", "benchmark", "variant", "block", "warmup", "status", "kind", "name"),
    *("value", "unit", "better", "started", "seconds", "busy_during", "seed", "baseline", "boot"),
    "caveats",
)


@shape("csv", suffix="csv")
def render(report: Report) -> str:
    """CSV: a line a run and metric or counter; a failed run has one line without a figure."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    metrics = {
        (case.info.label, metric.name): (metric.unit, metric.better)
        for case in report.cases
        for metric in case.info.metrics
    }
    for record in report.records:
        for kind, name, value in _figures(record):
            unit, better = "", ""
            if kind == "metric":
                unit, better = metrics.get((record.key.case, name), ("", ""))
            elif kind == "counter":
                unit = counter_unit(name)
            line = _line(record, (kind, name, value, unit, better))
            baseline = int(record.key.variant == report.baseline)
            caveats = json.dumps(record.caveats) if record.caveats else ""
            writer.writerow((*line, baseline, report.boot(record), caveats))
    return page.getvalue()


def _figures(record: RunRecord) -> Iterator[tuple[str, str, float | None]]:
    if not record.metrics and not record.counters:
        yield "", "", None
    for name, value in record.metrics.items():
        yield "metric", name, value
    for name, value in record.counters.items():
        yield "counter", name, value


def _line(record: RunRecord, figure: tuple[object, ...]) -> tuple[object, ...]:
    key = record.key
    return (
        *(record.position, key.case, key.variant, key.block, int(key.warmup), record.status),
        *(*figure, record.started, record.seconds, record.busy_during, record.seed),
    )
