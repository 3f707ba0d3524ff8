"""Whether this host can run an experiment that means something, and what stands in the way.

One module per kind of check, each a function `check(system)` that only reads; docs/doctor.md
says how to add one.
"""

from collections.abc import Callable, Iterator

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
from schedlab.system import LocalSystem

__all__ = ["CHECKS", "Finding", "Level", "examine", "possible"]

CHECKS: dict[str, Callable[[LocalSystem], Iterator[Finding]]] = {
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


def examine(system: LocalSystem) -> list[Finding]:
    """Make every check; takes the half second in which load is measured."""
    return [finding for check in CHECKS.values() for finding in check(system)]


def possible(findings: list[Finding]) -> bool:
    """Tell whether a real experiment can run here: nothing that is required is missing."""
    return all(finding.level != "missing" for finding in findings)
