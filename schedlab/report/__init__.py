"""Reports, all from one store; one module a shape, and every module of this package is loaded."""

import importlib
import pkgutil
from pathlib import Path

from schedlab.base.errors import StoreError
from schedlab.judging.analysis import analyse
from schedlab.report.content import Detail, Report
from schedlab.report.shape import REGISTRY, Shape
from schedlab.result.store import Store

__all__ = ["Detail", "Report", "Shape", "all_shapes", "save", "save_in", "write_reports"]

_LEFT_IN_STORE = {"report.html": "html", "report.md": "markdown", "report.txt": "lkml"}


def all_shapes() -> dict[str, Shape]:
    """Return every shape, by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(REGISTRY.items()))


def write_reports(store: Store) -> list[Path]:
    """Write report.html, report.md and report.txt to a store's folder.

    Raises:
        StoreError: the folder cannot be written, or the disk is full.
    """
    report = Report(store, analyse(store))
    shapes = all_shapes()
    return [
        save_in(store.folder, file, shapes[name].render(report))
        for file, name in _LEFT_IN_STORE.items()
    ]


def save_in(folder: Path, file: str, text: str) -> Path:
    """Write a report into a result's folder, which may have come from elsewhere.

    Raises:
        StoreError: it cannot be written, or the file is a link that leads elsewhere.
    """
    path = folder / file
    if path.is_symlink():
        raise StoreError(
            f"{path}: is a link; a report is not written to where it leads."
            "\n  The results are safe; remove the link."
        )
    return save(text, path)


def save(text: str, path: Path) -> Path:
    """Write a report to a file; StoreError with the path where that fails."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise StoreError(
            f"{path}: the report cannot be written: {error.strerror}."
            "\n  The results are safe; --output FILE writes it elsewhere."
        ) from error
    return path
