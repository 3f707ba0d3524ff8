"""Tracepoints as the headers of a kernel and of the engine define them: what fields each prints.

The engine prints an event by its own format (`TP_printk`); a tracepoint that is only declared
(`DECLARE_TRACE`) has none, so it is counted, but no trace shows it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

Fields = Mapping[str, tuple[str, ...]]
"""The fields of each event, in the order of its text."""

_HEADERS = ("include/trace/events/*.h", "drivers/*/*trace*.h", "override/trace/events/*.h")
"""Where a tree and the engine have them."""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_DEFINED = re.compile(
    r"^(?P<kind>TRACE_EVENT\w*|DECLARE_EVENT_CLASS\w*|DEFINE_EVENT\w*)\s*\(\s*(?P<name>\w+)\s*,"
    r"(?:\s*(?P<second>\w+)\s*,)?",
    re.M,
)
_PRINTED = re.compile(r"TP_printk\s*\(\s*(?P<format>(?:\"(?:\\.|[^\"\\])*\"\s*)+)")
_FIELD = re.compile(r"(\w+)=")


def event_fields(folders: Sequence[Path]) -> Fields:
    """Return the events that a simulator can print and their fields.

    Args:
        folders: kernel trees and the engine. Where several have a header, that of the first counts.
    """
    found: dict[str, tuple[str, ...]] = {}
    for header in _headers(folders):
        text = _COMMENT.sub(" ", header.read_text(encoding="utf-8", errors="replace"))
        found |= _of_header(text)
    return found


def _headers(folders: Sequence[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for folder in folders:
        for pattern in _HEADERS:
            for header in sorted(folder.glob(pattern)):
                if (place := header.relative_to(folder)) not in seen:
                    seen.add(place)
                    yield header


def _of_header(text: str) -> dict[str, tuple[str, ...]]:
    classes: dict[str, tuple[str, ...]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for match, following in pairwise([*_DEFINED.finditer(text), None]):
        assert match
        name, kind = match["name"], match["kind"]
        if kind.startswith("DEFINE_EVENT"):
            if match["second"]:
                found[match["second"]] = classes.get(name, ())
            continue
        body = text[match.end() : following.start() if following else len(text)]
        printed = _PRINTED.search(body)
        classes[name] = tuple(dict.fromkeys(_FIELD.findall(printed["format"]))) if printed else ()
        if kind.startswith("TRACE_EVENT"):
            found[name] = classes[name]
    return found
