"""Being asked to stop: Ctrl-C, termination and a closed terminal all end a lab the same way."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from schedlab.base.errors import Interrupted

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn the first stopping signal into `Interrupted` inside a `with` block.

    Later ones are ignored, after the block as well: what is stopped still closes what it has open,
    and says what is kept.
    """
    before = {number: signal.signal(number, _stop) for number in STOPPING}
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _stop:  # not stopped
            _restore(before)


def _restore(handlers: Mapping[signal.Signals, Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold the stopping signals back while the host is put in order.

    A mask of blocked signals does not do that: Python handles in the main thread what arrives in
    any other, and the libraries of numpy start threads.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts no other thread
        return
    arrived: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: arrived.append(number))
        for number in STOPPING
        if signal.getsignal(number) != signal.SIG_IGN  # programs begun inside are to inherit that
    }
    try:
        yield
    finally:
        _restore(before)
        if arrived:
            signal.raise_signal(arrived[0])


def _stop(number: int, _frame: FrameType | None) -> None:
    for each in STOPPING:
        signal.signal(each, _ignore)
    raise Interrupted(f"stopped by {signal.Signals(number).name}")


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; unlike SIG_IGN, programs we start do not inherit it."""
