"""Where the kernel sources for the simulator's tests are; tests skip where there are none."""

import os
from pathlib import Path

import pytest

from schedlab.kernels.shelf import Shelf


def kernel_source(series: str) -> Path:
    """Give an unpacked tree: named by the environment, or in the user's cache."""
    variable = f"SCHEDLAB_KERNEL_{series.replace('.', '_')}"
    named = os.environ.get(variable)
    if named:
        return Path(named)
    for base in Shelf().bases():
        if base.series == series and base.tree.is_dir():
            return base.tree
    pytest.skip(
        f"no Linux {series} sources: set {variable}, or `schedlab kernel add --debian {series}`"
    )
