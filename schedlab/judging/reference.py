"""Published results, to set a run's own beside them: files under published/.

A file says what was changed on which machine, and which plans of ours run the same. Which of its
rows calibrated a machine is said by the machines' files (schedlab/judging/marks.py).
"""

from collections.abc import Mapping
from math import prod
from statistics import geometric_mean
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schedlab.base.data import known_names, published_file
from schedlab.base.validation import Data, load_toml, repeated
from schedlab.benchmarks.benchmark import Span

Positive = Annotated[float, Field(ge=1e-12, le=1e15, strict=True)]
"""A figure of any metric in its unit: beyond these bounds nothing was ever measured."""
Figures = Positive | Annotated[tuple[Positive, ...], Field(min_length=1)]
"""What was published: one figure, or one of each run."""
Mechanism = Literal[
    "wakeup placement",
    "newidle",
    "periodic balance",
    "NUMA",
    "EAS and misfit",
    "preemption",
    "idle",
    "load accounting",
]
"""By what a change acts."""
Count = Annotated[float, Field(ge=0, le=1e15, strict=True)]
Runs = Annotated[tuple[Count, ...], Field(min_length=1)]
"""What was counted in each run."""


class _Published(Data):
    target: str
    """The target a plan names for this machine."""
    variant: str
    """The plan's variant the second column stands for; the first is the baseline."""
    per: dict[str, Positive] = {}
    """The figures grow with these parameters of the benchmark, which had these values."""

    def scale(self, params: Mapping[str, int | str]) -> float:
        """Return the factor from the published parameters to others; durations are in seconds."""
        return prod(Span(params[name]).seconds / value for name, value in self.per.items())


class Table(_Published):
    """Figures of one metric on one machine."""

    metric: str
    relative: bool = False
    """Only the change was published: the baseline's figure is 1."""
    noise: dict[str, Annotated[float, Field(gt=0, lt=1, strict=True)]] = {}
    """By the rows' labels: the relative standard deviation of the change, if it was published."""
    rows: Annotated[tuple[tuple[str, Figures, Figures], ...], Field(min_length=1)]
    """The benchmark's label in the plan, the baseline's figures, the variant's."""

    @model_validator(mode="after")
    def _rows_are_there(self) -> "Table":
        labels = [row[0] for row in self.rows]
        if twice := repeated(labels):
            raise ValueError(f"two rows are labelled '{twice}'")
        for label in self.noise:
            if label not in labels:
                raise ValueError(f"noise: no row is labelled '{label}'")
        return self


class Counts(_Published):
    """Counts of one kernel event on one machine."""

    counter: str
    rows: Annotated[tuple[tuple[str, Runs, Runs], ...], Field(min_length=1)]
    """The benchmark's label in the plan, the baseline's counts, the variant's."""


class Reference(Data):
    """What a document says."""

    title: str
    source: str
    mechanism: Mechanism | None = None
    machine: str = ""
    """What the figures were measured on, in the document's words."""
    kernel: str = ""
    """What it ran."""
    plans: tuple[str, ...] = ()
    """Quick plans of ours that run the same, by name."""
    long: tuple[str, ...] = ()
    """Cases of theirs that take so long that they are simulated only if the change is named."""
    open: tuple[str, ...] = ()
    """What the document does not say, and what is different here."""
    table: Annotated[tuple[Table, ...], Field(min_length=1)]
    counts: tuple[Counts, ...] = ()


def all_references() -> list[str]:
    """Return the names of the documents whose figures come with schedlab."""
    return known_names("published")


def find_reference(name: str) -> Reference:
    """Return a document's figures, by name or as a file.

    Raises:
        UsageError: there is none, or the file does not fit.
    """
    return load_toml(published_file(name), Reference)


def mean(figures: Figures) -> float:
    """Return the geometric mean, as the reports do."""
    return figures if isinstance(figures, float) else geometric_mean(figures)
