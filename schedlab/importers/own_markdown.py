"""schedlab's own Markdown report: runs, verdict table, settings and plan, as report.md has them."""

import html
import re
import tomllib
from collections.abc import Iterator, Sequence

from schedlab.base.validation import validate
from schedlab.benchmarks.metric import Metric
from schedlab.importers.number import parse_number
from schedlab.importers.own_words import is_disturbance, read_case_words, read_described
from schedlab.importers.publication import Publication, imported_machine
from schedlab.importers.source import Line, Source
from schedlab.plan.plan import Plan
from schedlab.result.boots import boots_of
from schedlab.result.printed import Printed, read_note
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo

_SECTION = re.compile(r"# (?P<name>\S.*)")
_CASE = re.compile(r"## (?P<name>\S.*)")
_VERDICTS = "Verdicts: "
_RUN = re.compile(r"(?P<variant>.+)-(?P<block>\d+)-0")
_FAILED = re.compile(r"- (?P<run>\S+-\d+-0) of (?P<case>.+?): (?P<error>.*)")
_CELLS = re.compile(r"((?:\\.|[^|\\])*)\|")
_ESCAPED = re.compile(r"\\(\W)")


def read_own_markdown(source: Source) -> Publication | None:
    """Read a Markdown report with its plan; None where the text has no such parts.

    Raises:
        UsageError: with file and line, where a table is not whole.
    """
    lines = source.rows()
    parts = dict(_parts(lines, _SECTION))
    if "Plan" not in parts or "Test results" not in parts:
        return None
    plan = _plan(source, parts["Plan"])
    metrics: dict[str, list[Metric]] = {}
    printed: list[Printed] = []
    capped: set[tuple[str, str]] = set()
    for variant in plan.variant[1:]:
        name = f"{_VERDICTS}{variant.name} against {plan.baseline.name}"
        for number, row in _table(source, parts.get(name, []))[1:]:
            metric = read_described(row[1])
            if not metric:
                source.refuse(number, f"'{row[1]}' is not a metric, its unit and direction.")
            known = metrics.setdefault(row[0], [])
            if metric not in known:
                known.append(metric)
            where = f"{source.name}:{number}"
            note = row[-1].partition(": ")[2]
            found = read_note(note, row[0], metric.name, variant.name, where)
            printed += [found] if found else []
            if "capped: cannot be certified" in note:
                capped.add((row[0], variant.name))
    errors = dict(_errors(parts.get("Failed runs", [])))
    cases: list[CaseInfo] = []
    records: list[RunRecord] = []
    boots: dict[RunKey, str] = {}
    for name, body in _parts(parts["Test results"], _CASE):
        of_boots = plan.judging.unit == "boot"
        case = _case(name, body, metrics.get(name, []), of_boots)
        cases.append(case)
        for run, boot in _runs(source, case, body, errors, of_boots):
            if boot:
                boots[run.key] = boot
            if (case.label, run.key.variant) in capped:
                run.caveats.append("capped, as the report says")
            records.append(run)
    if boots:
        records.sort(key=lambda run: run.key.block)  # as their boots followed each other
    for position, run in enumerate(records):
        run.position = position
    environment = {
        row[0]: row[1] for _, row in _table(source, parts.get("Platform", []))[1:] if row[0]
    }
    return Publication(
        plan=plan,
        machine=imported_machine(source, environment),
        environment=environment,
        cases=cases,
        records=records,
        printed=printed,
        boots=boots_of(boots[run.key] for run in records) if boots else [],
        notices=[
            text
            for line in parts.get("Notices", [])
            if (text := _plain(line.text.removeprefix("- "))) and not is_disturbance(text)
        ],
    )


def _parts(lines: Sequence[Line], heading: re.Pattern[str]) -> Iterator[tuple[str, list[Line]]]:
    """Yield each heading with the lines below it; fenced text has no headings."""
    name, body, fence = "", list[Line](), ""
    for line in lines:
        rule = re.match(r"~{3,}", line.text)
        if rule and (not fence or line.text.strip() == fence):
            fence = "" if fence else rule[0]
        found = None if fence else heading.fullmatch(line.text)
        if found:
            if name:
                yield name, body
            name, body = _plain(found["name"]), []
        else:
            body.append(line)
    if name:
        yield name, body


