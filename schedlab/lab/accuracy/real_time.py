"""Being a real-time task, from whom other work takes no CPU."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from schedlab.base.errors import UsageError


@contextmanager
def real_time() -> Iterator[None]:
    """Make the calling thread a real-time task inside a `with` block, and what it starts.

    Raises:
        UsageError: it may not be one.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError as error:
        raise UsageError(f"a real-time task needs root: {error.strerror}.") from error
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)
