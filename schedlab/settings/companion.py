"""A program that runs beside a benchmark, as data."""

from typing import Annotated

from pydantic import Field, model_validator

from schedlab.base.validation import Data
from schedlab.settings.text import Filled, Line, Words

_READY_SECONDS = 10.0


class Companion(Data):
    """A command that runs beside each run, such as a sched_ext scheduler.

    Where `ready_file` is given, a run starts only when that file holds `ready_value`.
    """

    command: Annotated[Words, Field(min_length=1)]
    ready_file: Filled | None = None
    ready_value: Line | None = None
    ready_seconds: float = Field(default=_READY_SECONDS, gt=0, le=3600, allow_inf_nan=False)

    @model_validator(mode="after")
    def _both_or_none(self) -> "Companion":
        if (self.ready_file is None) != (self.ready_value is None):
            raise ValueError("ready_file and ready_value go together")
        if self.ready_file is None and self.ready_seconds != _READY_SECONDS:
            raise ValueError("ready_seconds limits the wait for ready_file, which is missing")
        if self.command[0].startswith("ready_") and "=" in self.command[0]:
            raise ValueError(f"'{self.command[0]}' is not a command")
        return self
