"""Watching a lab: progress and notices for whoever started it. The command line prints them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from schedlab.judging.analysis import Outcome
from schedlab.kernels.progress import Watch
from schedlab.lab.forecast import Forecast
from schedlab.lab.runner import Progress
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.targets.target import Order


class PlanProgress(Progress, Protocol):
    """The progress of one plan, from before its first run on."""

    def begin(self) -> None:
        """Begin: what there is to do is known, and how long it may take as far as that is."""


class Unwatched:
    """A plan at which nobody looks."""

    def begin(self) -> None:
        """Look away."""

    def block(self, block: int, cases: Sequence[str]) -> None:
        """Look away."""

    def start(self, order: Order) -> None:
        """Look away."""

    def done(self, record: RunRecord) -> None:
        """Look away."""

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        """Look away."""

    def give_up(self, case: str, why: str) -> None:
        """Look away."""

    def end(self, why: str) -> None:
        """Look away."""


class Watcher(Watch):
    """Who watches a lab; this one looks away. A subclass overrides what it wants to hear of."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Begin to run plans; it ends with the block."""
        yield

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> PlanProgress:
        """Return the watcher of one plan; `name` is empty where it runs alone."""
        return Unwatched()


UNWATCHED = Watcher()
