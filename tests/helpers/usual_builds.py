"""Makes the simulators that several test modules need, before the tests: `make test` runs it.

Tests make what is missing by themselves, but while one waits for a build, the other steps of the
build leave processors idle. Here two are made at a time.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from schedlab.kernels import KernelError
from tests.helpers import builds
from tests.helpers.kernel_source import kernel_tree

Made = Callable[[], Path]
USUAL: tuple[tuple[str, Made], ...] = (
    *((series, partial(builds.build, series)) for series in ("6.12", "7.3", "6.1", "7.2")),
    ("6.12", builds.fully_preempted),
    ("6.12", builds.as_debian),
    ("7.3", builds.bare),
    ("7.3", partial(builds.with_cpusets, "7.3")),
    *((series, partial(builds.patched, series)) for series in ("6.12", "7.3", "6.1")),
)
"""With the series of each. Those with patches are last: they take the objects of plain ones."""


def make(made: Made) -> str:
    """Make one; return what went wrong, or nothing."""
    try:
        made()
    except KernelError as error:
        return str(error)
    return ""


def main() -> int:
    """Make them of all series whose sources are there; return the status to exit with."""
    wanted = [made for series, made in USUAL if kernel_tree(series)]
    print(f"making {len(wanted)} simulators for the tests, where they are not there already")
    with ProcessPoolExecutor(2) as pool:
        problems = {problem for problem in pool.map(make, wanted) if problem}
    for problem in sorted(problems):
        print(f"tests: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
