"""The simulators that checks run on: kernels as they are, and with a bug brought back."""

from dataclasses import dataclass

from schedlab.base.errors import UsageError, nearest
from schedlab.kernels import KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.built import Build
from schedlab.kernels.configuration import choices
from schedlab.kernels.engine import find_engine, is_series
from schedlab.kernels.progress import Watch
from schedlab.kernels.recipes import make_recipe
from schedlab.kernels.schedulers import OPTION, Scheduler
from schedlab.kernels.scx_tree import scx_tree
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.lab.checks.check import Named
from schedlab.settings.grammar import parse_settings
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.kinds.scx_sub import ScxSub
from schedlab.targets.sim_kernels import hierarchy


@dataclass(frozen=True)
class Wanted:
    """A kernel that a check is to run on."""

    kernel: str
    """A name of `schedlab kernel list`."""
    series: str
    recipe: Recipe
    bug: bool = False
    """With the check's bug brought back: the check has to fail."""
    scheduler: Scheduler | None = None
    """The sched_ext scheduler of the check's settings."""


class Kernels:
    """Finds and builds the kernels of checks, each once."""

    def __init__(self, watch: Watch, *, coverage: bool = False) -> None:
        """Take the watcher, and whether the simulators count the scheduler's lines."""
        self._shelf, self._engine = Shelf(), find_engine()
        self._builder = Builder(self._shelf, self._engine, watch, coverage=coverage)
        self._built: dict[str, Build] = {}

    def wanted(self, named: Named, kernels: tuple[str, ...], bugs: bool) -> list[Wanted]:
        """Return the kernels of a check: those that are there and that it is for.

        Args:
            named: the check.
            kernels: names that replace those of its file.
            bugs: with those that have its bug, of the series it has a patch for.

        Raises:
            SchedlabError: a named kernel is not there, or a patch does not apply to it.
        """
        found = []
        there = self._shelf.names()
        for name in kernels or named.check.kernels:
            if not kernels and is_series(name) and name not in there:
                continue
            recipe = self._shelf.recipe(name)
            series = self._shelf.base(recipe.base).series
            if not named.suits(series):
                continue
            recipe = self._configured(recipe, named)
            scheduler = None
            settings = parse_settings(named.check.settings, "settings")
            if chosen := settings.get(Scx.key):
                base = self._shelf.base(recipe.base)
                subs = settings.get(ScxSub.key)
                below = ScxSub.below(subs) if isinstance(subs, dict) else ()
                scheduler = hierarchy(str(chosen), below, base, scx_tree(self._shelf))
                options = dict.fromkeys((*recipe.options, OPTION))
                recipe = recipe.model_copy(update={"options": tuple(options)})
            found.append(Wanted(name, series, recipe, scheduler=scheduler))
            if bugs and named.patch(series):
                bad = self._with_bug(recipe, named, series)
                found.append(Wanted(name, series, bad, bug=True, scheduler=scheduler))
        return found

    def build(self, wanted: Wanted) -> Build:
        """Return the simulator, built if need be."""
        recipe = wanted.recipe
        key = f"{recipe!r} {wanted.scheduler!r}"
        if key not in self._built:
            if recipe.patches and self._shelf.has_unpatched(recipe):
                # Most objects are those of the unpatched one.
                self._builder.build(recipe.unpatched())
            self._built[key] = self._builder.build(recipe, wanted.scheduler)
        return self._built[key]

    def _configured(self, recipe: Recipe, named: Named) -> Recipe:
        words = set(named.check.config)
        if words <= set(recipe.options):
            return recipe
        known = choices(self._engine)
        for word in sorted(words):
            option, _, value = word.partition("=")
            if option not in known or value not in ("y", "n"):
                raise UsageError(
                    f"{named.path}: config: '{word}' is not OPTION=y or OPTION=n of an option that"
                    f" can be chosen.{nearest(option, known)} There are: {', '.join(known)}."
                )
        name = f"{recipe.name}-{'-'.join(sorted(words))}".replace("=", "-")
        return recipe.model_copy(
            update={"name": name, "options": tuple(sorted({*recipe.options, *words}))}
        )

    def _with_bug(self, recipe: Recipe, named: Named, series: str) -> Recipe:
        patch = named.patch(series)
        assert patch is not None
        if recipe.patches:
            raise KernelError(
                f"{named.path}: a bug is brought back into a kernel without patches;"
                f" {recipe.name} has {', '.join(recipe.patch_names)}."
            )
        made = make_recipe(
            self._shelf,
            self._engine,
            f"{recipe.name}-bug-{named.name}",
            recipe.base,
            [str(patch.resolve())],
            hz=recipe.hz,
            preempt=recipe.preempt,
            say=lambda _: None,
        )
        return made.model_copy(update={"options": recipe.options})
