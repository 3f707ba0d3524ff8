"""schedlab's own reports that carry their result: JSON, HTML and Markdown."""

import json
import re
from typing import Any, NoReturn

from schedlab.importers.bounds import (
    LONGEST_NUMBER,
    MOST_BYTES,
    MOST_ELEMENTS,
    MOST_ENTRIES,
    MOST_RUNS,
)
from schedlab.importers.publication import Publication
from schedlab.importers.source import Source
from schedlab.result.carried import carried_by_html, carried_by_markdown
from schedlab.result.document import SCHEMA, from_document

# How a JSON object begins; a text whose title is a brace goes on otherwise.
_OBJECT = re.compile(r'\s*\{\s*["}]')
_OLD_MARKDOWN = re.compile(r"^# Test results$.*^# Origin$.*^# Plan$", re.MULTILINE | re.DOTALL)
_LONG_NUMBER = re.compile(rf"\d{{{LONGEST_NUMBER + 1}}}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_AGAIN = (
    "\n  Write it again from its result folder: `schedlab report DIR --format html` (or markdown,"
    " or json)."
)


def read_own_report(source: Source) -> Publication | None:
    """Read the result that a report carries; None where the text is none of these shapes.

    Raises:
        UsageError: it carries no result, or one that is damaged or not ours.
    """
    text = _carried(source)
    if text is None:
        return None
    document = from_document(_decoded(source, text), str(source.path))
    return Publication(
        plan=document.plan,
        machine=document.machine,
        environment=document.environment,
        cases=list(document.benchmarks),
        records=[run.record() for run in document.runs],
        printed=list(document.printed),
        boots=list(document.boots),
        notices=list(document.notices),
        fits=document.fits,
        ended=document.ended,
        made_by=document.invocation,
    )


def _carried(source: Source) -> str | None:
    """Return the JSON of a report, be it all of the text or carried by it."""
    text = source.text
    if _OBJECT.match(text):
        return text
    is_page = text.lstrip()[:15].casefold().startswith("<!doctype html")
    try:
        carried = (carried_by_html if is_page else carried_by_markdown)(text, MOST_BYTES)
    except ValueError as error:
        source.refuse(None, f"the result it carries is damaged: {error}.{_AGAIN}")
    if carried is None and is_page:
        source.refuse(1, f"is a page that carries no result of schedlab, or not all.{_AGAIN}")
    if carried is None and _OLD_MARKDOWN.search(text):
        source.refuse(
            1,
            "is cut off, or a report of an earlier schedlab: it does not carry a whole result."
            f"{_AGAIN}",
        )
    return carried


def _decoded(source: Source, text: str) -> dict[str, Any]:
    """Return what a JSON text holds; refuse one that is damaged, endless or not ours."""
    if text.count("{") + text.count("[") > MOST_ELEMENTS:
        source.refuse(None, f"has more than {MOST_ELEMENTS:,} tables and lists.")
    if _LONG_NUMBER.search(text):
        source.refuse(None, f"has a number of more than {LONGEST_NUMBER} digits.")
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) if text is source.text else None
        source.refuse(line, f"is not JSON: {error}.")
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        source.refuse(1, f"is JSON, but not a report of schedlab: its 'schema' is not '{SCHEMA}'.")
    _check_sizes(source, data)
    if _SURROGATE.search(text):
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            source.refuse(None, "has half of a surrogate pair, which is not text.")
    return data


def _check_sizes(source: Source, data: dict[str, Any]) -> None:
    """Refuse a table or list of more entries than a result has: each may be an error of its own."""
    long = [data.get(key) for key in ("runs", "printed")]
    waiting: list[Any] = [data]
    while waiting:
        each = waiting.pop()
        most = MOST_RUNS if any(each is other for other in long) else MOST_ENTRIES
        if len(each) > most:
            source.refuse(None, f"has a table or list of more than {most:,} entries.")
        inner = each.values() if isinstance(each, dict) else each
        waiting.extend(value for value in inner if isinstance(value, dict | list))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
