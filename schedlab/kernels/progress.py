"""Long steps, and who watches them; the command line shows them (schedlab/cli/watcher.py)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

Step = Callable[[float, str], None]
"""Takes the share done (0..1) and what is under way."""


class Watch:
    """A watcher of builds; this one ignores everything."""

    def say(self, text: str) -> None:
        """Print a line."""

    @cached_property
    def _said_once(self) -> set[str]:
        return set()

    def say_once(self, text: str) -> None:
        """Print a line that several steps would repeat, such as what a kernel's patch does."""
        if text not in self._said_once:
            self._said_once.add(text)
            self.say(text)

    def waits(self, text: str) -> None:
        """Print what is waited for, which is over when the step goes on."""
        self.say(text)

    @property
    def measures(self) -> bool:
        """Whether it takes notice of the share done, which it takes a moment to find out."""
        return type(self).task is not Watch.task

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Begin a long step; it ends with the block."""
        yield lambda share, text: None
