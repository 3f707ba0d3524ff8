"""The report in Markdown, in the shape of the two Kunpeng reports with verdicts before the runs."""

import re
from collections.abc import Iterable, Iterator, Sequence

from schedlab.base.printable import printable, printable_lines
from schedlab.report.content import (
    CaseReport,
    Report,
    by_variant,
    case_words,
    describe_variant,
    run_name,
)
from schedlab.report.decided import by_topic, decision
from schedlab.report.exhibits import exhibits
from schedlab.report.shape import shape
from schedlab.report.wakeups import HEADING as WAKEUPS
from schedlab.report.wakeups import wakeups
from schedlab.report.why import HEADING, why
from schedlab.report.wording import (
    blocks_used,
    count,
    counter_unit,
    described,
    direction,
    exact,
    figures_of,
    interval,
    mean_count,
    points,
    verdict_phrase,
)
from schedlab.result.carried import in_markdown
from schedlab.result.record import RunRecord

_MARKUP = re.compile(r"[\\`*|]|\](?=[(\[:])|^[#>~=+-]")


@shape("markdown", suffix="md")
def render(report: Report) -> str:
    """Markdown: platform, verdicts, then one table a benchmark with a row a run."""
    return "".join(f"{line}\n" for line in _lines(report)) + in_markdown(report.store)


def _lines(report: Report) -> Iterator[str]:
    title = printable(report.title)
    yield from (_text(title), "=" * max(3, len(title)), "")
    for banner in report.banners:
        yield from (f"**{_text(banner)}**", "")
    yield from _changes(report)
    yield from _platform(report)
    for variant in report.others:
        yield from _summary(report, variant)
    yield from _decision(report)
    for exhibit in exhibits(report):
        yield from (f"# {_text(exhibit.title)}", "")
        yield from _bullets(exhibit.notes)
        yield from _table(exhibit.headings, exhibit.rows)
    yield from ("# Test results", "")
    for case in report.cases:
        yield from _case(report, case)
    yield from _settings(report)
    yield from _trouble(report)
    yield from ("# Method", "")
    yield from _bullets(report.method())
    yield from _origin(report)


def _changes(report: Report) -> Iterator[str]:
    for variant in report.plan.variant:
        role = " (baseline)" if variant.name == report.baseline else ""
        yield f"- **{_text(variant.name)}**{role}: {_text(describe_variant(variant, report.plan))}"
    yield ""


def _platform(report: Report) -> Iterator[str]:
    yield from ("# Platform", "")
    yield from _table(["System", "Information"], report.store.environment.items())


def _summary(report: Report, variant: str) -> Iterator[str]:
    yield from (f"# Verdicts: {_text(variant)} against {_text(report.baseline)}", "")
    yield f"{report.tally(variant)}. Figures are geometric means; a positive change is better."
    yield ""
    headings = ["Benchmark", "Metric", report.baseline, variant]
    headings += ["Change (%)", "Interval (%)", f"{report.unit.capitalize()}s", "Verdict"]
    rows = [
        (
            outcome.case.label,
            described(outcome.metric),
            *figures_of(outcome.verdict)[:-1],
            verdict_phrase(outcome.verdict),
        )
        for outcome in report.outcomes_in(variant)
    ]
    yield from _table(headings, rows)
    if reasons := why(report, variant):
        yield from (f"{HEADING}", "")
        yield from _bullets(reasons)
    if latencies := wakeups(report, variant):
        yield from (WAKEUPS, "")
        yield from _bullets(latencies)
    if trends := report.trends(variant):
        yield from ("Trends along sweeps; a change that rises gets better:", "")
        yield from _bullets(trends)
    checks = report.manipulation_checks(variant)
    if checks:
        title = "Manipulation checks, which show that the setting took and are not results:"
        yield from (title, "")
        yield from _bullets(checks)


def _decision(report: Report) -> Iterator[str]:
    found = decision(report)
    if found.parts or found.nothing:
        yield from (f"# {found.title}", "")
    if found.nothing:
        yield from (found.nothing, "")
    for part in found.parts:
        yield from (_text(f"{part.case}, {part.variant} against {report.baseline}:"), "")
        yield from _bullets(part.lines)
    if report.detail.counters:
        yield from _counters(report)
    elif found.rest:
        yield from (_text(found.rest), "")


