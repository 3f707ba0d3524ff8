# SPDX-License-Identifier: GPL-2.0-only
"""What patches change about the places in which the engine meets what it knows by name.

    changed_calls.py UNMATCHED "BEFORE..." "NOW..."

BEFORE and NOW are files of scripts/calls.py, of the tree without the patches and with them.  Prints
lines of three fields; what UNMATCHED lists is told by it anyway.

    fewer NAME PLACES          there are less of them than before; those that are gone
    moved NAME FROM, now TO    some are gone, and as many or more came elsewhere
    parameters NAME OLD, now NEW
"""

import sys
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

NEAR = 4
"""Between so few equal words lies one change."""

Outlines = dict[str, list[list[str]]]


def read(files: list[str]) -> tuple[Outlines, dict[str, set[str]]]:
    """Return the outlines of functions, one of each definition, and parameters, by name.

    A header's function is in several units, and where it has most places these are hooked.
    """
    definitions: dict[tuple[str, str], list[str]] = {}
    parameters: dict[str, set[str]] = {}
    for file in files:
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            path, name, taken, outline = line.split("\t")
            words = outline.split()
            if taken:
                parameters.setdefault(name, set()).add(taken)
            known = definitions.get((path, name), [])
            if places(words).total() >= places(known).total():
                definitions[path, name] = words
    outlines: Outlines = {}
    for (_, name), words in definitions.items():
        outlines.setdefault(name, []).append(words)
    return {name: sorted(several) for name, several in outlines.items()}, parameters


def places(words: list[str]) -> Counter[str]:
    """Count what the engine meets in a piece of an outline."""
    return Counter(word[1:] for word in words if word[0] == "@")


def changes(before: list[str], now: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what is taken away and what is added, place by place."""
    gone: list[str] = []
    came: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal" and (b - a > NEAR or places(before[a:b])):
            yield gone, came
            gone, came = [], []
        elif kind != "equal":
            gone, came = gone + before[a:b], came + now[c:d]
    yield gone, came


def renamed(before: Outlines, now: Outlines) -> Outlines:
    """Return the outlines of now by the names that they had before, where only the name changed."""
    by_places = {}
    for name in sorted(before.keys() - now.keys()):
        by_places[str([[w for w in words if w[0] == "@"] for words in before[name]])] = name
    found = {}
    for name, several in now.items():
        same = str([[w for w in words if w[0] == "@"] for words in several])
        old = by_places.pop(same, name) if name not in before else name
        found[old] = several
    return found


def main() -> None:
    """Print the lines."""
    unmatched, files_before, files_now = sys.argv[1:]
    told = set(Path(unmatched).read_text(encoding="utf-8").split())
    before, parameters_before = read(files_before.split())
    now, parameters_now = read(files_now.split())
    now = renamed(before, now)
    total: Counter[str] = Counter()
    gone: dict[str, set[str]] = {}
    came: dict[str, set[str]] = {}
    for function in sorted(before.keys() | now.keys()):
        pairs = zip_longest(before.get(function, []), now.get(function, []), fillvalue=[])
        for less, more in (one for old, new in pairs for one in changes(old, new)):
            for name, count in (places(more) - places(less)).items():
                came.setdefault(name, set()).add(f"{function}()")
                total[name] += count
            for name, count in (places(less) - places(more)).items():
                gone.setdefault(name, set()).add(f"{function}()")
                total[name] -= count
    for name in sorted(gone.keys() - told):
        where = ", ".join(sorted(gone[name]))
        if total[name] < 0:
            print("fewer", name, where, sep="\t")
        else:
            print("moved", name, f"{where}, now {', '.join(sorted(came[name]))}", sep="\t")
    for name in sorted(parameters_before.keys() & parameters_now.keys()):
        if parameters_before[name] != parameters_now[name]:
            old, new = (" or ".join(sorted(p[name])) for p in (parameters_before, parameters_now))
            print("parameters", name, f"({old}), now ({new})", sep="\t")


main()
