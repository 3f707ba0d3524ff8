# SPDX-License-Identifier: GPL-2.0-only
"""What patches change about the places in which the engine meets what it knows by name.

    changed_calls.py UNMATCHED "BEFORE..." "NOW..."

BEFORE and NOW are files of scripts/calls.py, of the tree without the patches and with them.  Prints
lines of three fields; what UNMATCHED lists is reported by it anyway.

    fewer NAME PLACES          there are less of them than before; those that are gone
    moved NAME FROM, now TO    some are gone, and as many or more came elsewhere
    parameters NAME OLD, now NEW
    touched FUNCTION NAMES     a function that has places, with other statements or another name:
                               whether one of them is the call that it was, no text says
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

ALIKE = 0.5
"""How much of two statements is the same, places apart, if one may have come of the other."""

Statement = tuple[str, ...]
Outlines = dict[str, list[list[Statement]]]


@dataclass
class Tree:
    """What the files of scripts/calls.py say of a tree's units."""

    outlines: Outlines = field(default_factory=dict)
    """The statements of functions, one list for each definition, by name."""
    parameters: dict[str, set[str]] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)


def read(files: list[str]) -> Tree:
    """Read the files.

    A header's function is in several units, and where it has most places these are hooked.
    """
    tree = Tree()
    definitions: dict[tuple[str, str], list[Statement]] = {}
    for file in files:
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            path, name, taken, outline = line.split("\t")
            if not name:
                tree.defined |= set(outline.split())
                continue
            statements = [tuple(part.split()) for part in outline.split(" ; ") if part]
            if taken:
                tree.parameters.setdefault(name, set()).add(taken)
            known = definitions.get((path, name), [])
            if sum(map(len, map(places, statements))) >= sum(map(len, map(places, known))):
                definitions[path, name] = statements
    for (_, name), statements in definitions.items():
        tree.outlines.setdefault(name, []).append(statements)
    for several in tree.outlines.values():
        several.sort()
    return tree


def places(words: Statement) -> list[str]:
    """Return what the engine meets in a piece of an outline."""
    return [word[1:] for word in words if word[0] == "@"]


def changes(before: list[Statement], now: list[Statement]) -> Iterator[tuple[str, bool]]:
    """Yield the places that are gone, and those that came (True).

    Each statement is held against the one that it is most like: the same call in another statement
    may be another call.
    """
    blocks = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    for kind, a, b, c, d in blocks:
        if kind == "equal":
            continue
        for old, new in paired(before[a:b], now[c:d]):
            for _, e, f, g, h in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                if old[e:f] != new[g:h]:
                    yield from ((place, False) for place in places(old[e:f]))
                    yield from ((place, True) for place in places(new[g:h]))


def paired(before: list[Statement], now: list[Statement]) -> Iterator[tuple[Statement, Statement]]:
    """Yield statements with what became of them, nothing if they are gone or new."""
    bags = [
        [Counter(word for word in statement if word[0] != "@") for statement in side]
        for side in (before, now)
    ]
    alike = []
    for i, one in enumerate(bags[0]):
        for j, other in enumerate(bags[1]):
            size = one.total() + other.total()
            part = 2 * (one & other).total() / size if size else 1.0
            if part >= ALIKE:
                alike.append((-part, i, j))
    old, new = set(range(len(before))), set(range(len(now)))
    for _, i, j in sorted(alike):
        if i in old and j in new:
            old.remove(i)
            new.remove(j)
            yield before[i], now[j]
    yield from ((before[i], ()) for i in sorted(old))
    yield from (((), now[j]) for j in sorted(new))


def renamed(before: Tree, now: Tree) -> tuple[Outlines, dict[str, str]]:
    """Return the outlines of now by the names that they had before, where only the name changed.

    A name that still has a function, though one without places, was not changed.  The names of now
    are given too, by those of before.
    """

    def met(several: list[list[Statement]]) -> str:
        return str([[places(statement) for statement in one] for one in several])

    by_places = {}
    for name in sorted(before.outlines.keys() - now.outlines.keys() - now.defined):
        by_places[met(before.outlines[name])] = name
    found, names = {}, {}
    for name, several in now.outlines.items():
        new = name not in before.outlines and name not in before.defined
        old = by_places.pop(met(several), name) if new else name
        found[old] = several
        if old != name:
            names[old] = name
    return found, names


def touched(
    function: str, name: str, was: list[list[Statement]], now: list[list[Statement]]
) -> str:
    """Return a line on a function that has places, if the patches change or rename it."""
    known = {place for one in was + now for statement in one for place in places(statement)}
    if not known or (name == function and was == now):
        return ""
    renamed_from = f", was {function}()" if name != function else ""
    return "\t".join(("touched", f"{name}(){renamed_from}", ", ".join(sorted(known))))


def main() -> None:
    """Print the lines."""
    unmatched, files_before, files_now = sys.argv[1:]
    reported = set(Path(unmatched).read_text(encoding="utf-8").split())
    before, now = read(files_before.split()), read(files_now.split())
    outlines, names = renamed(before, now)
    total: Counter[str] = Counter()
    gone: dict[str, set[str]] = {}
    came: dict[str, set[str]] = {}
    for function in sorted(before.outlines.keys() | outlines.keys()):
        was, is_now = before.outlines.get(function, []), outlines.get(function, [])
        pairs = zip_longest(was, is_now, fillvalue=[])
        for place, is_new in (one for old, new in pairs for one in changes(old, new)):
            (came if is_new else gone).setdefault(place, set()).add(f"{function}()")
            total[place] += 1 if is_new else -1
        if line := touched(function, names.get(function, function), was, is_now):
            print(line)
    for name in sorted(gone.keys() - reported):
        where = ", ".join(sorted(gone[name]))
        if total[name] < 0:
            print("fewer", name, where, sep="\t")
        else:
            print("moved", name, f"{where}, now {', '.join(sorted(came[name]))}", sep="\t")
    for name in sorted(before.parameters.keys() & now.parameters.keys()):
        lists = (before.parameters[name], now.parameters[name])
        if lists[0] != lists[1]:
            old, new = (" or ".join(sorted(each)) for each in lists)
            print("parameters", name, f"({old}), now ({new})", sep="\t")


main()
