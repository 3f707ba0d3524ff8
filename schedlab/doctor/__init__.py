"""Whether this host can run an experiment that means something, and what stands in the way.

One module per kind of check, each a function `check(system)` that only reads; docs/manual/doctor.md
says how to add one.
"""

from collections.abc import Callable, Iterator

from schedlab.base.system import System
from schedlab.doctor import (
    container,
    kernel,
    leftover,
    limits,
    load,
    permissions,
    power,
    tools,
    tracing,
    virtual,
)
from schedlab.doctor.finding import Finding, Level

__all__ = ["CHECKS", "Finding", "Level", "examine", "possible", "sections"]

Check = Callable[[System], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "tools": tools.check,
    "permissions": permissions.check,
    "tracing and debugging": tracing.check,
    "kernel": kernel.check,
    "power": power.check,
    "limits": limits.check,
    "container": container.check,
    "virtualisation": virtual.check,
    "load": load.check,
    "earlier labs": leftover.check,
}
"""The checks, by the heading they stand under."""


def examine(system: System) -> list[Finding]:
    """Make every check; takes the half second in which load is measured."""
    return [finding for section in sections(system).values() for finding in section]


def sections(system: System) -> dict[str, list[Finding]]:
    """Make every check, and return what was found by heading."""
    return {heading: list(_made(heading, check, system)) for heading, check in CHECKS.items()}


def _made(heading: str, check: Check, system: System) -> Iterator[Finding]:
    """Make one check; a file that holds what no kernel writes must not hide the other checks."""
    try:
        yield from check(system)
    except (OSError, ValueError, IndexError) as error:
        yield Finding(
            heading,
            "warning",
            f"could not be checked completely: {error}",
            "the rest of this section is unknown",
        )


def possible(findings: list[Finding]) -> bool:
    """Return whether a real experiment can run here: nothing that is required is missing."""
    return all(finding.level != "missing" for finding in findings)
