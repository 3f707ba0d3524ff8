"""The files that a tree's sources include, of those that a build compiles."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
_BESIDE = ("kernel/sched", "kernel", "drivers/thermal", "")
"""Where a build looks for what a source includes in quotes, after the source's own folder."""
_PUBLIC = ("include", "include/uapi")
_MADE = ("asm/", "generated/")
"""The engine has these, or the build makes them."""


def missing_headers(tree: Path, sources: Iterable[str], ours: Sequence[Path]) -> list[str]:
    """Return what the sources of a tree include and it does not have.

    What they include in quotes is read in turn; public headers have to be there, but only the
    compiler knows which of their own a build reads.

    Args:
        tree: a kernel tree.
        sources: those that are compiled, by their names in the tree.
        ours: folders of headers that stand for the tree's.
    """
    missing: dict[str, None] = {}
    seen: set[str] = set()
    left = sorted(sources)
    while left:
        source = left.pop()
        if source in seen:
            continue
        seen.add(source)
        text = (tree / source).read_text(encoding="utf-8", errors="replace")
        for quote, name in _INCLUDE.findall(text):
            if name.startswith(_MADE) or any((folder / name).is_file() for folder in ours):
                continue
            folders = (Path(source).parent, *_BESIDE) if quote == '"' else ()
            places = [os.path.normpath(Path(f, name)) for f in (*folders, *_PUBLIC)]
            found = next((place for place in places if (tree / place).is_file()), None)
            if not found:
                missing[places[0]] = None
            elif quote == '"':
                left.append(found)
    return sorted(missing)
