"""Showing long steps: a bar on a terminal, a line at the start and the end elsewhere.

Nothing here loads statistics: the commands about kernels run before all is installed.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from schedlab.base.printable import printable_lines
from schedlab.kernels.progress import Step, Watch

if TYPE_CHECKING:
    from rich.console import Console


class ConsoleSteps(Watch):
    """Print to a terminal or a log, on standard error."""

    def __init__(self, console: "Console | None" = None) -> None:
        self._given = console

    @cached_property
    def _console(self) -> "Console":
        from rich.console import Console  # only here: most errors come before the first step

        return self._given or Console(stderr=True)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(printable_lines(text), highlight=False, markup=False, soft_wrap=True)

    @property
    def measures(self) -> bool:
        """Whether there is a bar."""
        return self._console.is_terminal

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Begin a long step; say how long it took when it is done."""
        began = time.monotonic()
        if self._console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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
