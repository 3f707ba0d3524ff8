"""What the user has put in the cache by name: bases and recipes.

bases/NAME.json        a kernel tree: unpacked below trees/, or the user's own where it stands
recipes/NAME.json      a base with patches and a configuration
patches/SHA256         the patches' text, so that a recipe outlives the user's file
trees/IDENTITY/        unpacked trees
objects/, builds/      what schedlab.kernels.build makes of them; it can be made again
"""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ValidationError

from schedlab.base.errors import nearest
from schedlab.base.system.inside import inside
from schedlab.base.validation import Data
from schedlab.base.words import first_of
from schedlab.kernels import KernelError
from schedlab.kernels.cache import cache_folder, disk_errors, write_whole
from schedlab.kernels.engine import OLDEST, Engine, is_series, is_taken
from schedlab.kernels.kconfig import HZ_USUAL, Preempt, models

MUST_HAVE = "kernel/sched/core.c"
"""What makes a folder a kernel tree here."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def _kernel_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"'{text}' is not a name; use letters, digits and . _ + -")
    return text


def check_name(text: str) -> None:
    """Refuse what cannot be a kernel's name."""
    try:
        _kernel_name(text)
    except ValueError as error:
        raise KernelError(f"{error}.") from None


class Base(Data):
    """A kernel tree."""

    name: Annotated[str, AfterValidator(_kernel_name)]
    series: str
    release: str
    origin: str
    """Where it came from, for people."""
    tree: Path
    identity: str | None = None
    """Names exactly this content; None for the user's own tree, which may change any time."""
    reach: tuple[str, ...] = ()
    """The parts that were unpacked; empty when the whole tree is there."""
    repository: Path | None = None
    """The git tree it was exported from."""

    @property
    def preempts(self) -> tuple[Preempt, ...]:
        """The preemption models its tree offers, the usual one first."""
        return models(self.tree)

    @property
    def is_debians(self) -> bool:
        """Whether it is one of Debian's, not the user's own or exported from it."""
        return self.identity is not None and self.repository is None

    @property
    def version(self) -> str:
        """Its release, and whose it is where it is not Debian's; for reports."""
        if self.is_debians:
            return self.release
        at = f" at {(self.identity or '').removeprefix('git-')[:12]}" if self.repository else ""
        return f"{self.release} of your tree {self.name}{at}"

    @property
    def gone(self) -> bool:
        """Whether its tree is not there any more: moved, removed, or out of reach."""
        return not os.path.isfile(self.tree / MUST_HAVE)  # noqa: PTH113 never raises

    @property
    def plain(self) -> "Recipe":
        """The recipe of the tree as it is, in its usual configuration."""
        return Recipe(name=self.name, base=self.name, preempt=self.preempts[0])

    @property
    def again(self) -> str:
        """The command that adds it again."""
        if self.identity is None:
            return f"schedlab kernel add --tree NEWPATH --name {self.name}"
        if self.repository:
            ref = self.identity.removeprefix("git-")
            tree = shlex.quote(str(self.repository))
            return f"schedlab kernel add --tree {tree} --ref {ref} --name {self.name}"
        return f"schedlab kernel add --debian {self.series} --name {self.name}"

    def check_there(self) -> None:
        """Refuse to go on without the tree; KernelError if it is gone."""
        if self.gone:
            raise KernelError(
                f"kernel tree {self.name} is gone: {self.tree} was moved or removed."
                f"\n  `{self.again}` brings it back;"
                f" `schedlab kernel remove {self.name}` forgets it."
            )

    def content(self, engine: Engine) -> str:
        """Name the present content: two trees of the same content build the same simulator.

        For the user's own tree these are the sizes, places and times of the files the engine
        may read.

        Raises:
            KernelError: the tree is gone, or not whole.
        """
        if self.identity:
            return self.identity
        digest = hashlib.sha256(str(self.tree).encode())
        for stamp in self.stamps(engine):
            digest.update(f"{stamp}\n".encode(errors="surrogateescape"))
        return f"tree-{digest.hexdigest()[:16]}"

    def stamps(self, engine: Engine) -> list[str]:
        """Return a stamp of every file the engine may read.

        Raises:
            KernelError: the tree is gone, or not whole.
        """
        self.check_there()
        with disk_errors(f"reading kernel tree {self.name}"):
            return [each for part in engine.reach for each in sorted(_stamps(self.tree / part))]


