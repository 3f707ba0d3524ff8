"""What a kernel's own configuration offers: tick rates, and preemption models."""

import re
from pathlib import Path
from typing import Literal, get_args

Hz = Literal[100, 250, 300, 1000]
HZ: tuple[Hz, ...] = get_args(Hz)
HZ_USUAL: Hz = 250

Preempt = Literal["voluntary", "lazy", "full", "none"]

PREEMPTION = "kernel/Kconfig.preempt"
"""The file of a tree that has the preemption models."""


def models(tree: Path) -> tuple[Preempt, ...]:
    """Return a tree's models on x86 and arm64; the first is the one it takes by default here."""
    try:
        config = (tree / PREEMPTION).read_text(encoding="utf-8", errors="replace")
    except OSError:
        config = ""
    return models_in(config)


def models_in(config: str) -> tuple[Preempt, ...]:
    """Return the models of a tree's Kconfig.preempt."""
    lazy = re.search(r"^config PREEMPT_LAZY$", config, re.M) is not None
    voluntary = "depends on !ARCH_HAS_PREEMPT_LAZY" not in config
    return (
        *(("voluntary",) if voluntary else ()),
        *(("lazy",) if lazy else ()),
        "full",
        *(("none",) if voluntary else ()),
    )
