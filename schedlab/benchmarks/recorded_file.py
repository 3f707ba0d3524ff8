"""The text of workload files: plain, compressed with gzip, or summarised."""

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError, reading, writing
from schedlab.base.files import need_regular, parse_json

LARGEST_WORKLOAD = 1 << 30
"""Bytes of the largest workload that is read, unpacked."""
SUMMARY = "summary"
"""The key of what a summarised workload has instead of its tasks' words."""
_GZIP = b"\x1f\x8b"
_MARK = f'"{SUMMARY}"'


def read_workload_text(path: Path) -> str:
    """Return a workload file's text: unpacked, and with all words if it is summarised.

    Raises:
        UsageError: it cannot be read, is damaged, or too long.
    """
    text = _unpacked(path)
    if _MARK not in text:
        return text
    document = parse_json(text, path)
    if not isinstance(document, dict) or SUMMARY not in document:
        return text
    from schedlab.benchmarks.recordings.summary import expanded

    return one_line_each(expanded(document, str(path), LARGEST_WORKLOAD))


def write_workload_text(path: Path, text: str) -> None:
    """Write a workload file, compressed if its name ends in .gz."""
    content = text.encode()
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    with writing(path, UsageError):
        path.write_bytes(content)


def one_line_each(document: Mapping[str, Mapping[str, Any]]) -> str:
    """Return JSON with a line for each member of its objects: a file may have a million items."""
    parts = []
    for key, value in document.items():
        members = (
            f"  {json.dumps(name)}: {json.dumps(member, separators=(',', ':'))}"
            for name, member in value.items()
        )
        parts.append("\n".join([f" {json.dumps(key)}: {{", ",\n".join(members), " }"]))
    return "\n".join(["{", ",\n".join(parts), "}", ""])


def _unpacked(path: Path) -> str:
    need_regular(path)
    with reading(path, UsageError), path.open("rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
    opener = gzip.open if packed else open
    try:
        with reading(path, UsageError), opener(path, "rb") as file:
            content: bytes = file.read(LARGEST_WORKLOAD + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{path}: is incomplete: {error}.") from None
    if len(content) > LARGEST_WORKLOAD:
        raise UsageError(f"{path}: is longer than {LARGEST_WORKLOAD >> 20} MiB.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start})") from error
