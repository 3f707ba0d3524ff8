"""The kernel series that the tests build; docs/manual/kernels.md has what else was tried."""

from typing import NamedTuple


class Tested(NamedTuple):
    """How far a series is tested."""

    whole: bool
    """By every test of the engine; else by those of `tests/engine/conftest.py`."""
    switched: bool
    """Every setting was switched, one by one (tests/engine/test_switching.py)."""


TESTED = {
    "6.1": Tested(whole=False, switched=True),
    "6.12": Tested(whole=True, switched=True),
    "7.2": Tested(whole=False, switched=True),
    "7.3": Tested(whole=True, switched=True),
}

USUAL = "6.12"
"""The series that is simulated where several are there and nobody names one."""
