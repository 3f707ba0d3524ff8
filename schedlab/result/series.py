"""The record of a tried patch series: its patches, what became of each, and their kernels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from schedlab.base.errors import StoreError
from schedlab.base.validation import Data

RECORD = "series.json"
BASE = "base"

State = Literal["run", "fails", "skipped", "does not build", "does not apply", "not reached"]
"""Fails: it is built, and its runs end with a crash, a hang, a WARN or a broken invariant."""


class Tried(Data):
    """A patch of a series, and what became of it."""

    subject: str
    state: State
    kernel: str = ""
    """The build that has it and all before it; empty if it is not run."""
    why: str = ""
    """Why it was not run, or how its runs end."""
    notices: tuple[str, ...] = ()
    """What was noted while it was applied and built, such as a hunk that fits only roughly."""
    warnings: tuple[str, ...] = ()
    """The compiler's, that neither the base nor a patch before it gives."""


class TriedSeries(Data):
    """A series that was built, as `series.json` keeps it."""

    title: str
    base: str
    """The kernel tree that the first patch goes on."""
    patches: tuple[Tried, ...]

    def name(self, number: int) -> str:
        """Return the variant that has the first `number` patches."""
        return f"patch-{number}" if number else BASE

    @property
    def kernels(self) -> dict[str, str]:
        """Return the kernel of each variant that is run, in order, the base first."""
        run = {self.name(n): p.kernel for n, p in enumerate(self.patches, 1) if p.state == "run"}
        return {BASE: self.base} | run

    def failing(self, why: Mapping[str, str]) -> "TriedSeries":
        """Return the series with the variants marked whose runs fail."""
        patches = [
            patch.model_copy(update={"state": "fails", "why": why[self.name(number)]})
            if self.name(number) in why
            else patch
            for number, patch in enumerate(self.patches, 1)
        ]
        return self.model_copy(update={"patches": tuple(patches)})


def read_record(folder: Path) -> TriedSeries:
    """Return the series that a folder is about; StoreError if it is not the folder of a series."""
    try:
        return TriedSeries.model_validate_json((folder / RECORD).read_bytes())
    except OSError:
        raise StoreError(f"{folder}: is not the folder of a series: {RECORD} is missing.") from None
    except ValidationError as error:
        raise StoreError(f"{folder / RECORD}: {str(error).splitlines()[0]}") from error
