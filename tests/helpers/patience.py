"""How long a test waits before it takes something for hung: far longer than any machine needs."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 900
T = TypeVar("T")


def wait_until(happened: Callable[[], T], what: str) -> T:
    """Return the first answer of `happened` that is true; the test fails where none ever is."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := happened()):
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.01)
    return answer
