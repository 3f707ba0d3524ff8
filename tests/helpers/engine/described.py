"""Described machines as schedsim reads them in every run of the lab."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

try:
    from schedlab.machine.model import load_machine
    from schedlab.machine.simulator import description
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing; use the lab's own Python, PYTHON=.venv/bin/python")


def machine(name: str) -> dict[str, Any]:
    """A machine under machines/, to run or to change before use."""
    return description(load_machine(ROOT / "machines" / f"{name}.toml"))
