"""A finished simulator: what it is made of, and where the engine does not meet its kernel."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schedlab.base.validation import Data
from schedlab.base.words import listing
from schedlab.kernels.compared import Changes, Compared, of_patches, of_tree
from schedlab.kernels.shelf import config_line

EVENTS = "events.json"
"""Beside the program: the fields of the events that it can trace."""


class Build(Data):
    """A finished simulator."""

    key: str
    kernel: str
    base: str
    series: str
    release: str
    origin: str
    is_own_tree: bool = False
    """The tree is the user's, not Debian's."""
    patches: tuple[str, ...]
    hz: int
    preempt: str
    configuration: str = ""
    options: tuple[str, ...] = ()
    engine: str
    compiler: str
    features: tuple[str, ...]
    facts: tuple[str, ...]
    """What the tree has and how it calls it, as probed (engine/scripts/probe)."""
    unmatched: tuple[str, ...]
    """Hooks and hot fields of the engine that nothing in the tree has met."""
    limits: tuple[str, ...] = ()
    """What its patches have in vain."""
    changes: Changes = Changes()
    """What its patches change about them."""
    compared: Compared | None = None
    """Where the tree is the user's own: how it differs from the nearest one of Debian's."""
    warnings: tuple[str, ...] = ()
    """The compiler's, that the unpatched tree does not give."""
    seconds: float
    program: Path

    @property
    def config(self) -> str:
        """Return the configuration, for people."""
        return config_line(self.hz, self.preempt, self.configuration, self.options)

    @property
    def events(self) -> Mapping[str, Sequence[str]]:
        """Return the fields of each event that it can trace."""
        found = json.loads((self.program.parent / EVENTS).read_bytes())
        return {name: tuple(fields) for name, fields in found.items()}


def told(build: Build) -> Iterator[str]:
    """Yield a sentence on each kind of what the engine misses in a build, or meets otherwise."""
    for names in build.unmatched:
        yield (
            f"{build.kernel}: nothing in this tree matches {names.replace(' ', ' or ')} (what no"
            " code reaches does not count): what the engine counts, charges or traces there is"
            " missing (engine/hooked/expected.txt)."
        )
    yield from of_patches(build.kernel, build.changes)
    if build.compared:
        yield from of_tree(build.kernel, build.compared)


def gaps(build: Build) -> str:
    """Return how many of each kind `told` has, in one sentence for a report; empty if none."""
    compared = build.compared
    changes = compared.changes if compared else build.changes
    limits = compared.limits if compared else build.limits
    rows: dict[str, Sequence[str]] = {
        "unmatched": build.unmatched,
        "met less often": changes.fewer,
        "met elsewhere": changes.moved,
        "parameters": changes.parameters,
        "facts": [compared.facts] if compared and compared.facts else (),
        "limits": limits,
        "not compiled": compared.not_compiled if compared else (),
        "not compared": [compared.failed] if compared and compared.failed else (),
    }
    found = [f"{row} ({len(names)})" for row, names in rows.items() if names]
    said = []
    if found:
        said.append(
            f"kernel {build.kernel} is not followed everywhere: {listing(found)}."
            f" `schedlab kernel show {build.kernel}` names each."
        )
    if build.patches and build.is_own_tree:
        said.append(
            f"kernel {build.kernel} is built on your tree {build.base}:"
            f" `schedlab kernel show {build.base}` says how far that is followed."
        )
    return " ".join(said)
