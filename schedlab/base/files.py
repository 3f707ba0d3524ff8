"""Files that are not trusted: never more of one is read than it may hold."""

import json
import stat
import tempfile
from pathlib import Path
from typing import Any

from schedlab.base.errors import SchedlabError, UsageError, reading, writing


def read_bytes(path: Path, most: int, kind: type[SchedlabError] = UsageError) -> bytes:
    """Return what a file of at most `most` bytes holds.

    Raises:
        SchedlabError: of the kind given: it cannot be read, or is longer.
    """
    with reading(path, kind), path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise kind(f"{path}: is longer than {most >> 20} MiB, the most that is read")
    return content


def read_text(path: Path, most: int) -> str:
    """Return the text of a file of at most `most` bytes; UsageError if it is not UTF-8 text."""
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start})") from error


def read_json(path: Path, most: int) -> Any:
    """Return the document in a file of at most `most` bytes; UsageError if it is not JSON."""
    return parse_json(read_text(path, most), path)


def need_regular(path: Path) -> None:
    """Refuse a file that is not regular, such as a pipe, which may never come to its end.

    Raises:
        UsageError: it is none, or cannot be looked at.
    """
    with reading(path, UsageError):
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UsageError(f"{path}: is not a regular file (a pipe, a device or a socket); copy it.")


def need_place(path: Path) -> None:
    """Find out, before long work, whether a file can be written; nothing is left there.

    Raises:
        HostError: it cannot be.
    """
    with writing(path):
        if path.exists():
            path.open("ab").close()
        else:
            tempfile.TemporaryFile(dir=path.parent).close()


def parse_json(text: str | bytes, path: Path) -> Any:
    """Parse the text of a file; UsageError, with the file's name, if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        raise UsageError(f"{path}: is not JSON: {error}") from error
