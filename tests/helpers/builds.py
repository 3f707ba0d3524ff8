"""Real simulators for the tests: schedlab builds each kernel once, for all tests and workers.

They lie in a cache of this checkout's own, laid out as a user's: a test that wants a lab with real
kernels names it in SCHEDLAB_CACHE. With GCOV_PREFIX they count the scheduler's lines there.
"""

import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from schedlab.kernels.build import Builder
from schedlab.kernels.built import Build
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.kconfig import Preempt
from schedlab.kernels.progress import Watch
from schedlab.kernels.recipes import make_recipe
from schedlab.kernels.schedulers import OPTION
from schedlab.kernels.shelf import Base, Recipe, Shelf
from schedlab.lab.checks.coverage import PREFIX
from schedlab.targets.sim_kernels import hierarchy
from tests.helpers.kernel_source import kernel_base

ROOT = Path(__file__).resolve().parents[2]
CACHE = cache_folder() / "tests" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
"""Of this checkout: two must not answer for each other."""
CPUSETS = ("CPUSETS=y", "NO_HZ_FULL=y", "SCHED_MM_CID=y")
HZ_WITH_PATCHES = {"6.1": 100}
"""Of the series whose simulator with our patches is also the one of few ticks."""
FULL: tuple[int, Preempt] = (1000, "full")
"""Ticks a second and preemption of 6.12 with sched_ext."""
OF_ONE_BUILD = ("7.2",)
"""Series that are tested in part, and in one build alone: with cpusets and sched_ext."""


@functools.cache
def made(
    series: str,
    *,
    name: str = "",
    hz: int | None = None,
    preempt: Preempt | None = None,
    patches: tuple[str, ...] = (),
    config: str | None = None,
) -> Build:
    """Return the build of a series, of that name if it is not a plain one."""
    if series in OF_ONE_BUILD:
        return _with_options(series)
    if patches and hz is None:
        # Most objects of a patched build are those of the unpatched one.
        made(series, preempt=preempt, config=config)
    shelf, engine = Shelf(CACHE), find_engine()
    _base(series)
    settings = (hz, preempt, lambda _: None, config)
    recipe = make_recipe(shelf, engine, name or series, series, patches, *settings)
    return Builder(shelf, engine, Watch(), coverage=PREFIX in os.environ).build(recipe)


def build(
    series: str,
    *,
    name: str = "",
    hz: int | None = None,
    preempt: Preempt | None = None,
    patches: tuple[str, ...] = (),
    config: str | None = None,
) -> Path:
    """Return the simulator of a series, of that name if it is not a plain one."""
    wanted = made(series, name=name, hz=hz, preempt=preempt, patches=patches, config=config)
    return wanted.program


def patched(series: str) -> Path:
    """Return the simulator of a series with all of our patches, each of which is off by default."""
    files = tuple(map(str, patches(series)))
    hz = HZ_WITH_PATCHES.get(series)
    return build(series, name=f"{series}-patches", hz=hz, patches=files)


def fully_preempted() -> Path:
    """Return the simulator of 6.12 with full preemption, 1000 ticks a second and sched_ext."""
    return _with_options("6.12").program


def kernel_for_schedulers() -> str:
    """Return a kernel's name on the shelf that is `fully_preempted` where a variant has scx=."""
    name = "6.12-full"
    _base("6.12")
    make_recipe(Shelf(CACHE), find_engine(), name, "6.12", (), *FULL, lambda _: None)
    return name


def of_few_ticks() -> Path:
    """Return the simulator of 6.1 with 100 ticks a second, and our patches, which are off."""
    return patched("6.1")


def as_debian() -> Path:
    """Return the simulator of 6.12 as Debian configures it."""
    return build("6.12", name="6.12-debian", config="debian")


def with_cpusets(series: str) -> Path:
    """Return a simulator with cpusets and concurrency ids, of 6.12 and 7.3 beside other options."""
    if series not in ("6.12", "7.3"):
        return build(series, name=f"{series}-cpusets", config=str(cpusets_config()))
    return as_debian() if series == "6.12" else _with_options(series).program


def cpusets_config() -> Path:
    """Return a file of what `with_cpusets` switches on in 7.3."""
    return _config("cpusets", list(CPUSETS))


