"""`schedlab kernel`: kernel trees and what is built of them for the simulator."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from schedlab.base.errors import Interrupted, UsageError
from schedlab.base.system.interrupt import stoppable
from schedlab.base.words import first_of
from schedlab.cli.echo import echo
from schedlab.cli.group import Group
from schedlab.cli.names import ANY_PATH, KERNEL, PATCH
from schedlab.kernels import EngineChanged, HostRefused, KernelError
from schedlab.kernels.engine import OLDEST, find_engine
from schedlab.kernels.kconfig import HZ, HZ_USUAL, Preempt

if TYPE_CHECKING:
    from schedlab.kernels.build import Builder
    from schedlab.kernels.shelf import Recipe, Shelf


@click.group("kernel", cls=Group)
def kernel() -> None:
    """Get kernel trees and build simulators of them, with or without patches."""


@kernel.command("add")
@click.option("--debian", metavar="SERIES", help="Debian's linux-source package, e.g. 6.12.")
@click.option("--tree", metavar="PATH", type=ANY_PATH, help="Your own tree.")
@click.option("--ref", metavar="REF", help="A git ref of it; without it, the tree as it stands.")
@click.option("--name", metavar="NAME", help="What to call it; the series, or the folder's name.")
def add(debian: str | None, tree: Path | None, ref: str | None, name: str | None) -> None:
    """Add a kernel tree: Debian's, or your own."""
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.debian import debian_tree
    from schedlab.kernels.shelf import Shelf, check_name
    from schedlab.kernels.tree import tree_as_it_is, tree_at_ref

    if (debian is None) == (tree is None):
        raise UsageError("give either --debian SERIES or --tree PATH.")
    if debian is not None and not debian.strip():
        raise UsageError("--debian is empty; give a series of kernels, such as --debian 6.12.")
    if ref is not None and not tree:
        raise UsageError("--ref belongs to --tree PATH.")
    if ref is not None and not ref.strip():
        raise UsageError("--ref is empty; without it the tree is used as it stands.")
    engine, shelf, watch = find_engine(), Shelf(), ConsoleSteps()
    with stoppable():
        if debian:
            name = name or debian
            _check_free(shelf, name, f"Debian linux-source-{debian} ")
            base = debian_tree(debian, name, engine, shelf, watch)
        else:
            assert tree
            own = Path(os.path.realpath(tree)).name
            if not (name or own):
                raise UsageError(f"--tree {tree}: this folder has no name; give one with --name.")
            name = name or (f"{own}-{_plain(ref)}" if ref else own)
            check_name(name)
            _check_free(shelf, name, f"{tree.expanduser().absolute()}")
            base = (
                tree_at_ref(tree, ref, name, engine, shelf, watch)
                if ref
                else tree_as_it_is(tree, name, engine)
            )
        shelf.put_base(base)
    echo(f"{base.name}: Linux {base.release}, {base.origin}.")
    echo(
        f"`schedlab kernel build {base.name}` builds it now; otherwise the first run that needs"
        " it does."
    )


