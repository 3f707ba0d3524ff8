"""Showing what the lab does: a bar on a terminal, a line at the start and the end elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from schedlab.base.printable import printable_lines
from schedlab.cli.progress import RunProgress, Screen
from schedlab.kernels.progress import Step
from schedlab.lab.forecast import Forecast
from schedlab.lab.watcher import PlanProgress, Watcher
from schedlab.plan.plan import Plan


class ConsoleWatcher(Watcher):
    """Print to a terminal or a log, on standard error."""

    def __init__(self, console: Console | None = None) -> None:
        """Take the console to write to."""
        self._console = console or Console(stderr=True)
        self._screen = Screen(self._console)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(printable_lines(text), highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Begin a long step; say how long it took when it is done."""
        began = time.monotonic()
        if self._console.is_terminal:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TimeElapsedColumn(),
                TextColumn("{task.fields[text]}", markup=False),
            )
            with Progress(*columns, console=self._console, transient=True) as bar:
                task = bar.add_task(what, total=1.0, text="")
                yield lambda share, text: bar.update(task, completed=share, text=text[-40:])
        else:
            self.say(f"{what} ...")
            yield lambda share, text: None
        self.say(f"{what}: done in {time.monotonic() - began:.1f} s")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the plans that run; the moving lines end with the block."""
        with Screen(self._console) as self._screen:
            yield

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> PlanProgress:
        """Return what reports on one plan."""
        return RunProgress(plan, forecast, self._screen, name)
