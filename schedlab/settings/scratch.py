"""Data that a killed lab leaves: folders of servers and of perf, and a file half written."""

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
    unfinished: str = ""
    """A file that is written, and has another name when it is complete."""

    @classmethod
    def of(cls, raw: Path, names: Sequence[str], unfinished: Path | None = None) -> "Scratch":
        """Return what may be left below the folder of the runs, and of a file."""
        file = str(unfinished.absolute()) if unfinished else ""
        return cls(str(raw.absolute()), tuple(dict.fromkeys(names)), file)

    @classmethod
    def packed(cls, data: Mapping[str, Any]) -> "Scratch":
        """Return what a journal holds."""
        return cls(
            str(data.get("raw", "")),
            tuple(map(str, data.get("names", ()))),
            str(data.get("unfinished", "")),
        )

    def found(self) -> list[Path]:
        """Return what is there; a link leads nowhere."""
        raw, file = Path(self.raw), Path(self.unfinished)
        found = [file] if self.unfinished and file.is_file() and not file.is_symlink() else []
        if self.raw and not raw.is_symlink():
            with suppress(OSError):
                found += [each for each in self._possible(raw) if each.is_dir()]
        return found

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
        for each in self.found():
            try:
                shutil.rmtree(each) if each.is_dir() else each.unlink()
            except OSError as error:
                raise StoreError(
                    f"{each}: data of an earlier lab cannot be removed: {error.strerror}"
                ) from error
            lines.append(f"removed {each}, data that an earlier lab left")
        if lines and not self.names:  # of a recorder, whose folder has nothing else
            with suppress(OSError):
                Path(self.raw).rmdir()
        return lines
