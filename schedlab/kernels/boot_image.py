"""Kernels that boot, built of the same trees and patches as the simulator.

whole/TREE/      all of a tree, with the patches of the last build on it
boot/TREE/       make's output; another series of patches only remakes what it touches
images/KEY/      finished kernels, named by everything that went into them
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from schedlab.base.data import data_folder
from schedlab.base.system.installed import need_programs
from schedlab.base.validation import Data
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, full_disk, only_one, write_whole
from schedlab.kernels.process import lines, output, plain_environment
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.kernels.whole_tree import WholeTree, whole_content

CONFIG = "guest/kernel.config"
"""What our kernels are configured with, on top of tinyconfig, as far as a tree has the options."""

_INFO = "image.json"
_TOOLS = {
    **{"make": "make", "bc": "bc", "patch": "patch", "flex": "flex", "bison": "bison"},
    **{"ld": "binutils", "perl": "perl"},
}
_PREEMPT = {
    **{"voluntary": "CONFIG_PREEMPT_VOLUNTARY", "lazy": "CONFIG_PREEMPT_LAZY"},
    **{"full": "CONFIG_PREEMPT", "none": "CONFIG_PREEMPT_NONE"},
}
_DECLARED = re.compile(r"^[ \t]*(?:menu)?config[ \t]+(\w+)", re.M)
_MADE = re.compile(r"^  ([A-Z]+)\s+(\S+)$")
_WRONG = re.compile(r"^\S+:\d+:\d+: (?:fatal )?error: .*$|^.*\*\*\*.*$", re.M)


class BootImage(Data):
    """A finished kernel."""

    key: str
    name: str
    release: str
    origin: str
    patches: tuple[str, ...]
    hz: int
    preempt: str
    compiler: str
    seconds: float
    file: Path

    @property
    def title(self) -> str:
        """Return what it is, for people."""
        patches = f" with {', '.join(self.patches)}" if self.patches else ""
        return (
            f"{self.name}: Linux {self.release}{patches}, HZ={self.hz}, PREEMPT={self.preempt},"
            f" {self.origin}"
        )


class ImageBuilder:
    """Builds kernels of recipes; what is built already is found again."""

    def __init__(self, shelf: Shelf, watch: Watch) -> None:
        self._shelf = shelf
        self._watch = watch
        self._cc = os.environ.get("CC", "gcc")

    def find(self, recipe: Recipe) -> BootImage | None:
        """Return the finished kernel of a recipe as it stands now, if there is one."""
        try:
            info = (self._folder(self._key(recipe)) / _INFO).read_bytes()
            image = BootImage.model_validate_json(info)
        except (OSError, ValidationError):
            return None
        return image.model_copy(update={"name": recipe.name}) if image.file.is_file() else None

    def get(self, name: str) -> BootImage:
        """Return the finished kernel called so.

        Raises:
            KernelError: there is none of what the name stands for now.
        """
        recipe = self._shelf.recipe(name)
        image = self.find(recipe)
        if image is None:
            raise KernelError(
                f"{name} has no boot image, or its tree, patches or configuration have changed"
                " since."
                f"\n  `schedlab kernel boot-image {name}` builds one."
            )
        return image

    def build(self, recipe: Recipe) -> BootImage:
        """Return the kernel of a recipe, building what is missing.

        Raises:
            KernelError: a tool is missing, or the kernel does not build.
        """
        found = self.find(recipe)
        if found:
            return found
        self._check_tools()
        base = self._shelf.base(recipe.base)
        key = self._key(recipe)
        began = time.monotonic()

        def waiting(holder: str) -> None:
            self._watch.say(f"process {holder} is building in the same tree; waiting for it.")

        tree = WholeTree(base, self._shelf, self._watch)
        with disk_errors(f"building {recipe.name}"), only_one(tree.lock, waiting) as lock:
            tree.prepare([self._shelf.whole_patch_file(patch) for patch in recipe.patches])
            with self._watch.task(f"building the kernel {recipe.name} ({recipe.config})") as step:
                tree.objects.mkdir(parents=True, exist_ok=True)
                self._configure(tree, recipe)
                jobs = len(os.sched_getaffinity(0))
                # Should we be killed, make goes on with the lock, so that nobody else begins.
                for made in self._make(tree, "bzImage", jobs, keep_open=(lock,)):
                    step(0.0, made)
            image = BootImage(
                key=key,
                name=recipe.name,
                release=base.release,
                origin=base.origin,
                patches=tuple(patch.name for patch in recipe.patches),
                hz=recipe.hz,
                preempt=recipe.preempt,
                compiler=self._compiler(),
                seconds=round(time.monotonic() - began, 1),
                file=self._folder(key) / "bzImage",
            )
            image.file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.objects / "arch/x86/boot/bzImage", image.file)
            shutil.copyfile(tree.objects / ".config", image.file.with_name("config"))
            write_whole(image.file.with_name(_INFO), image.model_dump_json(indent=1))
        return image

    def _configure(self, tree: WholeTree, recipe: Recipe) -> None:
        """Write .config, and see that the kernel took every option."""
        asked = self._config(recipe)
        stamp = tree.objects / "configured-by"
        if stamp.is_file() and stamp.read_text() == asked:
            return
        for _ in self._make(tree, "tinyconfig"):
            pass
        config = tree.objects / ".config"
        config.write_text(f"{config.read_text()}\n{asked}")
        for _ in self._make(tree, "olddefconfig"):
            pass
        refused = refused_lines(asked, config.read_text(), tree.source)
        if refused:
            raise KernelError(
                f"{tree.source}: this kernel does not take {', '.join(refused)} of {CONFIG}."
            )
        stamp.write_text(asked)

    def _config(self, recipe: Recipe) -> str:
        options = dict(option.split("=") for option in recipe.options)
        lines = [f"{line}\n" for line in _shipped() if _option(line) not in options]
        lines += [f"CONFIG_HZ_{recipe.hz}=y\n", f"{_PREEMPT[recipe.preempt]}=y\n"]
        lines += [
            f"CONFIG_{name}=y\n" if value == "y" else f"# CONFIG_{name} is not set\n"
            for name, value in options.items()
        ]
        return "".join(lines)

    def _make(
        self, tree: WholeTree, target: str, jobs: int = 1, keep_open: Sequence[int] = ()
    ) -> Iterator[str]:
        """Call the kernel's make; yield the targets as it makes them."""
        argv = ["make", "-C", str(tree.source), f"-j{jobs}"]
        argv += [f"O={tree.objects}", f"CC={self._cc}", target]
        env = {**plain_environment(), "KBUILD_BUILD_USER": "schedlab", "KBUILD_BUILD_HOST": "-"}
        printed: list[str] = []
        with closing(lines(argv, env=env, keep_open=keep_open)) as said:
            for line in said:
                printed.append(line)
                if made := _MADE.match(line):
                    yield made[2]
        status = printed.pop()
        (tree.objects / "make.log").write_text("\n".join(printed))
        if status != "0":
            raise KernelError(_what_failed(printed, tree.objects / "make.log"))

    def _folder(self, key: str) -> Path:
        return self._shelf.folder / "images" / key

    def _key(self, recipe: Recipe) -> str:
        """Return what the kernel of a recipe would be made of, as everything stands now."""
        parts = [
            whole_content(self._shelf.base(recipe.base)),
            self._compiler(),
            self._config(recipe),
            *(patch.whole_sha256 or patch.sha256 for patch in recipe.patches),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _compiler(self) -> str:
        need_programs({self._cc: "gcc"}, "building a kernel", KernelError)
        return output([self._cc, "--version"])[1].partition("\n")[0]

    def _check_tools(self) -> None:
        need_programs(_TOOLS, "building a kernel", KernelError)


def refused_lines(asked: str, config: str, tree: Path) -> list[str]:
    """Return the lines that were asked for and that a kernel's .config does not have.

    A line that comes with schedlab counts only if the tree declares its option.
    """
    taken, shipped = set(config.splitlines()), set(_shipped())
    missing = [line for line in asked.splitlines() if "=" in line and line not in taken]
    declared = _declared(tree) if missing else set()
    return [line for line in missing if line not in shipped or _option(line) in declared]


def _declared(tree: Path) -> set[str]:
    """Return the options that a whole tree's Kconfig files declare, of any architecture."""
    texts = (file.read_text(errors="replace") for file in tree.rglob("Kconfig*") if file.is_file())
    return {option for text in texts for option in _DECLARED.findall(text)}


def _option(line: str) -> str:
    """Return the option that a line of a configuration sets, without CONFIG_."""
    return line.partition("=")[0].removeprefix("CONFIG_")


def _shipped() -> list[str]:
    """Return the lines of the configuration that comes with schedlab."""
    return (data_folder("guest") / "kernel.config").read_text().splitlines()


def _what_failed(printed: Sequence[str], log: Path) -> str:
    """Return the one thing that stopped the kernel's make."""
    text = "\n".join(printed)
    if "No space left on device" in text:
        return full_disk("building the kernel")
    if "gelf.h" in text or "libelf" in text:
        return "the kernel's build needs libelf.\n  Install: apt-get install libelf-dev"
    wrong = _WRONG.search(text)
    said = wrong[0] if wrong else (printed[-1] if printed else "make failed")
    return f"the kernel does not build: {said}\n  All of make's words: {log}"
