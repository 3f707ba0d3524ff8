"""Building a base tree with patches on it, for those who try many of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from schedlab.kernels import EngineChanged, HostRefused, KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import Engine
from schedlab.kernels.progress import Step, Watch
from schedlab.kernels.recipes import make_recipe
from schedlab.kernels.shelf import Shelf


@dataclass(frozen=True)
class Patched:
    """What became of a build with patches."""

    state: Literal["run", "does not apply", "does not build"]
    """`run`: it is there and can be run."""
    why: str = ""
    notices: tuple[str, ...] = ()
    """What was noted on the way, such as a hunk that fits only roughly."""
    warnings: tuple[str, ...] = ()
    """The compiler's, that the tree without the patches does not give."""


def build_patched(
    shelf: Shelf, engine: Engine, name: str, base: str, patches: Sequence[str], watch: Watch
) -> Patched:
    """Build the files `patches` on a tree, as a kernel called `name`."""
    noted = _Noted(watch)
    state: Literal["does not apply", "does not build"] = "does not apply"
    try:
        recipe = make_recipe(
            shelf, engine, name, base, patches, hz=None, preempt=None, say=noted.say
        )
        state = "does not build"
        built = Builder(shelf, engine, noted).build(recipe)
    except (EngineChanged, HostRefused):
        raise  # nothing that a patch has done
    except KernelError as error:
        if state == "does not build":
            shelf.remove(name)  # nobody can run it
        return Patched(state, str(error), noted.notices)
    return Patched("run", notices=noted.notices, warnings=built.warnings)


class _Noted(Watch):
    """Passes everything on to who watches, and keeps what is said."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._said: list[str] = []

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what was said, each line once."""
        return tuple(dict.fromkeys(self._said))

    def say(self, text: str) -> None:
        """Keep a line, and pass it on."""
        self._said.append(text)
        self._watch.say(text)

    def waits(self, text: str) -> None:
        """Pass on what is waited for; it says nothing of the patch."""
        self._watch.waits(text)

    @property
    def measures(self) -> bool:
        """Whether who watches takes notice of the share done."""
        return self._watch.measures

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Forward a long step."""
        with self._watch.task(what) as step:
            yield step
