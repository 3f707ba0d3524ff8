"""Recorded outputs of the tools, as tests/data/tools holds them: command, output, exit status."""

import re
from pathlib import Path

from schedlab.benchmarks import Output

TOOLS = Path(__file__).parents[1] / "data" / "tools"


def recorded(name: str) -> Output:
    """Return a recorded run of a tool."""
    text = (TOOLS / f"{name}.txt").read_text()
    match = re.search(r"--- stdout\n(.*)\n?--- stderr\n(.*)\n?--- rc=(\d+)", text, re.DOTALL)
    assert match, name
    return Output(match[1], match[2], int(match[3]))
