"""Results in a mail or another plain text: tables of any known shape below headings.

A module of `tables` that registers a reader is all it takes to read one shape more
(docs/manual/import.md).
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.base.errors import UsageError
from schedlab.benchmarks.metric import Metric
from schedlab.importers import tables
from schedlab.importers.nodes import node_lists
from schedlab.importers.publication import Publication, Row, published_means
from schedlab.importers.source import Line, Source
from schedlab.importers.tables.table import READERS, Context, read_described
from schedlab.importers.unwrap import unbroken
from schedlab.importers.whole import refuse_unread, unread

_BOX = re.compile(r"~{3,}")
_BOXED = re.compile(r"~\s+(?P<name>.+?)\s+~")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_MARKDOWN = re.compile(r"#{1,6}\s+(?P<name>.+?)\s*#*")
_SETTING = re.compile(r"o\s+(?P<name>\S.{0,60}?):?")
_POINT = re.compile(r"-\s+(?P<name>\S.{0,40}?):?")
_KERNEL = re.compile(r"-\s+(?P<name>[\w.+-]+)\s+-\s+(?P<what>.+)")
_PAIR = re.compile(r"(?P<name>\S[^:]{0,30}?):\s+(?P<value>\S.*)")
_OWN = "Made with schedlab"
_SYSTEM, _KERNELS, _MACHINES = "system details", "kernel versions", "machines"


def read_own_mail(source: Source) -> Publication | None:
    """Read a report in one of our mail shapes, whatever its title looks like; None for others.

    Raises:
        UsageError: with file and line, a table that is not whole or not clear.
    """
    return read_text(source) if _is_own(source.lines()) else None


def read_text(source: Source) -> Publication | None:
    """Read the results of a text: those that are not quoted, or else the least quoted ones.

    Raises:
        UsageError: with file and line, a table that is not whole or not clear.
    """
    for module in pkgutil.iter_modules(tables.__path__):
        importlib.import_module(f"{tables.__name__}.{module.name}")
    for depth in source.depths:
        lines = source.rows(depth)
        found = _own_tables(source, depth) if _is_own(lines) else _tables(source, lines)
        if found.rows:
            return found.publication()
    return None


@dataclass(frozen=True)
class _Tables:
    """The rows of a text's tables, and where they stood."""

    lines: Sequence[Line]
    context: Context
    rows: list[Row]

    def publication(self) -> Publication:
        """Assemble the publication of what was read."""
        source, lines = self.context.source, self.lines
        environment = dict(_environment(lines))
        nodes, notices = node_lists(source, lines)
        title = _title(source, lines)
        publication = published_means(source, title, environment | nodes, self.rows)
        publication.notices += [*notices, *self.context.notices]
        return publication


def _tables(source: Source, lines: Sequence[Line]) -> _Tables:
    context = Context(source, source.path.stem, _named_kernels(lines))
    context.described = dict(_described(lines))
    context.is_own = _is_own(lines)
    machines = [name for name, _ in _machines(lines)]
    context.machines = machines if len(machines) > 1 else []
    return _Tables(lines, context, list(_rows(lines, context)))


def _own_tables(source: Source, depth: int) -> _Tables:
    """Read a text of schedlab's own as it is, or with lines put together that were broken.

    Raises:
        UsageError: some of its rows cannot be read either way.
    """
    wrong: UsageError | None = None
    left: list[tuple[list[Line], int]] = []
    ways = (source.rows(depth), unbroken(source, depth))
    for lines in reversed(ways) if depth else ways:
        try:
            found = _tables(source, lines)
        except UsageError as error:
            wrong = wrong or error
            continue
        missed = unread(source.with_rests(depth), found.context.read)
        if not missed:
            return found
        left.append((missed, len(found.context.read)))
    if wrong:
        raise wrong
    refuse_unread(source, *min(left, key=lambda each: len(each[0])))


def _rows(lines: Sequence[Line], context: Context) -> Iterator[Row]:
    """Walk through a text, tracking the headings above each line."""
    at = 0
    while at < len(lines):
        for reader in READERS.values():
            found = reader(lines, at, context)
            if found:
                rows, at = found
                if not context.variants and rows:
                    context.variants = [cell.variant for cell in rows[0].cells]
                yield from rows
                break
        else:
            at = _heading(lines, at, context)


