"""Being asked to stop: Ctrl-C, termination and a closed terminal all end a lab the same way."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from schedlab.errors import Interrupted

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn the stopping signals into `Interrupted` inside a `with` block."""
    before = {number: signal.signal(number, _stop) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold the stopping signals back while the host is put in order."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(f"stopped by {signal.Signals(number).name}")
