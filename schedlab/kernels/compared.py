"""What the engine meets in a build, beside the tree without its patches or a tree that it knows.

A patch is compared with its tree. A tree of the user's own is compared with Debian's nearest one of
the shelf: the engine's tests run on those.
"""

import filecmp
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from schedlab.base.system.system import natural
from schedlab.base.validation import Data
from schedlab.base.words import first_of, listing, plural
from schedlab.kernels import EngineChanged, KernelError
from schedlab.kernels.engine import Engine
from schedlab.kernels.facts import changed_facts
from schedlab.kernels.headers import included_sources
from schedlab.kernels.patches import FileChange, Patch
from schedlab.kernels.process import output
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.unseen import in_vain, lost_options, new_source

UNMATCHED = "unmatched.txt"
"""In make's output folder: what scripts/unmatched prints."""

_PREREQUISITE = re.compile(r"[^\s\\:]+")


class Changes(Data):
    """What is different about the names that the engine knows (engine/scripts/changed_calls.py)."""

    fewer: tuple[str, ...] = ()
    """Those that are met in fewer places."""
    moved: tuple[str, ...] = ()
    """Those of which places are gone, and as many came elsewhere."""
    parameters: tuple[str, ...] = ()
    """Functions with other parameters."""
    touched: tuple[str, ...] = ()
    """Functions with such places, and with other statements or another name."""

    @property
    def rows(self) -> dict[str, str]:
        """Return them for people, by what they are."""
        return {
            "met less often": "; ".join(self.fewer) or "none",
            "met elsewhere": "; ".join(self.moved) or "none",
            "parameters": "; ".join(self.parameters) or "the same",
            "met in changed": "; ".join(self.touched) or "none",
        }


class Compared(Data):
    """A tree of the user's own beside one that the engine's tests run on."""

    name: str
    release: str
    identity: str
    changes: Changes = Changes()
    facts: str = ""
    """Facts that only one of the two has."""
    limits: tuple[str, ...] = ()
    """What it asks more than the other, in vain."""
    not_compiled: tuple[str, ...] = ()
    """Its sources and headers that differ, or are new, and that no build reads."""
    failed: str = ""
    """Why its calls could not be compared."""

    @property
    def with_what(self) -> str:
        """Return the other tree, for people."""
        return f"{self.name} (Linux {self.release})"


def read_changes(text: str) -> Changes:
    """Read what scripts/changed_calls.py prints."""
    found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in Changes.model_fields}
    for line in text.splitlines():
        kind, name, places = line.split("\t")
        found[kind].append((name, places))
    return Changes(
        fewer=tuple(f"{name} in {places}" for name, places in found["fewer"]),
        moved=tuple(f"{name} from {places}" for name, places in found["moved"]),
        parameters=tuple(f"{name}{lists}" for name, lists in found["parameters"]),
        touched=tuple(f"{function}: {names}" for function, names in found["touched"]),
    )


def of_patches(name: str, changes: Changes) -> Iterator[str]:
    """Yield a sentence on each kind of change that the patches of a build make."""
    if changes.fewer:
        yield (
            f"{name}: its patches leave fewer places than the tree has in which the engine meets"
            f" {_lost(changes)}"
        )
    if changes.moved:
        yield (
            f"{name}: its patches take away places in which the engine meets what it counts,"
            f" charges or traces, and add as many: {_moved(changes)}"
        )
    if changes.parameters:
        yield (
            f"{name}: its patches change the parameters of what the engine passes on and traces"
            f" by their order: {_parameters(changes)}"
        )


def of_tree(name: str, compared: Compared) -> Iterator[str]:
    """Yield a sentence on each kind of difference of a tree of the user's own."""
    other, changes = compared.with_what, compared.changes
    if compared.failed:
        yield f"{name}: its calls could not be compared with those of {other}: {compared.failed}"
    if compared.facts:
        yield (
            f"{name}: beside {other} the engine finds it {compared.facts}. If it only writes the"
            " same otherwise, the engine takes it for another kernel there."
        )
    yield from compared.limits
    if files := compared.not_compiled:
        yield (
            f"{name}: {plural(len(files), 'file')} that {'is' if len(files) == 1 else 'are'} not"
            f" as in {other} {'is' if len(files) == 1 else 'are'} not compiled, so what changed"
            f" there has no effect: {first_of(files, 6)}"
        )
    if changes.fewer:
        yield (
            f"{name}: it has fewer places than {other} in which the engine meets {_lost(changes)}"
        )
    if changes.moved:
        yield (
            f"{name}: places of {other} in which the engine meets what it counts, charges or"
            f" traces are gone, and as many are elsewhere: {_moved(changes)}"
        )
    if changes.parameters:
        yield (
            f"{name}: it has other parameters than {other} for what the engine passes on and"
            f" traces by their order: {_parameters(changes)}"
        )


def _lost(changes: Changes) -> str:
    return (
        f"{listing(changes.fewer)}: a call that is written out or made by another name is not"
        " counted, charged or traced (engine/hooked/expected.txt)."
    )


def _moved(changes: Changes) -> str:
    return f"{'; '.join(changes.moved)}. If a call only moved, nothing is lost."


