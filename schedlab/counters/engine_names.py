"""Names the simulator's files and results have, read from the engine's own lists."""

import re
from functools import cache

from schedlab.base.data import data_folder

_ENTRY = re.compile(r'X\((?:\w+, )?"?(\w+)"?(?:, "([^"]*)")?\)')


@cache
def engine_names(which: str) -> tuple[str, ...]:
    """Return a list of `engine/include/hw.h`, such as ENTRIES, in the engine's order."""
    return tuple(engine_words(which))


@cache
def engine_words(which: str) -> dict[str, str]:
    """Return what the names of a list mean, where the list has it; empty where it has not."""
    header = (data_folder("engine") / "include/hw.h").read_text(encoding="utf-8")
    start = header.index(f"#define HW_{which}(X)")
    lines = re.match(r"(?:.*\\\n)*.*", header[start:])
    return dict(_ENTRY.findall(lines[0])) if lines else {}