def _counters(report: Report) -> Iterator[str]:
    """Yield a table of all counters that changed in a variant, by what the scheduler does."""
    for variant in report.others:
        headings = ["Benchmark", "Topic", "Counter", report.baseline, variant]
        headings += ["Change (%)", "Interval (%)", f"{report.unit.capitalize()}s", "Verdict"]
        rows = [
            (
                counter.case.label,
                topic,
                f"{counter.counter}, {counter_unit(counter.counter)}",
                mean_count(counter.verdict.base_mean),
                mean_count(counter.verdict.other_mean),
                points(counter.verdict.effect),
                interval(counter.verdict.interval_adjusted),
                blocks_used(counter.verdict),
                verdict_phrase(counter.verdict),
            )
            for case in report.cases
            for topic, counters in by_topic(case.moved_in(variant))
            for counter in counters
        ]
        if rows:
            yield from (f"# Counters that changed in {_text(variant)}; positive is more", "")
            yield from _table(headings, rows)


def _case(report: Report, case: CaseReport) -> Iterator[str]:
    yield from (f"## {_text(case.info.label)}", "")
    directions = [f"{metric.label}: {direction(metric)}." for metric in case.info.metrics]
    yield from (_text(" ".join([case.info.summary, *directions]).strip()), "")
    yield from _fenced(printable(case.info.command))
    yield from (f"Benchmark: {_text(printable(case_words(case.info)))}", "")
    metrics = case.info.metrics
    headings = [
        "Test",
        *report.boot_headings,
        *(metric.label for metric in metrics),
        *case.tracepoints,
    ]
    rows = []
    for variant in report.plan.variant:
        for run in by_variant(case.runs, variant.name):
            figures = [_figure(run, metric.name) for metric in metrics]
            counts = [_count(run, name) for name in case.tracepoints]
            boot = [report.boot(run) for _ in report.boot_headings]
            rows.append((run_name(run), *boot, *figures, *counts))
    yield from _table(headings, rows)


def _figure(run: RunRecord, metric: str) -> str:
    if run.status == "failed":
        return "failed"
    return exact(run.metrics[metric]) if metric in run.metrics else ""


def _count(run: RunRecord, counter: str) -> str:
    return count(run.counters[counter]) if counter in run.counters else ""


def _settings(report: Report) -> Iterator[str]:
    settings = report.settings()
    names = [variant.name for variant in report.plan.variant]
    if settings:
        yield from ("# Settings read back", "")
        rows = [(knob, *(values.get(name, "") for name in names)) for knob, values in settings]
        yield from _table(["Setting", *names], rows)


def _trouble(report: Report) -> Iterator[str]:
    if report.failed:
        yield from ("# Failed runs", "")
        yield from _bullets(
            f"{run_name(run)} of {run.key.case}: {run.error}" for run in report.failed
        )
    if notices := report.notices_and_disturbance():
        yield from ("# Notices", "")
        yield from _bullets(notices)


def _origin(report: Report) -> Iterator[str]:
    yield from ("# Origin", "")
    kernel, seed = report.kernel, report.plan.blocks.seed
    yield from _bullets(
        [
            f"schedlab {report.store.version}, kernel {kernel}, seed {seed}, target"
            f" {report.plan.target}",
            report.run_count(),
            "`Default-3-0` would be the run of Default in block 3; the runs of a block followed"
            " each other in random order, whatever the order of the rows",
        ]
    )
    yield from _fenced(printable_lines(report.store.invocation))
    yield from ("# Plan", "")
    yield from _fenced(printable_lines(report.plan.to_toml()))


def _table(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    cells = [_text(heading) for heading in headings]
    yield f"|{'|'.join(cells)}|"
    yield f"|{'|'.join([' :--- '] * len(cells))}|"
    for row in rows:
        yield f"|{'|'.join(_text(cell) for cell in row)}|"
    yield ""


def _fenced(text: str) -> Iterator[str]:
    longest = max((len(run) for run in re.findall("~+", text)), default=0)
    fence = "~" * max(3, longest + 1)
    yield from (fence, text, fence, "")


def _bullets(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"- {_text(line)}"
    yield ""


def _text(text: str) -> str:
    """Keep a text from being taken for markup."""
    plain = printable(text).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKUP.sub(r"\\\g<0>", plain)
