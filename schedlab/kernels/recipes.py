"""Making a recipe: a tree, patches that apply to it, a configuration, under a name."""

from collections.abc import Callable, Sequence
from pathlib import Path

from schedlab.kernels import KernelError
from schedlab.kernels.configuration import Configuration, read_configuration, tell_left_out
from schedlab.kernels.engine import Engine
from schedlab.kernels.headers import included_sources
from schedlab.kernels.kconfig import HZ_USUAL, PREEMPTION, Preempt, models_in
from schedlab.kernels.patch_heading import summary
from schedlab.kernels.patches import Patch, check_applies, patched_text, read_patch
from schedlab.kernels.shelf import Base, PatchCopy, Recipe, Shelf, check_name, digest_of
from schedlab.kernels.shipped import find_patch
from schedlab.kernels.unseen import unseen


def make_recipe(
    shelf: Shelf,
    engine: Engine,
    name: str,
    base: str,
    patches: Sequence[str],
    hz: int | None,
    preempt: Preempt | None,
    say: Callable[[str], None],
    config: str | None = None,
    replace: bool = True,
) -> Recipe:
    """Keep a recipe under its name, and return it.

    Args:
        shelf: where it is kept.
        engine: knows which files of a patch are simulated.
        name: what variants ask for.
        base: the name of a kernel tree.
        patches: files, or features that patches of schedlab's add.
        hz: ticks a second; 250 if neither this nor the configuration says.
        preempt: the preemption model; the configuration's or the tree's usual one if not given.
        say: takes a line on what is left out of patches, and how they apply.
        config: a configuration, `debian`, `upstream` or a file; the engine's own if not given.
        replace: it takes the place of another recipe of its name; if not, only its patches are
            kept where there is one.

    Raises:
        KernelError: there is no such tree, it does not have the preemption model, a patch
            does not apply to it, or the configuration cannot be.
    """
    check_name(name)
    tree = shelf.base(base)
    tree.check_there()
    paths = _files(patches, tree.series)
    whole = [read_patch(path) for path in paths]
    simulated = _simulated_parts(whole, tree, engine, say)
    copies = tuple(_copy(part, patch) for part, patch in zip(simulated, whole, strict=True))
    _check_distinct(simulated)
    offered = _models(tree, simulated)
    taken = Configuration()
    if config:
        taken = read_configuration(config, engine, tree.series, tree.tree, offered)
        tell_left_out(taken, say)
    for what, asked, has in (("--hz", hz, taken.hz), ("--preempt", preempt, taken.preempt)):
        if asked and has and asked != has:
            raise KernelError(f"{what} {asked} contradicts {taken.name}, which has {has}.")
    preempt = preempt or taken.preempt or offered[0]
    if preempt not in offered:
        raise KernelError(
            f"{base} (Linux {tree.release}) has no preemption model '{preempt}'; it has"
            f" {', '.join(offered)}."
        )
    recipe = Recipe(
        name=name,
        base=tree.name,
        patches=copies,
        hz=hz or taken.hz or HZ_USUAL,
        preempt=preempt,
        configuration=taken.name,
        options=taken.options,
        left_out=taken.left_out,
    )
    plain = Recipe(name=name, base=name, preempt=tree.preempts[0])
    if name in {other.name for other in shelf.bases()} and recipe != plain:
        raise KernelError(
            f"{name} is a kernel tree; a build of it with patches or another configuration needs"
            " another name."
        )
    known = shelf.recipes()
    if recipe in known:
        return recipe
    _check(tree, simulated, say)
    texts = [patch.text for patch in (*simulated, *whole)]
    if not replace and name in {other.name for other in known}:
        shelf.put_patches(texts)
    elif recipe != plain:
        shelf.put_recipe(recipe, texts)
    return recipe


def _files(patches: Sequence[str], series: str) -> list[Path]:
    """Return the files of patches; one of schedlab's may add two of the features that are named."""
    words: set[str] = set()
    files: dict[Path, Path] = {}
    for patch in patches:
        path = find_patch(patch, series)
        file = path.resolve()
        if patch in words or (file in files and Path(patch).resolve() == file):
            raise KernelError(f"{patch}: this patch is given twice; it applies once.")
        words.add(patch)
        files.setdefault(file, path)
    return list(files.values())


def _check_distinct(patches: Sequence[Patch]) -> None:
    """Refuse a copy of a patch under another name."""
    first: dict[str, str] = {}
    for patch in patches:
        name = first.setdefault(patch.text, patch.name)
        if name != patch.name:
            raise KernelError(
                f"{patch.name}: changes the same as {name}, which is given too; it applies once."
            )


def _models(tree: Base, patches: Sequence[Patch]) -> tuple[Preempt, ...]:
    """Return the preemption models of a patched tree; what is usual without patches stays so."""
    if not any(change.path == PREEMPTION for patch in patches for change in patch.changes):
        return tree.preempts
    usual = tree.preempts[0]
    found = models_in(patched_text(tree.tree, patches, PREEMPTION))
    return tuple(sorted(found, key=lambda model: model != usual))


def _check(tree: Base, patches: Sequence[Patch], say: Callable[[str], None]) -> None:
    for line in check_applies(tree.tree, patches, f"{tree.name} ({tree.release})"):
        say(line)


def _copy(simulated: Patch, whole: Patch) -> PatchCopy:
    digest, of_whole = digest_of(simulated.text), digest_of(whole.text)
    # JSON takes no bytes that are not text.
    heading = whole.heading.encode(errors="surrogateescape").decode(errors="replace")
    return PatchCopy(
        name=whole.name,
        sha256=digest,
        whole_sha256="" if of_whole == digest else of_whole,
        heading=heading,
        summary=summary(whole.name, whole, heading, of_whole),
    )


def _simulated_parts(
    whole: Sequence[Patch], tree: Base, engine: Engine, say: Callable[[str], None]
) -> list[Patch]:
    """Return what the simulator compiles of patches; report which of their files it does not use.

    A file that one of them creates is theirs, also in a later one.
    """
    compiled = included_sources(tree.tree, engine.sources)
    compiled |= {change.path for patch in whole for change in patch.changes if change.creates}
    parts = []
    for each in whole:
        patch, left_out = each.within(engine, compiled)
        if left_out:
            say(f"{each.name}: not simulated, and left out: {', '.join(left_out)}")
        if not patch.changes:
            raise KernelError(f"{each.name}: touches nothing that the simulator compiles.")
        for line in unseen(patch, engine):
            say(line)
        parts.append(patch)
    return parts