class PatchCopy(Data):
    """A patch of a recipe: the name of the user's file, and where its text is kept."""

    name: str
    sha256: str
    """What the simulator compiles of it."""
    whole_sha256: str = ""
    """All of it, for a kernel that boots; empty where that is the same."""
    heading: str = ""
    """What stands above its first change."""
    summary: str = ""
    """Its subject, hash and diffstat."""


class Recipe(Data):
    """A base with patches and a configuration; without patches it is the base itself."""

    name: Annotated[str, AfterValidator(_kernel_name)]
    base: str
    patches: tuple[PatchCopy, ...] = ()
    hz: int = HZ_USUAL
    preempt: Preempt
    configuration: str = ""
    """What --config named: `debian-6.12`, or the user's file."""
    options: tuple[str, ...] = ()
    """Options that differ from the engine's own configuration, as `PSI=y`."""
    left_out: tuple[str, ...] = ()
    """What that configuration has and the simulator does not; with `=n`, the other way round."""

    @property
    def patch_names(self) -> tuple[str, ...]:
        """The names of the user's patch files, in their order."""
        return tuple(patch.name for patch in self.patches)

    @property
    def config(self) -> str:
        """Return the configuration, for people."""
        return config_line(self.hz, self.preempt, self.configuration, self.options)

    def unpatched(self) -> "Recipe":
        """Return the recipe of the same base and configuration without the patches."""
        return self.model_copy(update={"name": self.base, "patches": ()})


def config_line(hz: int, preempt: str, configuration: str, options: Sequence[str]) -> str:
    """Return a build's configuration, for people."""
    parts = [f"HZ={hz}", f"PREEMPT={preempt}", *options]
    return f"{', '.join(parts)}{f', as {configuration}' if configuration else ''}"


_Item = TypeVar("_Item", Base, Recipe)


