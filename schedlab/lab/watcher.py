"""Watching a lab: progress and notices for whoever started it. The command line prints them."""

from collections.abc import Iterator
from contextlib import contextmanager

from schedlab.kernels.progress import Watch
from schedlab.lab.forecast import Forecast
from schedlab.lab.runner import Progress
from schedlab.plan.plan import Plan


class Watcher(Watch):
    """A watcher of a lab; this one ignores everything. A subclass overrides what it needs."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Begin to run plans; it ends with the block."""
        yield

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> Progress:
        """Return the watcher of one plan; `name` is empty where it runs alone."""
        return Progress()


UNWATCHED = Watcher()