def _heading(lines: Sequence[Line], at: int, context: Context) -> int:
    """Record a heading, if it is one; return the line after it."""
    text = lines[at].text.strip()
    behind = lines[at + 1].text.strip() if at + 1 < len(lines) else ""
    if context.is_own and (boxed := _BOXED.fullmatch(text)):
        context.enter(boxed["name"])
        return at + 1
    if _BOX.fullmatch(text) and (boxed := _BOXED.fullmatch(behind)):
        context.enter(boxed["name"])
        return at + 3
    if markdown := _MARKDOWN.fullmatch(text):
        context.enter(markdown["name"])
    elif text and len(text) <= 60 and _UNDERLINE.fullmatch(behind):
        context.enter(text.rstrip(":"))
        return at + 2
    elif setting := _SETTING.fullmatch(text):
        about_variant = setting["name"].partition(" against ")[0] in context.variants
        context.settings = [] if about_variant else [setting["name"]]
    elif (point := _POINT.fullmatch(text)) and not _KERNEL.fullmatch(text):
        context.settings = [*context.settings[:1], point["name"]]
    elif text.endswith(":"):
        context.labels.append(_whole_label(lines, at))
    return at + 1


def _whole_label(lines: Sequence[Line], at: int) -> str:
    """Return a label that ends here with a colon, with the lines it was broken over."""
    parts = [lines[at].text.strip().removesuffix(":")]
    for line in reversed(lines[:at]):
        if not line.text or line.text.startswith((" ", "$ ", "~ ")) or line.text.endswith(":"):
            break
        parts.insert(0, line.text)
    return " ".join(parts)


def _is_own(lines: Sequence[Line]) -> bool:
    return any(line.text.startswith(_OWN) for line in lines)


def _title(source: Source, lines: Sequence[Line]) -> str:
    """Return the first line if it stands alone, as the subject of a mail does."""
    at = next((i for i, line in enumerate(lines) if line.text.strip()), 0)
    behind = lines[at + 1].text.strip() if at + 1 < len(lines) else ""
    alone = not behind or _UNDERLINE.fullmatch(behind)
    title = lines[at].text.strip("#= ") if alone else ""
    return title or f"Published results: {source.path.stem}"


def _parts(lines: Sequence[Line], heading: str) -> list[str]:
    """Return the lines below `o HEADING`, up to the next heading."""
    part: list[str] = []
    inside = False
    for line in lines:
        setting = _SETTING.fullmatch(line.text.strip())
        if setting or _BOX.match(line.text.strip()):
            inside = bool(setting and setting["name"].casefold() == heading)
        elif inside:
            part.append(line.text)
    return part


def _environment(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Yield what the text says of the system and the kernels."""
    name, value = "", ""
    if _is_own(lines) and not any(_parts(lines, _SYSTEM)):
        yield from _machines(lines)
    for text in [*_parts(lines, _SYSTEM), ""]:
        pair = _PAIR.fullmatch(text)
        if text.startswith(" ") and value:
            value += f" {text.strip()}"
            continue
        if value:
            yield name, value
        name, value = (pair["name"], pair["value"]) if pair else ("System", text.strip())
    if not _is_own(lines):  # such a one has the kernel in its system
        for name, what in _kernels(lines):
            yield f"Kernel {name}", what


def _machines(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Yield what a mail of schedlab's own says of each machine, by its name."""
    for text in _parts(lines, _MACHINES):
        name, colon, what = text.removeprefix("- ").partition(": ")
        if colon and text.startswith("- "):
            yield name, what


def _kernels(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    name, what = "", ""
    for text in [*_parts(lines, _KERNELS), ""]:
        kernel = _KERNEL.fullmatch(text.strip())
        if kernel or not text.strip():
            if name:
                yield name, what
            name, what = (kernel["name"], kernel["what"]) if kernel else ("", "")
        elif name:
            what += f" {text.strip()}"


def _named_kernels(lines: Sequence[Line]) -> list[str]:
    return [name for name, _ in _kernels(lines)]


def _described(lines: Sequence[Line]) -> Iterator[tuple[str, Metric]]:
    """Yield the metrics that the shapes mmtests and intel describe, by the names of their rows."""
    item = ""
    for line in [*lines, Line(0, "")]:
        if line.text.startswith("  ") and item:
            item += f" {line.text.strip()}"
            continue
        name, colon, rest = item.rpartition(": ")
        metric = read_described(rest.rpartition("; ")[0] or rest) if colon else None
        if metric:
            yield name.removeprefix("- "), metric
        item = line.text if line.text.startswith("- ") else ""


def no_result(source: Source) -> UsageError:
    """Return the error for a text without results."""
    line = next((line for line in source.lines() if line.text.strip()), None)
    begins = f"begins with '{line.text.strip()[:40]}'" if line else "is empty"
    return UsageError(
        f"{source.path}:{line.number if line else 1}: {begins} and has no table of results that"
        " schedlab knows.\n  docs/manual/import.md shows the shapes it reads."
    )
