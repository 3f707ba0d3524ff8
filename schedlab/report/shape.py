"""What a shape is: a name and a function that writes a report in it.

A module of this package that registers a function is all it takes to add a shape
(docs/manual/reports.md).
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schedlab.report.content import Report

Render = Callable[[Report], str]
Several = Callable[[Sequence[Report]], str]


@dataclass(frozen=True)
class Shape:
    """A way to write a report."""

    name: str
    suffix: str
    summary: str
    render: Render
    several: Several | None = None
    """Writes one report of several results; None where a report is of one."""


REGISTRY: dict[str, Shape] = {}


def shape(name: str, *, suffix: str, several: Several | None = None) -> Callable[[Render], Render]:
    """Register a function as a shape; its docstring becomes the summary."""

    def register(render: Render) -> Render:
        assert name not in REGISTRY, name
        summary = (inspect.getdoc(render) or "").splitlines()[0]
        REGISTRY[name] = Shape(name, suffix, summary, render, several)
        return render

    return register
