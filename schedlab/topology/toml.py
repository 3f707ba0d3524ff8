"""Writing a machine as TOML that is pleasant to read, each figure with its source beside it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

_WIDTH = 92
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write(table: Mapping[str, Any], sources: Mapping[str, str], header: str = "") -> str:
    """Give the TOML text of a table.

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
    plain = {key: value for key, value in table.items() if not _is_table(value)}
    for key, value in plain.items():
        lines = list(_pair(key, value, sources.get(path + key)))
        if len(lines) > 1 and not path:
            yield ""
        yield from lines
    for key, value in table.items():
        name = ".".join(_key(part) for part in (*path.split(".")[:-1], key))
        source = sources.get(path + key)
        if isinstance(value, Mapping):
            yield ""
            yield from _comment(source)
            yield f"[{name}]"
            yield from _table(value, f"{path}{key}.", sources)
        elif _is_table(value):
            told = sources
            for element in value:
                yield ""
                yield from _comment(source)
                yield f"[[{name}]]"
                yield from _table(element, f"{path}{key}.", told)
                source, told = None, {}


def _is_table(value: object) -> bool:
    """Tell tables from values; a list of tables without lists in them is a value, a row each."""
    if isinstance(value, Mapping):
        return True
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and isinstance(value[0], Mapping)
        and not all(_is_plain(element) for element in value)
    )


def _is_plain(table: Mapping[str, Any]) -> bool:
    return not any(isinstance(value, list | tuple | Mapping) for value in table.values())


def _pair(key: str, value: object, source: str | None) -> Iterator[str]:
    """Write `key = value`; the source stands behind a short value and above a long one."""
    start = f"{_key(key)} = "
    line = start + _inline(value)
    rows = isinstance(value, list | tuple) and any(
        isinstance(element, list | tuple | Mapping) for element in value
    )
    if not rows and len(line) <= _WIDTH:
        if source and len(line) + len(source) + 4 <= _WIDTH + 8 and "\n" not in source:
            yield f"{line}  # {source}"
        else:
            yield from _comment(source)
            yield line
        return
    yield from _comment(source)
    if not isinstance(value, list | tuple):
        yield line
        return
    yield f"{start}["
    yield from _rows(value) if rows else _wrapped([_inline(element) for element in value])
    yield "]"


def _rows(rows: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    numbers = [number for row in rows if isinstance(row, list | tuple) for number in row]
    width = max((len(_inline(number)) for number in numbers), default=0)
    for row in rows:
        if isinstance(row, list | tuple):
            yield "  [" + ", ".join(_inline(number).rjust(width) for number in row) + "],"
        else:
            yield f"  {_inline(row)},"


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
