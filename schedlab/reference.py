"""Published results, to set a run's own beside them: files under published/."""

from collections.abc import Mapping
from math import prod
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from schedlab.benchmarks.benchmark import Span
from schedlab.data import known_names, named_file
from schedlab.validation import load_toml

Positive = Annotated[float, Field(gt=0)]
Figures = Positive | Annotated[tuple[Positive, ...], Field(min_length=1)]
"""What was published: one figure, or one of each run."""
Count = Annotated[float, Field(ge=0)]
Runs = Annotated[tuple[Count, ...], Field(min_length=1)]
"""What was counted in each run."""


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Published(_Data):
    target: str
    """The target a plan names for this machine."""
    variant: str
    """The plan's variant the second column stands for; the first is the baseline."""
    per: dict[str, Positive] = {}
    """The figures grow with these parameters of the benchmark, which had these values."""

    def scale(self, params: Mapping[str, int | str]) -> float:
        """Give the factor from the published parameters to others; durations are in seconds."""
        return prod(Span(params[name]).seconds / value for name, value in self.per.items())


class Table(_Published):
    """Figures of one metric on one machine."""

    metric: str
    relative: bool = False
    """Only the change was published: the baseline's figure is 1."""
    rows: Annotated[tuple[tuple[str, Figures, Figures], ...], Field(min_length=1)]
    """The benchmark's label in the plan, the baseline's figures, the variant's."""


class Counts(_Published):
    """Counts of one kernel event on one machine."""

    counter: str
    rows: Annotated[tuple[tuple[str, Runs, Runs], ...], Field(min_length=1)]
    """The benchmark's label in the plan, the baseline's counts, the variant's."""


class Reference(_Data):
    """What a document says."""

    title: str
    source: str
    table: Annotated[tuple[Table, ...], Field(min_length=1)]
    counts: tuple[Counts, ...] = ()


def all_references() -> list[str]:
    """Give the names of the documents whose figures come with schedlab."""
    return known_names("published")


def find_reference(name: str) -> Reference:
    """Give a document's figures, by name or as a file.

    Raises:
        UsageError: there is none, or the file does not fit.
    """
    if name.endswith(".toml"):
        return load_toml(Path(name), Reference)
    return load_toml(named_file("published", name, "published: no results are"), Reference)


def mean(figures: Figures) -> float:
    """Give the geometric mean, as the reports do."""
    return figures if isinstance(figures, float) else geometric_mean(figures)
