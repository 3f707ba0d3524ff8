"""Where programs of a run are started, and where what they print is kept."""

from dataclasses import dataclass
from pathlib import Path

from schedlab.base.system import System


@dataclass(frozen=True)
class Stage:
    """A machine and the folder of a run."""

    system: System
    folder: Path
    """Where output is kept."""
    place: Path | None = None
    """The folder programs run in, if not where we are."""
