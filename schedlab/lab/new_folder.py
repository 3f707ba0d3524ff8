"""Naming and making the new folder of a result, a sweep or a search."""

from datetime import datetime
from pathlib import Path

from schedlab.base.errors import StoreError


def stamped(what: str) -> Path:
    """Return the folder of what is begun now, where the user named none."""
    return Path("results") / f"{datetime.now().strftime('%Y-%m-%dT%H-%M-%S')}-{what}"


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; StoreError if it is there already, or cannot be made."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise StoreError(
            f"{folder}: exists already. Name another folder, or continue with --resume {folder}."
        ) from None
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
