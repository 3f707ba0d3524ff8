"""Numbers as options, in a range if one is given."""

import math
from typing import Any

import click


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


longest_simulation = click.option(
    "--timeout",
    type=Finite(min=1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest a simulator may work.",
)
