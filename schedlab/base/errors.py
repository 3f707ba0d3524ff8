"""The one error family of schedlab, and the help for mistyped names.

A message says what was wrong, where (file and key path, or file path), and what to do.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class SchedlabError(Exception):
    """Something the user can act on: printed as one message, never as a traceback."""


class UsageError(SchedlabError):
    """The plan, the command line or an input file asks for something that cannot be."""


class HostError(SchedlabError):
    """This host lacks or refuses something a run needs."""


class OutsideError(SchedlabError):
    """A name from elsewhere would lead out of the folder it belongs to."""


class SystemLost(HostError):
    """The system that runs happen on does not answer any more."""


class KnobError(HostError):
    """A setting could not be read, written, or did not read back as written."""


class RestoreError(HostError):
    """A knob could not be put back; the journal stays, and nothing more may be run."""


class IncompleteRun(SchedlabError):
    """A benchmark ended without a complete, trustworthy result."""


class StoreError(SchedlabError):
    """Results could not be written or read."""


class Interrupted(SchedlabError):
    """The user or the system asked the lab to stop; results so far are kept."""


@contextmanager
def reading(path: str | Path, kind: type[SchedlabError] = UsageError) -> Iterator[None]:
    """Name the file where a `with` block cannot read it."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def writing(path: str | Path, kind: type[SchedlabError] = HostError) -> Iterator[None]:
    """Name the file or folder where a `with` block cannot write it."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: cannot be written: {error.strerror}") from error


def nearest(wrong: str, known: Iterable[str], before: str = "") -> str:
    """Return a `Did you mean ...?` sentence for a mistyped name, or an empty string.

    `before` is how the full names begin.
    """
    by_folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(wrong.casefold(), by_folded, n=3, cutoff=0.6)
    if not close:
        return ""
    return f" Did you mean {' or '.join(before + by_folded[name] for name in close)}?"
