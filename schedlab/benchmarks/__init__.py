"""The benchmarks, one module a family; all are loaded when the first is asked for."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks.benchmark import REGISTRY, Benchmark, Case, Command, Output
from schedlab.benchmarks.tool import Tool
from schedlab.kernels.native import OWN

__all__ = [
    "Benchmark",
    "Case",
    "Command",
    "Output",
    "Tool",
    "all_benchmarks",
    "all_tools",
    "find_benchmark",
    "registered",
]


@cache
def registered() -> Mapping[str, Benchmark]:
    """Return every benchmark by its name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return REGISTRY


def all_benchmarks() -> list[Benchmark]:
    """Return every benchmark, by name."""
    return [benchmark for _, benchmark in sorted(registered().items())]


def all_tools() -> list[Tool]:
    """Return the tools of all benchmarks: those needed first, then Debian's, then one's own."""
    found = dict.fromkeys(tool for each in all_benchmarks() for tool in (each.tool, *each.tools))
    others = [tool for tool in found if tool.name not in OWN]
    return sorted(others, key=lambda tool: (not tool.required, tool.listed, not tool.package))


def find_benchmark(name: str, where: str) -> Benchmark:
    """Return the benchmark of that name; UsageError with the nearest names where there is none."""
    if name not in registered():
        raise UsageError(
            f"{where}: no benchmark is called '{name}'.{nearest(name, registered())}"
            "\n  `schedlab list benchmarks` shows all."
        )
    return registered()[name]