@kernel.command("build")
@click.argument("name", type=KERNEL)
@click.option(
    "--base",
    type=KERNEL,
    metavar="NAME",
    help="The kernel tree to build; NAME itself if not given.",
)
@click.option(
    "--patch",
    "patches",
    type=PATCH,
    multiple=True,
    metavar="PATCH",
    help="A patch on it: a file, or the sched feature that a patch of schedlab's adds;"
    " several apply in the order given.",
)
@click.option(
    "--config",
    metavar="debian|upstream|FILE",
    help="A kernel's configuration: Debian's for amd64, x86_64_defconfig, or a file of lines such"
    " as CONFIG_SCHED_AUTOGROUP=n; the simulator's own if not given.",
)
@click.option(
    "--hz",
    type=click.Choice([str(hz) for hz in HZ]),
    help=f"Ticks a second; {HZ_USUAL} if neither this nor the configuration says.",
)
@click.option(
    "--preempt",
    type=click.Choice(get_args(Preempt)),
    help="The preemption model; if not given, voluntary, or lazy if the tree has no voluntary.",
)
def build(
    name: str,
    base: str | None,
    patches: tuple[str, ...],
    config: str | None,
    hz: str | None,
    preempt: Preempt | None,
) -> None:
    """Build the simulator of a tree, with patches, under a NAME that variants can ask for.

    \b
    schedlab kernel build wa-off --base 6.12 --patch 0001-wa-off.patch
    schedlab run --target sim:MACHINE --variant base --variant 'wa-off: kernel=wa-off' ...
    schedlab kernel build ilb --base 6.12 --patch ILB_UTIL
    schedlab run --target sim:MACHINE --variant 'off: kernel=ilb' \\
                 --variant 'on: kernel=ilb; ILB_UTIL' ...
    schedlab kernel build as-debian --base 7.3 --config debian
    """
    from schedlab.kernels.shelf import Shelf, check_name

    check_name(name)
    shelf = Shelf()
    if base:
        shelf.base(base)

    # Only here: a wrong name is answered at once, without loading what builds.
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.build import Builder
    from schedlab.kernels.recipes import make_recipe

    engine, watch = find_engine(), ConsoleSteps()
    builder = Builder(shelf, engine, watch)
    known = {recipe.name: recipe for recipe in shelf.recipes()}
    plain = base is None and not patches and config is None
    if plain:
        shelf.recipe(name)
    with stoppable():
        if plain and name in known:
            built = builder.build(known[name])
        else:
            recipe = make_recipe(
                shelf,
                engine,
                name,
                base or name,
                patches,
                hz=int(hz) if hz else None,
                preempt=preempt,
                say=watch.say,
                config=config,
                replace=False,
            )
            before = known.get(name, recipe)
            stays = f"\n  {name} stays what it was: {_patched(before.patch_names)}."
            try:
                built = builder.build(recipe)
            except Interrupted as error:
                if before == recipe:
                    raise
                raise Interrupted(f"{error}{stays}") from None
            except (EngineChanged, HostRefused):
                raise  # it can still be built
            except KernelError as error:
                if name not in known and name != recipe.base:
                    shelf.remove(name)  # nobody can run it
                    builder.forget(name)
                if before == recipe:
                    raise
                raise KernelError(f"{error}{stays}") from None
            if before != recipe:
                shelf.put_recipe(recipe, [])  # only now: whoever is killed leaves what was there
    for warning in built.warnings:
        watch.say(f"{name}: the compiler warns, and not without the patches: {warning}")
    echo(
        f"{name}: Linux {built.release}, {built.config},"
        f" {_patched(built.patches)}, build {built.key} ({built.seconds:g} s)."
    )


@kernel.command("boot-image")
@click.argument("name", type=KERNEL)
def boot_image(name: str) -> None:
    """Build a kernel that boots in a virtual machine, from the tree and patches of NAME.

    \b
    schedlab kernel boot-image wa-off
    schedlab run --target vm:6.12 --variant base --variant 'wa-off: kernel=wa-off' ...
    """
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.boot_image import ImageBuilder
    from schedlab.kernels.shelf import Shelf

    shelf = Shelf()
    with stoppable():
        image = ImageBuilder(shelf, ConsoleSteps()).build(shelf.recipe(name))
    echo(f"{image.title} ({image.seconds:g} s).")
    echo(str(image.file))


@kernel.command("list")
def list_kernels() -> None:
    """List kernel trees and builds."""
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.build import Builder
    from schedlab.kernels.shelf import Shelf

    engine, shelf = find_engine(), Shelf()
    builder = Builder(shelf, engine, ConsoleSteps())
    if not shelf.names():
        echo(
            "No kernel yet. `schedlab kernel add --debian 6.12` fetches Debian's sources;"
            "\n`schedlab kernel add --tree PATH` takes yours."
            f" The simulator takes Linux {OLDEST} and newer."
        )
    gone = False
    for base in shelf.bases():
        gone |= base.gone
        origin = f"gone: {base.tree}" if base.gone else base.origin
        echo(f"{base.name:20} {_state(builder, base.plain)}  Linux {base.release}, {origin}")
        for recipe in shelf.recipes():
            if recipe.base == base.name:
                names = [patch.name for patch in recipe.patches]
                echo(
                    f"  {recipe.name:18} {_state(builder, recipe)}"
                    f"  {recipe.config}, {_patched(names)}"
                )
    if gone:
        echo("`schedlab kernel show NAME` says what to do about a tree that is gone.")


