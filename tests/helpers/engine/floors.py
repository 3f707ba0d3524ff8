"""The floors of the engine and the arrows between its folders, by the symbols of a build.

python -m tests.helpers.engine.floors [SERIES]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.helpers import builds
from tests.helpers.engine.simulator import SERIES, build

FLOORS = {"hw": 0, "k": 1, "kernel": 1, "registry": 2, "run": 3, "calls": 4, "workloads": 5}
"""The folders of a build's objects, from the bottom up.

`k` is kernel/sched itself, `registry` what workloads there are, `calls` the calls that they make,
as the simulator has them.
"""

Arrows = Mapping[tuple[str, str], set[str]]


class Objects:
    """The objects of a series' build."""

    def __init__(self, series: str) -> None:
        """Make the build if need be."""
        build(series)
        out = builds.objects(series)

        @cache
        def of(folder: str, defined: bool) -> set[str]:
            return _names(out / folder, defined)

        self.names = of

    def defined(self, folder: str) -> set[str]:
        """Return the names that a folder's objects define."""
        return self.names(folder, True)

    def used(self, folder: str) -> set[str]:
        """Return the names that a folder's objects leave to others."""
        return self.names(folder, False)

    def arrows(self) -> Arrows:
        """Return the names that each folder uses of each other, where it uses any."""
        return {
            (user, owner): names
            for user in FLOORS
            for owner in FLOORS
            if user != owner and (names := self.used(user) & self.defined(owner))
        }


def upward(arrows: Arrows) -> Arrows:
    """Return the arrows from a lower floor to a higher one."""
    return {pair: names for pair, names in arrows.items() if FLOORS[pair[0]] < FLOORS[pair[1]]}


def _names(folder: Path, defined: bool) -> set[str]:
    objects = sorted(filter(_has_source, folder.rglob("*.o")))
    assert objects, f"{folder}: no objects"
    which = "--defined-only" if defined else "--undefined-only"
    listed = subprocess.run(
        ["nm", "-g", "-P", which, *objects], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in listed.stdout.splitlines()]
    return {words[0] for words in lines if len(words) > 1}


def _has_source(made: Path) -> bool:
    """Return whether an object's source is still there: make leaves objects of files that moved."""
    rule = made.with_suffix(".d")
    return not rule.exists() or Path(rule.read_text().replace("\\\n", " ").split()[1]).exists()


def listing(arrows: Arrows) -> str:
    """Return a line for each arrow, from the bottom up."""
    ordered = sorted(arrows.items(), key=lambda item: [FLOORS[name] for name in item[0]])
    up = upward(arrows)
    return "".join(
        f"{user} -> {owner}: {len(names)} names{' (up)' if (user, owner) in up else ''}\n"
        for (user, owner), names in ordered
    )


if __name__ == "__main__":
    print(listing(Objects(*(sys.argv[1:] or SERIES[-1:])).arrows()), end="")
