"""Showing what the lab does: its long steps, and the plans that run."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from schedlab.cli.progress import RunProgress, Screen
from schedlab.cli.steps import ConsoleSteps
from schedlab.kernels.progress import Step
from schedlab.lab.forecast import Forecast
from schedlab.lab.runner import Progress
from schedlab.lab.watcher import Watcher
from schedlab.plan.plan import Plan


class ConsoleWatcher(ConsoleSteps, Watcher):
    """Print to a terminal or a log, on standard error."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._screen = Screen(self._console)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the plans that run; the moving lines end with the block."""
        with Screen(self._console) as self._screen:
            yield

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Begin a long step, of a plan that runs or before any does."""
        with self._screen.task(what) if self._screen.on else super().task(what) as step:
            yield step

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> Progress:
        """Return what reports on one plan."""
        return RunProgress(plan, forecast, self._screen, name)