@kernel.command("show")
@click.argument("name", type=KERNEL)
def show(name: str) -> None:
    """Show where a kernel comes from and what is built of it."""
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.boot_image import ImageBuilder
    from schedlab.kernels.build import Builder
    from schedlab.kernels.patches import read_patch
    from schedlab.kernels.shelf import Shelf
    from schedlab.kernels.unseen import lost_options, unseen

    engine, shelf = find_engine(), Shelf()
    recipe = shelf.recipe(name)
    base = shelf.base(recipe.base)
    base.check_there()
    built = Builder(shelf, engine, ConsoleSteps()).find(recipe)
    rows = {
        "tree": f"{base.name}: Linux {base.release}, {base.origin}",
        "sources": str(base.tree),
        "patches": ", ".join(patch.name for patch in recipe.patches) or "none",
        "configuration": recipe.config,
        "engine": engine.version,
    }
    if recipe.left_out:
        rows["not simulated"] = ", ".join(recipe.left_out)
    simulated = [
        replace(read_patch(shelf.patch_file(patch)), name=patch.name) for patch in recipe.patches
    ]
    limits = [line for patch in simulated for line in unseen(patch, engine)]
    if built and built.compared:
        limits += built.compared.limits
    elif not base.is_debians and (lost := lost_options(base.name, base.tree, engine)):
        limits.append(lost)
    if limits:
        rows["limits"] = "; ".join(line.removesuffix(".") for line in limits)
    if built:
        rows |= {
            "build": f"{built.key}, made in {built.seconds:g} s",
            "compiler": built.compiler,
            "program": str(built.program),
            "features": " ".join(built.features),
            "facts": " ".join(built.facts),
            "unmatched": ", ".join(built.unmatched) or "none",
        }
        if built.patches:
            rows |= built.changes.rows
            rows["warnings"] = "; ".join(built.warnings) or "none"
        if compared := built.compared:
            rows["compared with"] = compared.with_what
            rows["  facts"] = compared.facts or "the same"
            rows["  not compiled"] = first_of(compared.not_compiled, 40) or "none"
            if compared.failed:
                rows["  calls"] = f"not compared: {compared.failed}"
            else:
                rows |= {f"  {row}": text for row, text in compared.changes.rows.items()}
    else:
        rows["build"] = "none of these sources yet; a run builds it when it needs it"
    image = ImageBuilder(shelf, ConsoleSteps()).find(recipe)
    rows["boot image"] = str(image.file) if image else "none of these sources yet"
    for row, value in rows.items():
        echo(f"{row:14} {value}")


@kernel.command("remove")
@click.argument("names", nargs=-1, required=True, type=KERNEL, metavar="NAME...")
def remove(names: tuple[str, ...]) -> None:
    """Remove builds, or trees that no build uses; your own tree itself is not changed."""
    from schedlab.cli.steps import ConsoleSteps
    from schedlab.kernels.build import Builder
    from schedlab.kernels.shelf import Shelf

    engine, shelf = find_engine(), Shelf()
    builder = Builder(shelf, engine, ConsoleSteps())
    for name in names:
        shelf.recipe(name)  # a name that nothing has, before any is removed
    for name in names:
        shelf.remove(name)
        builder.forget(name)
        echo(f"{name} is removed.")


def _check_free(shelf: "Shelf", name: str, origin: str) -> None:
    """Refuse a name that stands for something else; the same source may be added again."""
    for recipe in shelf.recipes():
        if recipe.name == name:
            raise KernelError(f"{name} is a build on {recipe.base}; choose another --name.")
    for base in shelf.bases():
        if base.name == name and origin not in base.origin and not base.gone:
            raise KernelError(
                f"{name} is already {base.origin}.\n  Choose another --name, or"
                f" `schedlab kernel remove {name}` first."
            )


def _state(builder: "Builder", recipe: "Recipe") -> str:
    try:
        return "built    " if builder.find(recipe) else "not built"
    except KernelError:
        return "not built"  # its tree is gone, or not whole


def _patched(patches: list[str] | tuple[str, ...]) -> str:
    return f"with {', '.join(patches)}" if patches else "no patches"


def _plain(ref: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._+" else "-" for letter in ref)