class Shelf:
    """The named things of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the folder; the user's cache if none is given."""
        self.folder = (folder or cache_folder()) / "kernels"

    def bases(self) -> list[Base]:
        """Return every base, by name."""
        return self._all("bases", Base)

    def recipes(self) -> list[Recipe]:
        """Return every recipe, by name."""
        return self._all("recipes", Recipe)

    def names(self) -> list[str]:
        """Return every name."""
        return [base.name for base in self.bases()] + [recipe.name for recipe in self.recipes()]

    def base(self, name: str) -> Base:
        """Return a base; KernelError with the nearest names where there is none."""
        for base in self.bases():
            if base.name == name:
                return base
        for recipe in self.recipes():
            if recipe.name == name:
                raise KernelError(
                    f"{name} is not a kernel tree but a build on one; build on that: --base"
                    f" {recipe.base}."
                )
        raise self._unknown("kernel tree", name, [base.name for base in self.bases()])

    def recipe(self, name: str) -> Recipe:
        """Return what a name stands for; a base's name is its recipe without patches.

        Raises:
            KernelError: nothing is called so; the nearest names are given.
        """
        for recipe in self.recipes():
            if recipe.name == name:
                return recipe
        bases = [base.name for base in self.bases()]
        if name in bases:
            return self.base(name).plain
        raise self._unknown("kernel", name, self.names())

    def put_base(self, base: Base) -> None:
        """Keep a base under its name; the tree of one it replaces is dropped if nobody uses it."""
        before = [known for known in self.bases() if known.name == base.name]
        self._put("bases", base)
        for known in before:
            self._drop_tree(known)

    def put_recipe(self, recipe: Recipe, texts: Sequence[str]) -> None:
        """Keep a recipe and the texts of its patches."""
        self.put_patches(texts)
        self._put("recipes", recipe)

    def put_patches(self, texts: Sequence[str]) -> None:
        """Keep the texts of patches."""
        with disk_errors("keeping the patches"):
            for text in texts:
                write_whole(self.folder / "patches" / digest_of(text), text)

    def has_unpatched(self, recipe: Recipe) -> bool:
        """Return whether the tree without its patches offers a recipe's preemption model."""
        base = self.base(recipe.base)
        return base.gone or recipe.preempt in base.preempts  # one that is gone has no file to ask

    def patch_file(self, patch: PatchCopy) -> Path:
        """Return the file that holds what the simulator compiles of a patch."""
        return self._text(patch.sha256)

    def whole_patch_file(self, patch: PatchCopy) -> Path:
        """Return the file that holds all of a patch."""
        return self._text(patch.whole_sha256 or patch.sha256)

    def remove(self, name: str) -> None:
        """Forget a name, and its tree if nobody else uses it.

        Raises:
            KernelError: recipes stand on this base; they are listed.
        """
        self.recipe(name)
        base = next((base for base in self.bases() if base.name == name), None)
        if base is None:
            (self.folder / "recipes" / f"{name}.json").unlink(missing_ok=True)
            return
        users = [recipe.name for recipe in self.recipes() if recipe.base == name]
        if users:
            raise KernelError(
                f"{name} is in use: {', '.join(users)} {'is' if len(users) == 1 else 'are'} built"
                f" on it.\n  Remove {'it' if len(users) == 1 else 'them'} first:"
                f" `schedlab kernel remove {' '.join(users)}`."
            )
        (self.folder / "bases" / f"{name}.json").unlink(missing_ok=True)
        self._drop_tree(base)

    def tree_folder(self, identity: str) -> Path:
        """Return the place of an unpacked tree."""
        return inside(self.folder / "trees", identity, f"{self.folder}: a tree's identity")

    def _text(self, digest: str) -> Path:
        return inside(self.folder / "patches", digest, f"{self.folder}: a patch's digest")

    def _unknown(self, what: str, name: str, known: Sequence[str]) -> KernelError:
        """Return the error of a name that nothing has, with what would give it a meaning."""
        listed = (
            f"There are: {first_of(known)}." if known else f"There is none in {self.folder} yet."
        )
        wanted = is_series(name) and is_taken(name)
        hint = "" if wanted else nearest(name, known)
        advice = (
            "`schedlab kernel add --debian 6.12` fetches Debian's,"
            " `schedlab kernel add --tree PATH` takes yours."
        )
        if wanted:
            advice = f"`schedlab kernel add --debian {name}` fetches Debian's {name}."
        elif is_series(name):
            advice = f"The simulator takes Linux {OLDEST} and newer. {advice}"
        elif known:
            advice = "`schedlab kernel list` shows what they are."
            if what == "kernel" and not hint:
                advice += " `schedlab kernel build NAME --base TREE --patch PATCH` builds another."
        return KernelError(f"no {what} is called '{name}'.{hint} {listed}\n  {advice}")

    def _drop_tree(self, base: Base) -> None:
        ours = base.identity is not None and base.tree == self.tree_folder(base.identity)
        if ours and all(other.tree != base.tree for other in self.bases()):
            shutil.rmtree(base.tree, ignore_errors=True)

    def _put(self, kind: str, item: Base | Recipe) -> None:
        with disk_errors(f"keeping {item.name}"):
            write_whole(self.folder / kind / f"{item.name}.json", item.model_dump_json(indent=1))

    def _all(self, kind: str, model: type[_Item]) -> list[_Item]:
        found = []
        for path in sorted((self.folder / kind).glob("[!.]*.json")):
            try:
                found.append(model.model_validate_json(path.read_bytes()))
            except (OSError, ValidationError) as error:
                raise KernelError(
                    f"{path}: cannot be read ({str(error).splitlines()[0]})."
                    "\n  Remove the file, and add or build that kernel again."
                ) from error
        return found


def digest_of(text: str) -> str:
    """Return a name made of a text's content."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _stamps(path: Path) -> list[str]:
    """Return the stamp of every file at or below a place, behind links to folders too."""
    if path.is_file():
        return [_stamp(str(path), path.stat())]
    found: list[str] = []
    folders, seen = [str(path)], set()
    while folders:
        folder = folders.pop()
        status = os.stat(folder)  # noqa: PTH116 of thousands of folders
        if (status.st_dev, status.st_ino) in seen:
            continue  # a link leads back
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.is_file():
                    found.append(_stamp(entry.path, entry.stat()))
    return found


def _stamp(path: str, status: os.stat_result) -> str:
    """Return what tells a file from another in its place; the last of it is its time."""
    other = f"{status.st_size}\0{status.st_ino}\0{status.st_ctime_ns}"
    return f"{path}\0{other}\0{status.st_mtime_ns}"
