"""This host, held as a lab holds it: what one test records, no other one and no lab disturbs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from schedlab.base.errors import HostError
from schedlab.base.system import LocalSystem
from tests.helpers.patience import wait_until


@contextmanager
def this_host() -> Iterator[LocalSystem]:
    """Hold this host, as a lab does, when no other lab does."""
    system = LocalSystem()

    with ExitStack() as stack:

        def held() -> bool:
            try:
                stack.enter_context(system.held())
            except HostError:
                return False
            return True

        wait_until(held, "this host's lock")
        yield system