def _plain(text: str) -> str:
    """Undo what keeps a text from being taken for markup."""
    return html.unescape(_ESCAPED.sub(r"\1", text.strip()))


def _plan(source: Source, body: Sequence[Line]) -> Plan:
    text, first = _fenced(body)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        source.refuse(first, f"the plan is no TOML: {error}.")
    return validate(data, Plan, f"{source.path}:{first}: the plan")


def _fenced(body: Sequence[Line]) -> tuple[str, int]:
    """Return the text of the first fence, and the line it begins in."""
    fences = [i for i, line in enumerate(body) if line.text.startswith("~~~")]
    if not fences:
        return "", body[0].number if body else 1
    end = next((i for i in fences[1:] if body[i].text == body[fences[0]].text), len(body))
    inside = body[fences[0] + 1 : end]
    return "\n".join(line.text for line in inside), body[fences[0]].number


def _table(source: Source, body: Sequence[Line]) -> list[tuple[int, list[str]]]:
    """Return the rows of the first table, the head first."""
    rows: list[tuple[int, list[str]]] = []
    for line in body:
        if not line.text.startswith("|"):
            if rows:
                break
            continue
        row = [_plain(cell) for cell in _CELLS.findall(line.text[1:])]
        if all(cell == ":---" for cell in row):
            continue
        if rows and len(row) != len(rows[0][1]):
            source.refuse(
                line.number,
                f"the row {row[0]} has {len(row)} columns, the table has {len(rows[0][1])}.",
            )
        rows.append((line.number, row))
    return rows


def _errors(body: Sequence[Line]) -> Iterator[tuple[tuple[str, str], str]]:
    for line in body:
        if found := _FAILED.fullmatch(line.text):
            yield (_plain(found["case"]), _plain(found["run"])), _plain(found["error"])


def _case(label: str, body: Sequence[Line], metrics: Sequence[Metric], of_boots: bool) -> CaseInfo:
    """Put together what the report says of a case; the head of its table has the labels."""
    command, _ = _fenced(body)
    texts = [_plain(line.text) for line in body if line.text.strip()]
    told = next((text for text in texts if text.startswith("Benchmark: ")), "")
    benchmark, params = read_case_words(told.removeprefix("Benchmark: "), label)
    head = next((line.text for line in body if line.text.startswith("|")), "")
    labels = [_plain(cell) for cell in _CELLS.findall(head[1:])][1 + of_boots :]
    named = tuple(
        Metric(m.name, m.unit, m.better, label) for m, label in zip(metrics, labels, strict=False)
    )
    directions = " ".join(f"{m.label}: {m.better} is better." for m in named)
    summary = texts[0].removesuffix(directions).strip() if texts and directions else ""
    return CaseInfo(
        label=label,
        benchmark=benchmark,
        summary=summary,
        command=command,
        params=params,
        metrics=named,
    )


def _runs(
    source: Source,
    case: CaseInfo,
    body: Sequence[Line],
    errors: dict[tuple[str, str], str],
    of_boots: bool,
) -> Iterator[tuple[RunRecord, str]]:
    """Yield the runs, each with its boot where that is told."""
    table = _table(source, body)
    if not table:
        return
    head = table[0][1]
    first = 1 + of_boots
    for number, row in table[1:]:
        name = _RUN.fullmatch(row[0])
        if not name:
            source.refuse(number, f"the run '{row[0]}' is not named VARIANT-BLOCK-0.")
        figures: dict[str, float] = {}
        for column, cell in zip(head[first:], row[first:], strict=True):
            if cell not in ("", "failed"):
                try:
                    figures[column] = parse_number(cell).value
                except ValueError as error:
                    source.refuse(number, f"{row[0]}, {column}: {error}.")
        failed = "failed" in row
        labels = {metric.label: metric.name for metric in case.metrics}
        record = RunRecord(
            key=RunKey(case.label, name["variant"], int(name["block"])),
            position=0,
            seed=0,
            command=case.command,
            status="failed" if failed else "ok",
            error=errors.get((case.label, row[0]), "") if failed else "",
            metrics={labels[c]: value for c, value in figures.items() if c in labels},
            counters={c: value for c, value in figures.items() if c not in labels},
        )
        yield record, row[1] if of_boots else ""