def bare() -> Path:
    """Return a simulator of 7.3 without what it has if nothing is said, and with proxy execution.

    That does nothing where no task waits for a mutex of the kernel's.
    """
    return build("7.3", name="7.3-bare", config=str(bare_config()))


def bare_config() -> Path:
    """Return the file of what `bare` switches; PSI, which is off anyway, is off from boot."""
    without = (
        "CFS_BANDWIDTH",
        "NUMA_BALANCING_DEFAULT_ENABLED",
        "SCHED_AUTOGROUP",
        "SCHED_CACHE",
        "SCHED_CLUSTER",
        "SCHED_HRTICK",
        "UCLAMP_TASK",
    )
    beside = ("PSI=y", "PSI_DEFAULT_DISABLED=y", "SCHED_PROXY_EXEC=y")
    options = [*(f"{option}=n" for option in without), *beside]
    return _config("7.3-bare", options)


def _config(name: str, options: list[str]) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    config = CACHE / f"{name}.config"
    fresh = config.with_suffix(f".{os.getpid()}")  # another worker may be reading it
    fresh.write_text("".join(f"CONFIG_{option}\n" for option in options))
    fresh.replace(config)
    return config


def patches(series: str) -> list[Path]:
    """Return our patches of a series, in the order in which they are applied."""
    return sorted((ROOT / "patches" / series).glob("*.patch"))


@functools.cache
def with_scheduler(series: str, wanted: str, *below: str) -> Path:
    """Return the simulator of a series with a sched_ext scheduler: the tree's own, or a file.

    `below` are its sub-schedulers.
    """
    return _with_options(series, wanted, below).program


@functools.cache
def sanitized(series: str, wanted: str = "") -> Path:
    """Return a simulator that AddressSanitizer watches, with a scheduler or none.

    What it takes of the kernel's is of the build with sched_ext, which the tests have anyway.
    """
    return _with_options(series, wanted, sanitize=True).program


def _with_options(
    series: str, wanted: str = "", below: Sequence[str] = (), *, sanitize: bool = False
) -> Build:
    """Return a build with sched_ext and what else is tested in it: tests share the objects."""
    shelf = Shelf(CACHE)
    if series not in OF_ONE_BUILD:
        made(series)
    recipe = _recipe_with_options(series)
    if sanitize:  # it takes the kernel's objects of a plain one, where that is there
        Builder(shelf, find_engine(), Watch()).build(recipe)
    scheduler = hierarchy(wanted, below, shelf.base(series), None) if wanted else None
    return Builder(shelf, find_engine(), Watch(), sanitize=sanitize).build(recipe, scheduler)


def _recipe_with_options(series: str) -> Recipe:
    """Return the recipe of a build with sched_ext, of 6.12 with full preemption beside it."""
    more: dict[str, object] = {"options": (*CPUSETS, OPTION)}
    if series == "6.12":
        more = {"options": (OPTION,), "hz": FULL[0], "preempt": FULL[1]}
    return _base(series).plain.model_copy(update={"name": f"{series}-options", **more})


def _base(series: str) -> Base:
    """Return the tree of a series, put on the shelf where it is not there."""
    shelf = Shelf(CACHE)
    plain = kernel_base(series)
    if plain not in shelf.bases():
        shelf.put_base(plain)
    return plain


def objects(name: str, *, sanitize: bool = False) -> Path:
    """Return the folder of what make left of a build: of a series, or of a name on the shelf."""
    shelf = Shelf(CACHE)
    of_options = sanitize or name in OF_ONE_BUILD
    recipe = _recipe_with_options(name) if of_options else shelf.recipe(name)
    return Builder(shelf, find_engine(), Watch(), sanitize=sanitize).objects(recipe)


def variables(series: str, *, sanitize: bool = False) -> dict[str, str]:
    """Return how make is told to configure the usual build of a series, or the sanitized one."""
    if not sanitize and series not in OF_ONE_BUILD:
        return {}
    recipe = _recipe_with_options(series)
    told = {"HZ": str(recipe.hz), "PREEMPT": recipe.preempt, "CONFIG": " ".join(recipe.options)}
    return told | ({"SANITIZE": "1"} if sanitize else {})
