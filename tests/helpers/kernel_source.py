"""Where the kernel sources for the simulator's tests are; tests skip where there are none."""

import os
import re
from pathlib import Path

from schedlab.kernels.shelf import Shelf


def kernel_tree(series: str) -> Path | None:
    """Return an unpacked tree, named by the environment or in the user's cache, or None."""
    named = os.environ.get(_variable(series))
    if named:
        return Path(named)
    trees = (base.tree for base in Shelf().bases() if base.series == series)
    return next((tree for tree in trees if tree.is_dir()), None)


def kernel_source(series: str) -> Path:
    """Return an unpacked tree; skip the test where there is none."""
    tree = kernel_tree(series)
    if tree is None:
        import pytest  # not there yet when `make test` makes simulators

        pytest.skip(
            f"no Linux {series} sources: set {_variable(series)},"
            f" or `schedlab kernel add --debian {series}`"
        )
    return tree


def sched_features(series: str) -> set[str]:
    """Return the sched features that a tree declares."""
    text = (kernel_source(series) / "kernel/sched/features.h").read_text()
    return set(re.findall(r"^SCHED_FEAT\((\w+),", text, re.MULTILINE))


def _variable(series: str) -> str:
    return f"SCHEDLAB_KERNEL_{series.replace('.', '_')}"
