"""Facts of a tree: what the engine reads from its files, and what patches change of that."""

import re
from collections.abc import Collection
from pathlib import Path

from schedlab.kernels.engine import PROBE, Engine
from schedlab.kernels.process import output

_FACTS = "gen/generated/tree.h"
"""In make's output folder."""
_FACT = re.compile(r"^#define TREE_HAS_(\w+) 1$", re.M)


def facts_of(objects: Path) -> tuple[str, ...]:
    """Return the facts that a build was made by, sorted."""
    return tuple(sorted(_FACT.findall((objects / _FACTS).read_text())))


def changed_facts(engine: Engine, tree: Path, objects: Path) -> str:
    """Return the facts of a tree that a build has not, and the other way round, or nothing."""
    if not (objects / _FACTS).exists():
        return ""
    script = engine.folder / PROBE
    before = set(_FACT.findall(output([str(script), str(tree), str(tree)])[1]))
    now, text = set(facts_of(objects)), script.read_text()
    return ", ".join(
        f"{which} {_with_files(facts, text)}"
        for which, facts in (("without", before - now), ("with", now - before))
        if facts
    )


def changed_by_patches(engine: Engine, tree: Path, objects: Path) -> str:
    """Return a sentence on the facts of a tree that the patches of a build change, or nothing."""
    changes = changed_facts(engine, tree, objects)
    return changes and (
        f"its patches change the facts that the engine reads from the tree: {changes}."
        "\n  If they only write the same otherwise, have them leave the line that"
        f" {engine.folder / PROBE} looks for."
    )


def _with_files(facts: Collection[str], script: str) -> str:
    files = {fact: re.search(rf"^has {fact}\s+([^\s'?]+)", script, re.M) for fact in facts}
    return ", ".join(
        f"{fact} ({found[1]})" if (found := files[fact]) else fact for fact in sorted(facts)
    )
