"""What a folder holds, as it looks from outside: a result, or the results of a sweep.

Nothing here loads what reads them, so that a wrong name is answered at once.
"""

from pathlib import Path

from schedlab.base.errors import StoreError

DATABASE = "results.sqlite"
"""The file of a result's runs."""
SWEEP = "sweep.toml"
"""The plan of a sweep, above the folders of its results."""


def check_result(folder: Path) -> None:
    """Refuse a folder that holds no result."""
    if not (folder / DATABASE).is_file():
        raise StoreError(f"{folder}: not a result folder: {DATABASE} is missing.")


def is_sweep(folder: Path) -> bool:
    """Return whether a folder holds the results of a sweep."""
    return (folder / SWEEP).is_file()


def results_of_sweep(folder: Path) -> list[Path]:
    """Return the folders of the results that a sweep's folder has so far."""
    return sorted(path.parent for path in folder.glob(f"*/{DATABASE}"))
