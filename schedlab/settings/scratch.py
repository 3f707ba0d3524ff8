"""Folders of data that a killed lab leaves: of servers below a result, and of perf."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.base.errors import StoreError

LOADED = "data"
"""Below the folder of the runs: the data that are loaded, of which each run gets a copy."""


@dataclass(frozen=True)
class Scratch:
    """The folder of a result's runs, and the names of what is removed from those of single runs."""

    raw: str = ""
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, raw: Path, names: Sequence[str]) -> "Scratch":
        """Return what may be left below the folder of the runs."""
        return cls(str(raw.absolute()), tuple(dict.fromkeys(names)))

    @classmethod
    def packed(cls, data: Mapping[str, Any]) -> "Scratch":
        """Return what a journal holds."""
        return cls(str(data.get("raw", "")), tuple(map(str, data.get("names", ()))))

    def found(self) -> list[Path]:
        """Return the folders that are there; a link leads nowhere."""
        raw = Path(self.raw)
        if not self.raw or raw.is_symlink():
            return []
        with suppress(OSError):
            return [each for each in self._possible(raw) if each.is_dir()]
        return []

    def _possible(self, raw: Path) -> Iterator[Path]:
        yield from (each for each in (raw / LOADED,) if not each.is_symlink())
        for run in sorted(raw.iterdir()):
            if not run.is_symlink():
                yield from (run / name for name in self.names if not (run / name).is_symlink())

    def remove(self) -> list[str]:
        """Remove what is there; return a line on each.

        Raises:
            StoreError: one cannot be removed.
        """
        lines = []
        for folder in self.found():
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise StoreError(
                    f"{folder}: data of an earlier lab cannot be removed: {error.strerror}"
                ) from error
            lines.append(f"removed {folder}, data that an earlier lab left")
        if lines and not self.names:  # of a recorder, whose folder has nothing else
            with suppress(OSError):
                Path(self.raw).rmdir()
        return lines
