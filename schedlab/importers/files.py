"""Importing files into result folders."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.importers.source import Source

if TYPE_CHECKING:
    from schedlab.result.store import Store


def import_files(files: Mapping[Path, Path], invocation: str) -> "Iterator[Store]":
    """Read published documents into new result folders, given the file for each folder.

    All files are read before the first folder is written; each folder is there whole or not at all.

    Raises:
        UsageError: as for `read_publication`.
        StoreError: a folder cannot be written, or holds something.
    """
    sources = {folder: Source.read(file) for folder, file in files.items()}
    # Only here: what cannot be read is refused at once, without loading what reads tables.
    from schedlab.importers.reading import read_publication
    from schedlab.result.store import check_free

    for folder in files:
        check_free(folder)
    publications = {folder: read_publication(source) for folder, source in sources.items()}
    for folder, publication in publications.items():
        yield publication.store(folder, sources[folder], invocation)


def import_file(path: Path, folder: Path, invocation: str) -> "Store":
    """Read one published document into a new result folder; raises as `import_files` does."""
    (store,) = import_files({folder: path}, invocation)
    return store