def _parameters(changes: Changes) -> str:
    return (
        f"{'; '.join(changes.parameters)}. If two only changed places, traces have each for the"
        " other (engine/hooked)."
    )


def nearest_known(base: Base, shelf: Shelf) -> Base | None:
    """Return the tree of Debian's to compare a tree of the user's own with, if there is one.

    It is that of the same series, or else of the nearest older one.
    """
    if base.is_debians:
        return None
    known = [
        other
        for other in shelf.bases()
        if other.is_debians and not other.gone and natural(other.series) <= natural(base.series)
    ]
    return max(known, key=lambda other: natural(other.series), default=None)


def not_compared(base: Base, other: Base | None) -> str:
    """Return a sentence on a tree of the user's own that was not compared."""
    if other:
        return (
            f"{base.name} was not compared with {other.name}, so a call that it lost among several"
            f" is not told; `schedlab kernel build {base.name}` compares them."
        )
    return (
        f"{base.name}: no tree of Debian's of this series or an older one is here to compare it"
        " with, so a call that it lost among several is not told."
        f"\n  `schedlab kernel add --debian {base.series}` fetches one, if Debian has it."
    )


def compare(
    base: Base,
    objects: Path,
    other: Base,
    engine: Engine,
    calls_of: Callable[[Sequence[str]], tuple[str, str]],
) -> Compared:
    """Compare a tree of the user's own with another.

    Args:
        base: the user's.
        objects: make's output folder of it.
        other: the one to compare with.
        engine: what was built.
        calls_of: makes the files of what sources call in the other tree and in the user's.
    """
    assert other.identity
    compared = Compared(
        name=other.name,
        release=other.release,
        identity=other.identity,
        facts=changed_facts(engine, other.tree, objects),
        limits=tuple(_limits(base, objects, other, engine)),
        not_compiled=tuple(_not_compiled(base, objects, other, engine)),
    )
    try:
        known, mine = calls_of(_units(engine, other.tree, base.tree))
    except EngineChanged:
        raise
    except KernelError as error:
        return compared.model_copy(update={"failed": str(error)})
    script, unmatched = engine.folder / "scripts/changed_calls.py", objects / UNMATCHED
    status, text = output([sys.executable, "-IS", str(script), str(unmatched), known, mine])
    if status:
        return compared.model_copy(update={"failed": text})
    return compared.model_copy(update={"changes": read_changes(text)})


def _units(engine: Engine, known: Path, tree: Path) -> list[str]:
    """Return the sources whose calls are compared: the hooked ones, and those that differ."""
    found = dict.fromkeys(engine.hooked)
    found |= {one: None for one in engine.compiled if _differ(known / one, tree / one)}
    return [source for source in found if (known / source).is_file() and (tree / source).is_file()]


def _limits(base: Base, objects: Path, other: Base, engine: Engine) -> Iterator[str]:
    """Yield what a tree asks more than another, in vain, and its sources that nothing includes."""
    changes = []
    for path, mine in sorted(_read_of_tree(objects, base.tree, "k/")):
        known = other.tree / path
        if _differ(known, mine):
            before = str(known) if known.is_file() else "/dev/null"
            text = output(["diff", "-pU3", before, str(mine)])[1].splitlines()[2:]
            changes.append(FileChange(path=path, text=text))
    if lost := lost_options(base.name, base.tree, engine):
        yield lost
    patch = Patch(f"{base.name}, compared with {other.name}", tuple(changes))
    yield from in_vain(patch, engine)
    included = included_sources(base.tree, engine.sources)
    for source in sorted((base.tree / "kernel/sched").glob("**/*.c")):
        path = str(source.relative_to(base.tree))
        if path not in included and not (other.tree / path).exists():
            yield new_source(patch.name, path)


def _not_compiled(base: Base, objects: Path, other: Base, engine: Engine) -> list[str]:
    """Return what differs of the parts of a tree that the engine reaches, and no build reads.

    The kernel's own code is first; a new source of the scheduler's is told by itself.
    """
    read = {path for path, _ in _read_of_tree(objects, base.tree)}
    found = []
    for part in engine.reach:
        place = base.tree / part
        for file in [place] if place.is_file() else place.rglob("*.[ch]"):
            path = str(file.relative_to(base.tree))
            new = not (other.tree / path).exists() and path.startswith("kernel/sched/")
            if path[-2:] in (".c", ".h") and path not in read and not new:
                found += [path] if _differ(other.tree / path, file) else []
    return sorted(found, key=lambda path: (not path.startswith("kernel/"), path))


def _differ(one: Path, other: Path) -> bool:
    if not (one.is_file() and other.is_file()):
        return True
    return not filecmp.cmp(one, other, shallow=False)


def _read_of_tree(objects: Path, tree: Path, below: str = "") -> set[tuple[str, Path]]:
    """Return the files of a tree that the objects of a build read, by their names in the tree."""
    found = set()
    for listed in objects.glob(f"{below}**/*.d"):
        for name in _PREREQUISITE.findall(listed.read_text(errors="surrogateescape")):
            if name.startswith(f"{tree}/"):
                found.add((name.removeprefix(f"{tree}/"), Path(name)))
    return found
