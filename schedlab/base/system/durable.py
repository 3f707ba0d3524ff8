"""Files that a crash of the host leaves whole: as they were, or as they were to be."""

import os
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and return when it is on disk; OSError where it cannot be.

    One at a time: what is being written lies beside it, under its name with `.new`.
    """
    fresh = path.with_suffix(".new")
    try:
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)  # what a full disk left of it only takes room
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
