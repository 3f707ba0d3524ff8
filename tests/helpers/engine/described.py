"""Described machines as schedsim reads them in every run of the lab."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

try:
    from schedlab.machine.model import load_machine
    from schedlab.machine.simulator import description
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing; use the lab's own Python, PYTHON=.venv/bin/python")


@functools.cache
def text(name: str) -> str:
    """A machine under machines/ in JSON: reading its file takes longer than a short run of it."""
    return json.dumps(description(load_machine(ROOT / "machines" / f"{name}.toml")))


def machine(name: str) -> dict[str, Any]:
    """The same, to run or to change before use."""
    described: dict[str, Any] = json.loads(text(name))
    return described
