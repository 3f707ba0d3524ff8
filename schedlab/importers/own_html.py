"""schedlab's own HTML report: every run stands in it, below the benchmark's name."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from schedlab.base.validation import validate
from schedlab.benchmarks.metric import Metric
from schedlab.importers.bounds import HIGHEST, MOST_BLOCKS, MOST_ELEMENTS
from schedlab.importers.number import parse_number, parse_whole
from schedlab.importers.own_words import is_disturbance, read_case_words, read_described
from schedlab.importers.publication import Publication, imported_machine
from schedlab.importers.source import Source
from schedlab.plan.plan import Plan
from schedlab.result.boots import boots_of
from schedlab.result.printed import Printed, read_note
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo

_EMPTY = {"meta", "br", "link", "hr", "img", "input"}
_SKIPPED = {"svg", "style", "nav"}
_BEFORE_FIGURES, _BEHIND_FIGURES = 3, 3
"""Columns of a table of runs before and behind the metrics and counters."""
_SILENT = "Zero in every run: "


@dataclass
class _Element:
    """An element of the page, drawings and styles left out."""

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list["_Element | str"] = field(default_factory=list)

    def all(self, tag: str, **attributes: str) -> Iterator["_Element"]:
        """Yield the elements of a kind in it, at whatever depth."""
        for each in self.inside:
            if isinstance(each, _Element):
                wanted = attributes.items() <= each.attributes.items()
                if each.tag == tag and wanted:
                    yield each
                yield from each.all(tag, **attributes)

    def first(self, tag: str, **attributes: str) -> "_Element":
        """Return the first of them, or an empty one."""
        return next(self.all(tag, **attributes), _Element(tag, self.line))

    @property
    def text(self) -> str:
        """The text in it."""
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)


class _Reader(HTMLParser):
    """Builds the elements."""

    def __init__(self, source: Source) -> None:
        super().__init__(convert_charrefs=True)
        self._source = source
        self._elements = 0
        self.page = _Element("page", 1)
        self._open = [self.page]
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipped += 1
        if self._skipped or tag in _EMPTY:
            return
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            self._source.refuse(self.getpos()[0], f"has more than {MOST_ELEMENTS:,} elements.")
        element = _Element(tag, self.getpos()[0], {k: v or "" for k, v in attrs})
        self._open[-1].inside.append(element)
        self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped -= 1
        elif not self._skipped and any(each.tag == tag for each in self._open):
            while self._open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._open[-1].inside.append(data)


def read_own_html(source: Source) -> Publication | None:
    """Read an HTML report; None where the text is no page.

    Raises:
        UsageError: with file and line: a page of others, or one that is not whole.
    """
    if not source.text.lstrip()[:15].casefold().startswith("<!doctype html"):
        return None
    reader = _Reader(source)
    reader.feed(source.text)
    page = reader.page
    plan_text = page.first("pre", **{"aria-label": "The plan"})
    if not plan_text.text or not page.first("section", id="origin").text:
        source.refuse(1, "is a page, but no whole report of schedlab.")
    try:
        data = tomllib.loads(plan_text.text)
    except tomllib.TOMLDecodeError as error:
        source.refuse(plan_text.line, f"the plan is no TOML: {error}.")
    plan = validate(data, Plan, f"{source.path}:{plan_text.line}: the plan")
    cases: list[CaseInfo] = []
    records: list[RunRecord] = []
    metrics, printed = _results(source, page, plan)
    boot_by_position: dict[int, str] = {}
    for article in page.all("article"):
        case = _case(article, metrics.get(article.attributes.get("id", ""), []))
        cases.append(case)
        for record, boot in _runs(source, case, article, plan.judging.unit == "boot"):
            records.append(record)
            if boot:
                boot_by_position[record.position] = boot
    records.sort(key=lambda record: record.position)
    environment = {
        row.first("th").text: row.first("td").text
        for row in page.first("section", id="platform").first("table").all("tr")
    }
    notices = [item.text for item in page.first("section", id="runs").first("ul").all("li")]
    labels = {f"case{i}": case.label for i, case in enumerate(cases)}
    return Publication(
        plan=plan,
        machine=imported_machine(source, environment),
        environment=environment,
        cases=cases,
        records=records,
        printed=[found for note in printed if (found := note.read(source, labels))],
        boots=boots_of(boot_by_position[record.position] for record in records)
        if boot_by_position
        else [],
        notices=[text for text in notices if not is_disturbance(text)],
    )


@dataclass(frozen=True)
class _Note:
    """What stands below a verdict."""

    case: str
    metric: str
    variant: str
    line: int
    text: str

    def read(self, source: Source, labels: dict[str, str]) -> Printed | None:
        where = f"{source.name}:{self.line}"
        if self.case not in labels:
            source.refuse(self.line, f"a result is of '{self.case}', which the page does not have.")
        return read_note(self.text, labels[self.case], self.metric, self.variant, where)


def _results(
    source: Source, page: _Element, plan: Plan
) -> tuple[dict[str, list[Metric]], list[_Note]]:
    """Return the metrics of each case, by the name of its part, and the notes of the verdicts."""
    metrics: dict[str, list[Metric]] = {}
    notes = []
    tables = page.first("section", id="results").all("table")
    for variant, table in zip(plan.variant[1:], tables, strict=False):
        for row in table.first("tbody").all("tr"):
            case = row.first("a").attributes.get("href", "").lstrip("#")
            metric = read_described(row.first("th").first("small").text)
            if not metric or not case:
                source.refuse(row.line, "a row of results names no metric and benchmark.")
            known = metrics.setdefault(case, [])
            if metric not in known:
                known.append(metric)
            remark = row.first("td", **{"class": "word"}).first("small").text
            notes.append(_Note(case, metric.name, variant.name, row.line, remark))
    return metrics, notes


def _case(article: _Element, metrics: list[Metric]) -> CaseInfo:
    label = article.first("h3").text
    benchmark, params = read_case_words(article.attributes.get("data-case", ""), label)
    axes = [each.text for each in article.all("p", **{"class": "axis"})]
    named = tuple(
        Metric(m.name, m.unit, m.better, axis.removesuffix(f", {m.better} is better"))
        for m, axis in zip(metrics, axes, strict=False)
    )
    summary = next((e.text for e in article.inside if isinstance(e, _Element) and e.tag == "p"), "")
    return CaseInfo(
        label=label,
        benchmark=benchmark,
        summary=summary,
        command=article.first("pre", **{"class": "command"}).text,
        params=params,
        metrics=named,
    )


def _runs(
    source: Source, case: CaseInfo, article: _Element, of_boots: bool
) -> Iterator[tuple[RunRecord, str]]:
    """Yield the runs, each with its boot where that is told."""
    table = article.first("table", **{"class": "raw"})
    head = [cell.text for cell in table.first("thead").all("th")]
    before = _BEFORE_FIGURES + of_boots
    names = head[before : len(head) - _BEHIND_FIGURES]
    nr_metrics = len(case.metrics)
    counters = [name.rpartition(", ")[0] for name in names[nr_metrics:]]
    silent = {
        name: 0.0
        for each in article.all("small")
        if each.text.startswith(_SILENT)
        for name in each.text.removeprefix(_SILENT).rstrip(".").split(", ")
    }
    for row in table.first("tbody").all("tr"):
        cells = [cell.text for cell in row.all("td")]
        if len(cells) != len(head):
            source.refuse(row.line, f"the row has {len(cells)} columns, the table {len(head)}.")
        try:
            figures = [
                parse_number(cell).value if cell else None
                for cell in cells[before:-_BEHIND_FIGURES]
            ]
            position = parse_whole(cells[0], HIGHEST)
            block = parse_whole(cells[2], MOST_BLOCKS)
            seconds, other_load = cells[-3:-1]
            record = RunRecord(
                key=RunKey(case.label, cells[1], block),
                position=position,
                seed=0,
                command=case.command,
                seconds=parse_number(seconds).value,
                busy_during=parse_number(other_load).value / 100 if other_load else None,
            )
        except ValueError as error:
            source.refuse(row.line, f"{case.label}: {error}.")
        values = figures[:nr_metrics]
        record.metrics = {
            m.name: value
            for m, value in zip(case.metrics, values, strict=True)
            if value is not None
        }
        record.counters = {
            name: value
            for name, value in zip(counters, figures[nr_metrics:], strict=True)
            if value is not None
        }
        remark = cells[-1].removeprefix("warm-up").removeprefix("; ")
        if row.attributes.get("class") == "failed" or (remark and not record.metrics):
            record.status, record.error = "failed", remark
        else:
            record.counters |= silent
            record.caveats = remark.split("; ") if remark else []
        yield record, cells[_BEFORE_FIGURES] if of_boots else ""
