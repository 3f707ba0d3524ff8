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
    return sorted(_read(tree, sources, ours)[1])


def included_sources(tree: Path, sources: Iterable[str]) -> set[str]:
    """Return those of the sources that a tree has, and what they include in quotes."""
    return _read(tree, (source for source in sources if (tree / source).is_file()), ())[0]


def _read(tree: Path, sources: Iterable[str], ours: Sequence[Path]) -> tuple[set[str], set[str]]:
    """Return what is read in turn, and what is missing."""
    missing: set[str] = set()
    seen: set[str] = set()
    left = list(sources)
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
            inside = (place for place in places if not place.startswith(("/", "..")))
            found = next((place for place in inside if (tree / place).is_file()), None)
            if not found:
                missing.add(places[0])
            elif quote == '"':
                left.append(found)
    return seen, missing
