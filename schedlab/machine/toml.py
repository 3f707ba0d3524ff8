"""Writing a machine as TOML that is pleasant to read, each figure with its source beside it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

_WIDTH = 92
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Inline(dict[str, Any]):
    """A table that stays in its key's line, however long that gets."""


def write(table: Mapping[str, Any], sources: Mapping[str, str], header: str = "") -> str:
    """Return the TOML text of a table.

    Args:
        table: what is to be written, in the order it is to be read.
        sources: where a figure comes from, by key path without indices (`topology.llc`).
        header: lines for the top of the file.
    """
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    lines += [""] if lines else []
    lines += _table(table, "", sources)
    return "\n".join(lines).strip("\n") + "\n"


def _table(table: Mapping[str, Any], path: str, sources: Mapping[str, str]) -> Iterator[str]:
    plain = {key: value for key, value in table.items() if not _is_table(value, path)}
    for key, value in plain.items():
        lines = list(_pair(key, value, sources.get(path + key)))
        if len(lines) > 1 and not path:
            yield ""
        yield from lines
    for key, value in table.items():
        if key in plain:
            continue
        name = ".".join(_key(part) for part in (*path.split(".")[:-1], key))
        source, below = sources.get(path + key), sources
        for element in [value] if isinstance(value, Mapping) else value:
            yield ""
            yield from _comment(source)
            yield f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            yield from _table(element, f"{path}{key}.", below)
            source, below = None, {}


def _is_table(value: object, path: str) -> bool:
    """Return whether this is a table, or a list of tables, and not a value.

    Tables of plain values stay in one line below the top; so do lists of them everywhere.
    """
    if isinstance(value, Inline):
        return False
    if isinstance(value, Mapping):
        return not path or not _is_plain(value)
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and isinstance(value[0], Mapping)
        and not all(_is_plain(element) for element in value)
    )


def _is_plain(table: Mapping[str, Any]) -> bool:
    return not any(
        isinstance(value, list | tuple | Mapping) and not isinstance(value, Inline)
        for value in table.values()
    )


def _pair(key: str, value: object, source: str | None) -> Iterator[str]:
    """Write `key = value`; the source stands behind a short value and above a long one."""
    line = f"{_key(key)} = {_inline(value)}"
    rows = _rows(value)
    if len(rows) < 2 and (len(line) <= _WIDTH or not isinstance(value, list | tuple)):
        if source and len(line) + len(source) <= _WIDTH + 4 and "\n" not in source:
            yield f"{line}  # {source}"
        else:
            yield from _comment(source)
            yield line
        return
    yield from _comment(source)
    yield f"{_key(key)} = ["
    yield from rows or _wrapped([_inline(element) for element in _elements(value)])
    yield "]"


def _elements(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _rows(value: object) -> list[str]:
    """Return the lines of a matrix or of a list of tables; nothing for what is written as a run."""
    elements = _elements(value)
    if all(isinstance(element, Mapping) and len(element) > 1 for element in elements):
        return [f"  {_inline(element)}," for element in elements]
    if not all(isinstance(element, list | tuple) for element in elements):
        return []
    width = max((len(_inline(number)) for row in elements for number in row), default=0)
    return [
        "  [" + ", ".join(_inline(number).rjust(width) for number in row) + "]," for row in elements
    ]


def _wrapped(elements: list[str]) -> Iterator[str]:
    line = ""
    for element in elements:
        if line and len(line) + len(element) + 4 > _WIDTH:
            yield f"  {line.rstrip()}"
            line = ""
        line += f"{element}, "
    yield f"  {line.rstrip()}"


def _comment(source: str | None) -> Iterator[str]:
    return (f"# {line}".rstrip() for line in (source or "").splitlines())


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_inline(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_inline(inner) for inner in value)}]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _inline(key)
