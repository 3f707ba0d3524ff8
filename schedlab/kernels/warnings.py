"""The compiler's warnings of a patched kernel that the unpatched one does not give.

The engine keeps what the compiler said of each of the kernel's objects beside it, in OBJECT.warn;
objects that the patches do not touch come from the unpatched build, without.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from schedlab.base.printable import printable

MOST = 100
_WARNING = re.compile(r"^(\S+?):(\d+):(?:\d+:)? warning: (.*)$", re.M)


def new_warnings(
    objects: Path, unpatched: Path | None, tree: Path, touched: Collection[str]
) -> tuple[str, ...]:
    """Return the warnings of a patched build, as `FILE:LINE: TEXT`.

    Args:
        objects: make's output folder.
        unpatched: that of the tree without the patches; warnings it has as well are left out.
            Where there is none, so are those of files that the patches do not touch.
        tree: the kernel's.
        touched: files that the patches touch.
    """
    found: dict[str, None] = {}
    for file in sorted(objects.glob("k/**/*.o.warn")):
        before = set[tuple[str, str]]()
        if unpatched:
            noted = unpatched / file.relative_to(objects)
            before = {(name, text) for name, _, text in _read(noted, unpatched, tree)}
        for name, line, text in _read(file, objects, tree):
            if (name, text) not in before and (unpatched or name in touched):
                found[f"{name}:{line}: {text}"] = None
    return tuple(found)[:MOST]


def without_lines(warnings: Collection[str]) -> set[str]:
    """Return warnings by file and text: a patch moves those that were there."""
    return {re.sub(r":\d+: ", ": ", warning, count=1) for warning in warnings}


def _read(file: Path, objects: Path, tree: Path) -> Iterator[tuple[str, str, str]]:
    """Yield file, line and text of each warning, files as the tree names them."""
    try:
        said = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for path, line, text in _WARNING.findall(said):
        for root in (objects / "src", tree):
            path = path.removeprefix(f"{root}/")
        yield path, line, printable(text)
