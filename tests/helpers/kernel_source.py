"""Where the kernel sources for the simulator's tests are; tests skip where there are none."""

import os
import re
from pathlib import Path

from schedlab.kernels.engine import find_engine
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.tree import tree_as_it_is


def kernel_tree(series: str) -> Path | None:
    """Return an unpacked tree, named by the environment or in the user's cache, or None."""
    named = os.environ.get(_variable(series))
    if named:
        return Path(named)
    base = _on_shelf(series)
    return base.tree if base else None


def _on_shelf(series: str) -> Base | None:
    """Return what the user's cache has of a series, or None."""
    bases = (base for base in Shelf().bases() if base.series == series)
    return next((base for base in bases if base.tree.is_dir()), None)


def kernel_base(series: str) -> Base:
    """Return the tree as a kernel of that name; skip the test where there is none.

    One of Debian's stays one: of a tree in place each command reads what may have changed.
    """
    tree, base = kernel_source(series), _on_shelf(series)
    if base and base.is_debians and base.tree == tree:
        return base.model_copy(update={"name": series})
    return tree_as_it_is(tree, series, find_engine())


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
