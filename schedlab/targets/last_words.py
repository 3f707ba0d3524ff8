"""What to quote of a program that failed: its last lines, and before them the one that says why.

A server goes on printing after what went wrong: it recovers, ends its other processes, retries.
"""

import re
from collections.abc import Sequence

_LINES = 3
_LONGEST_LINE = 300
_BY_WEIGHT = tuple(
    re.compile(pattern)
    for pattern in (
        r"No space left on device|\bPANIC\b|terminated by signal|[Gg]ot signal|crashed by signal"
        r"|exited on signal|Out of memory|Cannot allocate memory|Segmentation fault",
        r"\bFATAL\b|\[(?:emerg|alert|crit)\]|\[ERROR\]",
        r"\b(?:ERROR|Error|error):",
    )
)
"""What marks the line that says why, the weightiest first."""


def last_words(text: str, lines: int = _LINES) -> str:
    """Return the last lines, and the first of the weightiest before them; empty for no text."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    end = said[-lines:]
    why = _why(said)
    if why and why not in end:
        end = [why, *(end if lines > 1 else ())]
    return " | ".join(line[:_LONGEST_LINE] for line in end)


def _why(said: Sequence[str]) -> str:
    """Return the first line of the greatest weight; empty if none has any."""
    for weight in _BY_WEIGHT:
        for line in said:
            if weight.search(line):
                return line
    return ""
