"""The benchmarks, one module a family; every module of this package is loaded."""

import importlib
import pkgutil

from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks.benchmark import REGISTRY, Benchmark, Case, Command, Output

__all__ = ["Benchmark", "Case", "Command", "Output", "all_benchmarks", "find_benchmark"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def all_benchmarks() -> list[Benchmark]:
    """Return every benchmark, by name."""
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def find_benchmark(name: str, where: str) -> Benchmark:
    """Return the benchmark of that name; UsageError with the nearest names where there is none."""
    if name not in REGISTRY:
        raise UsageError(
            f"{where}: no benchmark is called '{name}'.{nearest(name, REGISTRY)}"
            "\n  `schedlab list benchmarks` shows all."
        )
    return REGISTRY[name]
