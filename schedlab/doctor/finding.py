"""What a check found, how much it matters, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "missing"]
"""ok: as it should be. note: good to know when reading results. warning: results suffer, or a
part of the lab does not work. missing: the published suites cannot run."""


@dataclass(frozen=True)
class Finding:
    """One line of `schedlab doctor`."""

    check: str
    """What was looked at, a stable name for scripts: `governor`."""
    level: Level
    found: str
    why: str = ""
    """What it does to results; empty where all is well."""
    remedy: str = ""
    """The command that mends it, for root, or what to do where no command does."""
