"""The user's cache: its place, one writer at a time, files that are whole or not there."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab.kernels import HostRefused


def cache_folder() -> Path:
    """Return the folder: $SCHEDLAB_CACHE, else $XDG_CACHE_HOME/schedlab, else ~/.cache/schedlab."""
    chosen = os.environ.get("SCHEDLAB_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "schedlab"


@contextmanager
def disk_errors(doing: str, folder: Path | None = None) -> Iterator[None]:
    """Turn what a disk refuses, in the cache or a folder, into one message."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"{doing}: no space is left in {folder}." if folder else full_disk(doing)
            raise HostRefused(message) from error
        named = f"{error.filename}: " if error.filename else ""
        raise HostRefused(f"{doing}: {named}{error.strerror or error}") from error


def full_disk(doing: str) -> str:
    """Return the message that the disk is full, with what to do."""
    return (
        f"{doing}: no space is left below {cache_folder()}."
        "\n  Free some (`schedlab kernel list` shows what is kept, `schedlab kernel remove NAME`"
        " drops it),\n  or name another folder in SCHEDLAB_CACHE. What was complete before still"
        " is."
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def only_one(path: Path, waiting: Callable[[str], None]) -> Iterator[int]:
    """Hold a lock file; return its descriptor, which children may inherit to hold it as well.

    Calls `waiting` with who holds it when another process does, and waits.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting(os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)
