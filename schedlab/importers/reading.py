"""Reading a document of any known shape."""

from collections.abc import Callable

from schedlab.importers.markdown_report import read_markdown_report
from schedlab.importers.own_csv import read_own_csv
from schedlab.importers.own_report import read_own_report
from schedlab.importers.publication import Publication
from schedlab.importers.source import Source
from schedlab.importers.text import no_result, read_own_mail, read_text

_READERS: tuple[Callable[[Source], Publication | None], ...] = (
    read_own_mail,
    read_own_report,
    read_own_csv,
    read_markdown_report,
    read_text,
)
"""In the order they are tried: each returns None for a document that is not its own."""


def read_publication(source: Source) -> Publication:
    """Read a document of any known shape.

    Raises:
        UsageError: with file and line: it is not a result, a table in it is not whole or not
            clear, or it is beyond the bounds.
    """
    for read in _READERS:
        publication = read(source)
        if publication:
            publication.check(source)
            return publication
    raise no_result(source)
