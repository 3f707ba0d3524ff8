"""Which kernel each variant of a plan runs on a simulated machine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from schedlab.base.errors import UsageError
from schedlab.base.series import USUAL
from schedlab.kernels import KernelError
from schedlab.kernels.schedulers import OPTION, Scheduler, find_scheduler, has_sched_ext
from schedlab.kernels.scx_tree import scx_tree
from schedlab.kernels.shelf import Base, Recipe, Shelf
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.kinds.scx import Scx, is_source
from schedlab.settings.kinds.scx_sub import ScxSub
from schedlab.settings.kinds.scx_tunable import ScxTunable
from schedlab.settings.variant import Variant


def kernels_of(variants: Sequence[Variant], shelf: Shelf) -> dict[str, Recipe]:
    """Return each variant's kernel, by the variant's name.

    Where one has a sched_ext scheduler, all are built with sched_ext, as a distribution's are: so
    variants differ by who schedules only.
    """
    recipes = _recipes(variants, shelf)
    for variant in variants:
        for kind in (ScxTunable, ScxSub):
            if kind.of(variant) and not Scx.of(variant):
                raise UsageError(
                    f"variant {variant.name}: {kind.name} needs the scheduler: scx=NAME."
                )
    if not any(map(Scx.of, variants)):
        return recipes
    for name, recipe in recipes.items():
        if "SCHED_PROXY_EXEC=y" in recipe.options:
            raise UsageError(
                f"variant {name}: {recipe.name} has SCHED_PROXY_EXEC, which no kernel has together"
                " with sched_ext.\n  Name a kernel without it where a variant has scx=."
            )
    return {
        name: recipe.model_copy(update={"options": (*recipe.options, OPTION)})
        if has_sched_ext(shelf.base(recipe.base))
        else recipe
        for name, recipe in recipes.items()
    }


def schedulers_of(
    variants: Sequence[Variant], recipes: Mapping[str, Recipe], shelf: Shelf
) -> dict[str, Scheduler]:
    """Return the sched_ext scheduler of each variant that has one, by the variant's name.

    Raises:
        UsageError: there is no such scheduler, or the variant's kernel has no sched_ext.
    """
    found = {}
    scx = scx_tree(shelf)
    for variant in variants:
        if wanted := Scx.of(variant):
            base = shelf.base(recipes[variant.name].base)
            below = ScxSub.below(ScxSub.of(variant))
            try:
                found[variant.name] = hierarchy(wanted, below, base, scx)
            except KernelError as error:
                raise UsageError(f"variant {variant.name}: scx: {error}") from error
            scheduler = found[variant.name]
            for name in ScxTunable.of(variant):
                if not scheduler.mentions(name):
                    raise UsageError(
                        f"variant {variant.name}: scx-tunable {name}: {scheduler.name} has no"
                        " variable of that name."
                    )
    return found


def hierarchy(wanted: str, below: Sequence[str], base: Base, scx: Path | None) -> Scheduler:
    """Return a scheduler with its sub-schedulers; KernelError if one of them is not there."""
    root, *subs = (find_scheduler(each, is_source(each), base, scx) for each in (wanted, *below))
    return replace(root, below=tuple(subs))


def _recipes(variants: Sequence[Variant], shelf: Shelf) -> dict[str, Recipe]:
    """Return each variant's kernel as it is named.

    A variant that names none runs what the named ones stand on: their tree without patches, in
    their configuration. Where no variant names one, all run 6.12, or the only tree there is.

    Raises:
        KernelError: a kernel is not there.
        UsageError: the named ones stand on several, so that a variant without is ambiguous.
    """
    named = {
        variant.name: shelf.recipe(kernel) for variant in variants if (kernel := Kernel.of(variant))
    }
    without = [variant.name for variant in variants if not Kernel.of(variant)]
    if not without:
        return named
    grounds = list(dict.fromkeys(recipe.unpatched() for recipe in named.values()))
    if len(grounds) > 1:
        names = " and ".join(f"{ground.name} ({ground.config})" for ground in grounds)
        raise UsageError(
            f"variant {without[0]} names no kernel, and the others use {names}."
            f"\n  Choose the kernel it runs: '{without[0]}: kernel=NAME'."
        )
    ground = grounds[0] if grounds else _usual(shelf)
    if not shelf.has_unpatched(ground):
        users = ", ".join(dict.fromkeys(recipe.name for recipe in named.values()))
        raise UsageError(
            f"variant {without[0]} names no kernel, and {ground.name} has no preemption model"
            f" '{ground.preempt}' without the patches of {users}."
            f"\n  Choose the kernel it runs: '{without[0]}: kernel={ground.name}'."
        )
    return {variant.name: named.get(variant.name, ground) for variant in variants}


def _usual(shelf: Shelf) -> Recipe:
    names = [base.name for base in shelf.bases()]
    if USUAL in names:
        return shelf.recipe(USUAL)
    if len(names) == 1:
        return shelf.recipe(names[0])
    if names:
        raise UsageError(
            f"no variant names a kernel, and there are several: {', '.join(names)}."
            "\n  Choose one, e.g. --variant 'base: kernel=NAME'."
        )
    raise KernelError(
        "there is no kernel to simulate yet.\n  `schedlab kernel add --debian 6.12` fetches"
        " Debian's sources, `schedlab kernel add --tree PATH` takes yours."
    )
