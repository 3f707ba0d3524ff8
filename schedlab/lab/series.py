"""Trying a patch series: build each patch on those before it, run a plan on all, in one sweep.

A folder of a series holds `series.json` (this module's record), `patches/` (their texts) and
`results/` (the sweep: a result for each target, with a variant for each patch). Where the runs of a
patch fail, it becomes `failed-N/`, and the sweep is run again without that patch.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from schedlab.base.errors import Interrupted, OutsideError, UsageError
from schedlab.base.system.interrupt import stoppable
from schedlab.kernels import KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.cache import write_whole
from schedlab.kernels.engine import Engine, find_engine
from schedlab.kernels.patch_series import Series, SeriesPatch
from schedlab.kernels.patches import Patch, count_there, parse_patch
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Shelf
from schedlab.kernels.warnings import without_lines
from schedlab.lab.new_folder import make_folder
from schedlab.lab.patched import build_patched
from schedlab.lab.result import Lab
from schedlab.lab.runner import GIVE_UP_AFTER
from schedlab.lab.sweep import Swept, plan_of_sweep, resume_sweep, run_sweep
from schedlab.plan.plan import Plan
from schedlab.plan.targets import SIM, kind_of
from schedlab.result.record import RunRecord
from schedlab.result.series import BASE, RECORD, Tried, TriedSeries, read_record
from schedlab.result.store import Store
from schedlab.settings.kinds.kernel import Kernel

RESULTS = "results"
_FAILED = "failed-"


def run_series(
    series: Series, base: str, plan: Plan, folder: Path, lab: Lab | None = None
) -> tuple[TriedSeries, Swept]:
    """Build a series patch by patch and run a plan on the base and after every patch.

    Args:
        series: the patches, in order.
        base: the name of the kernel tree they go on.
        plan: what is run, on simulated machines. The settings of its first variant hold for all;
            its other variants and its kernels are left out.
        folder: a new one, for everything.
        lab: where runs are made and who watches.

    Raises:
        UsageError: the plan is not one for simulated machines.
        KernelError: the base does not build, or no patch of the series does.
        Interrupted: SIGINT or SIGTERM; what was run is kept.
    """
    lab = lab or Lab()
    for target in plan.sweep.target or (plan.target,):
        if not kind_of(target).simulated:
            raise UsageError(
                f"a series is tried on simulated machines; {target} is not {SIM.syntax}."
            )
    with stoppable(), _new_folder(folder):
        tried = _Stack(series, base, folder / "patches", lab.watcher).build()
        _save(tried, folder)
        with _resumed_by_its_name(folder):
            swept = run_sweep(_with_variants(plan, tried), folder / RESULTS, lab)
            return _without_failing(tried, swept, folder, lab)


def resume_series(folder: Path, lab: Lab | None = None) -> tuple[TriedSeries, Swept]:
    """Resume the runs of a series; as `run_series`."""
    tried = read_record(folder)
    lab = lab or Lab()
    with stoppable(), _resumed_by_its_name(folder):
        if (folder / RESULTS).exists() or not _failed_folders(folder):
            swept = resume_sweep(folder / RESULTS, lab)
        else:  # stopped right before the sweep without what fails
            plan = plan_of_sweep(_failed_folders(folder)[-1])
            swept = run_sweep(_with_variants(plan, tried), folder / RESULTS, lab)
        return _without_failing(tried, swept, folder, lab)


def _without_failing(
    tried: TriedSeries, swept: Swept, folder: Path, lab: Lab
) -> tuple[TriedSeries, Swept]:
    """Run the sweep again without patches whose runs fail: they would take the others' evidence.

    What fails now and then stays, and is noted.
    """
    while why := _failing(tried, swept):
        tried = tried.failing(why)
        for name, text in why.items():
            lab.watcher.say(f"{name} fails: {text}")
        _save(tried, folder)
        if len(tried.kernels) == 1:
            break  # only the base is left, and it has nothing to stand beside
        plan = plan_of_sweep(folder / RESULTS)
        (folder / RESULTS).rename(folder / f"{_FAILED}{len(_failed_folders(folder)) + 1}")
        swept = run_sweep(_with_variants(plan, tried), folder / RESULTS, lab)
    return tried, swept


def _failing(tried: TriedSeries, swept: Swept) -> dict[str, str]:
    """Return the patches with a benchmark that keeps failing, and how it ends."""
    found: dict[str, str] = {}
    for name in swept.names:
        with closing(Store.open(swept.folder / name)) as store:
            runs: dict[tuple[str, str], list[RunRecord]] = {}
            for record in store.records():
                runs.setdefault((record.key.variant, record.key.case), []).append(record)
        for (variant, case), records in runs.items():
            failed = [record for record in records if record.status != "ok"]
            always = len(failed) == len(records) or len(failed) >= GIVE_UP_AFTER
            if failed and always and variant != BASE and variant in tried.kernels:
                found.setdefault(variant, f"{case}: {failed[0].error}")
    return dict(sorted(found.items(), key=lambda each: list(tried.kernels).index(each[0])))


def _failed_folders(folder: Path) -> list[Path]:
    """Return the sweeps in which runs of a patch failed, in order."""
    return sorted(folder.glob(f"{_FAILED}*"), key=lambda path: int(path.name.removeprefix(_FAILED)))


def _save(tried: TriedSeries, folder: Path) -> None:
    write_whole(folder / RECORD, tried.model_dump_json(indent=1))


@contextmanager
def _resumed_by_its_name(folder: Path) -> Iterator[None]:
    """Add to an interruption how the mail can be had later."""
    try:
        yield
    except Interrupted as error:
        raise Interrupted(
            f"{error}\n  `schedlab series --resume {folder}` goes on and writes the mail."
        ) from error


class _Stack:
    """Puts the patches of a series on a base, one on the other, and builds each."""

    def __init__(self, series: Series, base: str, folder: Path, watch: Watch) -> None:
        """Write the patches to files in a new folder; nothing is built yet."""
        self._engine, self._shelf = find_engine(), Shelf()
        self._series, self._base, self._watch = series, base, watch
        self._name = _name(series)
        self._files: list[Path] = []
        self._parts: list[Patch | str] = []
        """What the simulator compiles of each patch; or why it cannot be read."""
        folder.mkdir()
        for number, patch in enumerate(series.patches, 1):
            file = folder / f"{number:04}-{_plain(patch.subject)}.patch"
            file.write_text(patch.text, encoding="utf-8", errors="surrogateescape")
            self._files.append(file)
            self._parts.append(_simulated_part(patch, file.name, self._engine))
        self._applied: list[int] = []
        self._there = 0
        """Of the patches before this one, those that are not on the base it has already."""
        self._warned: set[str] = set()

    def build(self) -> TriedSeries:
        """Build the base and every patch that can be; return what became of each.

        Raises:
            KernelError: the base does not build, or no patch does.
        """
        Builder(self._shelf, self._engine, self._watch).build(self._shelf.base(self._base).plain)
        tried: list[Tried] = []
        for at, patch in enumerate(self._series.patches):
            if tried and tried[-1].state in ("does not apply", "not reached"):
                tried.append(Tried(subject=patch.subject, state="not reached"))
            else:
                tried.append(self._put_on(at))
        if not any(each.state == "run" for each in tried):
            reasons = "".join(f"\n  {each.subject}: {each.why or each.state}" for each in tried)
            raise KernelError(
                f"none of the patches was built, so there is nothing to run.{reasons}"
            )
        return TriedSeries(title=self._series.title, base=self._base, patches=tuple(tried))

    def _put_on(self, at: int) -> Tried:
        """Put a patch on those before it and build it; return what became of it."""
        subject, part = self._series.patches[at].subject, self._parts[at]
        if isinstance(part, str):
            return Tried(subject=subject, state="does not apply", why=part)
        if not part.changes:
            why = "touches nothing that the simulator compiles"
            return Tried(subject=subject, state="skipped", why=why)
        where = f"{self._base} with the patches before it" if self._applied else self._base
        there = Tried(subject=subject, state="skipped", why=f"{where} has it already")
        if at < self._there:
            return there
        kernel = f"{self._name}-{at + 1}"
        files = [str(self._files[each]) for each in (*self._applied, at)]
        made = build_patched(self._shelf, self._engine, kernel, self._base, files, self._watch)
        if made.state == "does not apply" and self._is_there(at):
            return there
        if made.state != "does not apply":
            self._applied.append(at)
        if made.why:
            self._watch.say(f"{subject}: {made.state}: {made.why}")
        new = tuple(text for text in made.warnings if not without_lines([text]) <= self._warned)
        if made.state == "run":
            self._warned = without_lines(made.warnings)
        return Tried(
            subject=subject,
            state=made.state,
            kernel=kernel if made.state == "run" else "",
            why=made.why,
            notices=made.notices,
            warnings=new,
        )

    def _is_there(self, at: int) -> bool:
        """Count how many patches from this one on the tree has already; return whether any."""
        on = [part for each in self._applied if isinstance(part := self._parts[each], Patch)]
        coming = []
        for part in self._parts[at:]:
            if isinstance(part, str):
                break
            coming.append(part)
        self._there = at + count_there(self._shelf.base(self._base).tree, on, coming)
        return self._there > at


def _simulated_part(patch: SeriesPatch, name: str, engine: Engine) -> Patch | str:
    """Return what the simulator compiles of a patch; or why it cannot be read."""
    if not patch.text:  # of a commit that changes nothing
        return Patch(name, ())
    try:
        return Patch(name, tuple(parse_patch(patch.text, name))).within(engine)[0]
    except (KernelError, OutsideError) as error:  # damaged on its way, or leads out of the tree
        return str(error)


def _with_variants(plan: Plan, tried: TriedSeries) -> Plan:
    """Return the plan with a variant for the base and each patch, as a sweep over its targets."""
    variants = tuple(
        plan.baseline.model_copy(update={"name": name, Kernel.key: kernel})
        for name, kernel in tried.kernels.items()
    )
    sweep = plan.sweep.model_copy(update={"target": plan.sweep.target or (plan.target,)})
    changed = plan.model_copy(update={"variant": variants, "kernel": (), "sweep": sweep})
    changed.model_fields_set.discard("target")
    return changed


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Make a folder; it does not stay if the series in it did not come to its first run."""
    make_folder(folder)
    try:
        yield
    finally:
        if not (folder / RESULTS).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _name(series: Series) -> str:
    """Name the kernels of a series: by its title for people, by its content for certain."""
    content = hashlib.sha256("\0".join(p.text for p in series.patches).encode(errors="replace"))
    return f"{_plain(series.title)[:32]}-{content.hexdigest()[:8]}"


def _plain(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:52].strip("-") or "series"
