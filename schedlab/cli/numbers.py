"""Numbers and durations as options.

A wrong one is refused before anything large is loaded, by the name of its option.
"""

import math
from itertools import pairwise
from typing import Any

import click

from schedlab.base.duration import seconds
from schedlab.base.limits import LARGEST_SEED, MOST_BLOCKS, MOST_LOOKS


class Whole(click.IntRange):
    """A whole number."""

    name = "integer"


class Finite(click.FloatRange):
    """A finite number."""

    name = "number"

    def _describe_range(self) -> str:
        """Return the range for the help; click's own writes one without bounds as x<=None."""
        return super()._describe_range() if (self.min, self.max) != (None, None) else ""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; a usage error where it is infinite or not a number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Duration(click.ParamType[str]):
    """A time with its unit, as it was written."""

    name = "time"

    def __init__(self, least: str, most: str | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; a usage error where it is not a duration, too short or too long."""
        try:
            given = seconds(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)
        if given < seconds(self._least):
            self.fail(f"'{value}' is too short; the least is {self._least}.", param, ctx)
        if self._most and given > seconds(self._most):
            self.fail(f"'{value}' is too long; the most is {self._most}.", param, ctx)
        return str(value)


class Looks(click.ParamType[list[int]]):
    """Numbers of blocks that rise: 6,12,24,40."""

    name = "looks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """Return the numbers; a usage error where they cannot be the looks of a plan."""
        try:
            numbers = [int(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"'{value[:60]}' is not a list of numbers; write it as 6,12,24,40.", param)
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            self.fail(f"'{value[:60]}': the numbers of blocks must rise.", param, ctx)
        if len(numbers) > MOST_LOOKS:
            self.fail(f"{len(numbers)} looks are too many; the most is {MOST_LOOKS}.", param, ctx)
        for number in numbers:
            BLOCKS.convert(number, param, ctx)
        return numbers


class Percent(click.ParamType[float]):
    """A share between 0 and 100 %, with or without the sign."""

    name = "percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share as a ratio; a usage error where it is none."""
        try:
            percent = float(value.removesuffix("%"))
        except ValueError:
            self.fail(f"'{value}' is not a percentage; write it as 2 or 2%.", param, ctx)
        if not 0 < percent < 100:
            self.fail(f"'{value}' is not between 0 and 100 %.", param, ctx)
        return percent / 100


BLOCKS = Whole(1, MOST_BLOCKS)
SEED = Whole(0, LARGEST_SEED)
