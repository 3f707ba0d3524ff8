"""Building the simulator: one make per recipe, cached by content, objects shared.

    objects/KEY/     make's output folder of one tree (or tree and patches) and configuration;
                     a changed engine or a changed working tree only remakes what it touches
    builds/KEY/      the finished simulator, named by everything that went into it

A build with patches takes every object the patches do not touch from the unpatched one, where there
is one. The first build of a name does not make one for that: it would compile more, not less.
A build without takes what reads nothing of a kernel from any other of the same compiler and engine.
One that checks addresses takes the kernel's own objects, which it does not look into, from the
plain one of its recipe.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from schedlab.base.system.installed import need_programs
from schedlab.kernels import EngineChanged, HostRefused, KernelError
from schedlab.kernels.built import EVENTS, Build, told
from schedlab.kernels.cache import disk_errors, full_disk, only_one, write_whole
from schedlab.kernels.compared import (
    UNMATCHED,
    Compared,
    compare,
    nearest_known,
    not_compared,
    read_changes,
)
from schedlab.kernels.engine import Engine
from schedlab.kernels.facts import changed_by_patches, facts_of
from schedlab.kernels.failures import what_failed
from schedlab.kernels.part import PROGRAM, Part
from schedlab.kernels.patches import Patch, check_inside, read_patch
from schedlab.kernels.process import lines, output, plain_environment
from schedlab.kernels.progress import Step, Watch
from schedlab.kernels.schedulers import Scheduler
from schedlab.kernels.shelf import Base, Recipe, Shelf
from schedlab.kernels.tracepoints import event_fields
from schedlab.kernels.tree import LINKED, check_path, check_whole
from schedlab.kernels.unseen import lost_options, unseen
from schedlab.kernels.warnings import new_warnings

_INFO = "build.json"
_OF = ".of"
"""In make's output folder: the recipe's name."""
_BY = ".by"
"""In make's output folder: the compiler and the engine."""
_CHANGED = "changed-calls.txt"
_TREE = ".tree"
"""In make's output folder of the user's own tree: what its files were. Its time is when."""
_SCHEDULERS = "schedulers"
"""In make's output folder: what is made of each sched_ext scheduler."""
_LOGS = "logs"
"""What make printed last of each name that could not be built."""
_UNDER_WAY = ".under-way"
"""There while make works; what it left behind where it was cut off."""
_TOOLS = {"make": "make", "bc": "bc", "patch": "patch", "objdump": "binutils"}
_SAID = re.compile(r"^  (CC|LD|GEN|STUBS)\b.* (\S+)$")
_WOULD_SAY = re.compile(r"^\s*(@:|printf '  )")
_KILLED = re.compile(r"^.*(?:Killed signal terminated|fatal error: Killed|Error 137).*$", re.M)
_FULL_BYTES = 1 << 16
"""With less room than this on the disk it is what made a build fail."""
_FEATURE = re.compile(r"^SCHED_FEAT\((\w+)\s*,", re.M)
_OURS = (
    "KERNEL",
    "HZ",
    "PREEMPT",
    "CONFIG",
    "PATCHES",
    "BASE",
    "SANITIZE",
    "COVERAGE",
    "OPT",
    "V",
    "O",
    "CC",
    "SCX",
    "SCX_BELOW",
    "SCX_NAME",
    "SCX_OUT",
)


class Builder:
    """Makes simulators of recipes; what is built already is found again."""

    def __init__(
        self,
        shelf: Shelf,
        engine: Engine,
        watch: Watch,
        *,
        coverage: bool = False,
        sanitize: bool = False,
    ) -> None:
        """Take the cache's shelf, the engine and what watches the steps.

        Args:
            shelf: the cache's.
            engine: what is built.
            watch: is notified of each step.
            coverage: makes simulators that count the scheduler's lines (docs/manual/check.md).
            sanitize: makes simulators that AddressSanitizer watches (docs/manual/scx.md).
        """
        self._coverage, self._sanitize = coverage, sanitize
        self.shelf = shelf
        self.engine = engine
        self.watch = watch
        self._cc = os.environ.get("CC", "gcc")
        self._compiler = ""

    def find(self, recipe: Recipe, scheduler: Scheduler | None = None) -> Build | None:
        """Return the finished build of a recipe as it stands now, if there is one."""
        found = self._finished(self.key(recipe, scheduler), recipe)
        other = self._other(recipe)
        before = found and found.compared and found.compared.identity
        return None if other and other.identity != before else found

    def build(self, recipe: Recipe, scheduler: Scheduler | None = None) -> Build:
        """Return the build of a recipe, building what is missing.

        A sched_ext scheduler is compiled natively and linked into it.

        Raises:
            KernelError: a tool is missing, or the sources do not compile or link.
        """
        self._check_tools()
        found = self.find(recipe, scheduler)
        if found:
            return found
        began = time.monotonic()
        base = self.shelf.base(recipe.base)
        self._check_tree(base)
        key = self.key(recipe, scheduler)
        with disk_errors(f"building {recipe.name}"):
            part = self._part(recipe, base, None)
            if recipe.patches and self.shelf.has_unpatched(recipe):
                unpatched = self._part(recipe.unpatched(), base, None)
                made = [unpatched.objects, *self._objects_of(recipe.name)]
                if any((folder / PROGRAM).exists() for folder in made):
                    with ExitStack() as shown:
                        self._make(unpatched, shown)
                    part = self._part(recipe, base, unpatched)
            if not recipe.patches:
                part = self._with_base(part, base)
            below: list[Part] = []
            if scheduler:
                for each in scheduler.below:
                    below.append(self._with_scheduler(part, each, self.key(recipe, each)))
                part = self._with_scheduler(part, scheduler, key, below)
            with ExitStack() as shown:
                try:
                    for each_part in (*below, part):
                        self._make(each_part, shown)
                    compared = self._compared(recipe, base, part)
                finally:
                    self._check_unchanged(part, base, self.key(recipe, scheduler) == key)
            if recipe.patches:
                # Those of an earlier patch of this name, or of the tree before it changed.
                for folder in self._objects_of(recipe.name):
                    if folder != part.objects and not (folder / _UNDER_WAY).exists():
                        shutil.rmtree(folder, ignore_errors=True)
            return self._keep(recipe, base, part, key, time.monotonic() - began, compared)

    def _check_unchanged(self, part: Part, base: Base, tree_is_the_same: bool) -> None:
        """Raise where sources changed meanwhile, and drop what was compiled of them.

        make goes by times: an object that was finished after an edit counts as newer than it,
        though the file was read before.
        """
        try:
            self._check_engine()
            if not tree_is_the_same:
                raise KernelError(
                    f"{base.tree} changed while {part.recipe.name} was built; build again."
                )
        except KernelError:
            if not (part.objects / _UNDER_WAY).exists():
                shutil.rmtree(part.objects, ignore_errors=True)
            raise

    def objects(self, recipe: Recipe) -> Path:
        """Return make's output folder of a recipe as everything stands now."""
        return self._part(recipe, self.shelf.base(recipe.base), None).objects

    def forget(self, name: str) -> None:
        """Drop all that was made of a name, with other engines too; a build's log stays.

        Another schedlab's build may have what this one cannot read, or be under way. What another
        name's recipe has as well becomes that name's: the same content is one build.
        """
        others = dict(self._of_others(name))
        for folder in self._objects_of(name):
            if heir := others.get(folder):
                (folder / _OF).write_text(heir)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        for file in (self.shelf.folder / "builds").glob(f"*/{_INFO}"):
            try:
                built = json.loads(file.read_bytes())
            except (OSError, ValueError):
                continue
            if not isinstance(built, dict) or built.get("kernel") != name:
                continue
            if heir := others.get(file.parent):
                write_whole(file, json.dumps(built | {"kernel": heir}))
            else:
                shutil.rmtree(file.parent, ignore_errors=True)

    def _of_others(self, name: str) -> Iterator[tuple[Path, str]]:
        """Yield the builds and objects of all recipes but those of a name, and whose they are."""
        for recipe in self.shelf.recipes():
            if recipe.name == name:
                continue
            try:
                for folder in (self._folder(self.key(recipe)), self.objects(recipe)):
                    yield folder, recipe.name
            except KernelError:
                continue  # its tree is gone

    def compiler(self) -> str:
        """Return the compiler and its version."""
        if shutil.which(self._cc) is None:
            raise HostRefused(
                f"{self._cc} is not installed; the simulator is compiled with it."
                "\n  Install: apt-get install gcc; or name another compiler in CC."
            )
        self._compiler = self._compiler or output([self._cc, "--version"])[1].partition("\n")[0]
        return self._compiler

    def key(self, recipe: Recipe, scheduler: Scheduler | None = None) -> str:
        """Return what the build of a recipe would be made of, as everything stands now."""
        base = self.shelf.base(recipe.base)
        return _digest(
            base.content(self.engine),
            self.engine.version,
            self.compiler(),
            *(patch.sha256 for patch in recipe.patches),
            base.series,
            str(recipe.hz),
            recipe.preempt,
            *recipe.options,
            *self._instrumented,
            *([scheduler.content] if scheduler else []),
        )

    @property
    def _instrumented(self) -> list[str]:
        """Return what sets builds that count lines or check addresses apart from others."""
        asked = {"coverage": self._coverage, "sanitize": self._sanitize}
        return [name for name, wanted in asked.items() if wanted]

    def _folder(self, key: str) -> Path:
        return self.shelf.folder / "builds" / key

    def _finished(self, key: str, recipe: Recipe | None) -> Build | None:
        """Read a finished build; another recipe of the same content may have made it."""
        try:
            build = Build.model_validate_json((self._folder(key) / _INFO).read_bytes())
        except (OSError, ValidationError):
            return None
        if not (build.program.is_file() and (build.program.parent / EVENTS).is_file()):
            return None
        if recipe is None:
            return build
        named = {"kernel": recipe.name, "patches": recipe.patch_names}
        return build.model_copy(update={**named, "configuration": recipe.configuration})

    def _part(self, recipe: Recipe, base: Base, unpatched: Part | None) -> Part:
        """Describe the make of a recipe; objects of a tree that changes stay where they are."""
        if recipe.patches:
            # With a changed engine they begin anew too: taking the base's objects is the quick way.
            content = f"{base.content(self.engine)} {self.engine.version}"
        else:
            content = base.identity or str(base.tree)
        patches = [patch.sha256 for patch in recipe.patches]
        config = (base.series, str(recipe.hz), recipe.preempt, self.compiler(), *recipe.options)
        config += tuple(self._instrumented)
        # make goes by times: two copies of the engine must not answer for each other.
        engine = str(self.engine.folder)
        objects = self.shelf.folder / "objects" / _digest(content, engine, *config, *patches)
        variables = {
            "O": str(objects),
            "KERNEL": str(base.tree),
            "HZ": str(recipe.hz),
            "PREEMPT": recipe.preempt,
            "CONFIG": " ".join(recipe.options),
            "CC": self._cc,
            "PYTHON": sys.executable,
        }
        if recipe.patches:
            files = [self.shelf.patch_file(patch) for patch in recipe.patches]
            for patch in self._patches(recipe):
                for change in patch.changes:
                    check_inside(base.tree, change, patch)
            variables["PATCHES"] = " ".join(map(str, files))
        if unpatched:
            variables["BASE"] = str(unpatched.objects)
        if self._coverage:
            variables["COVERAGE"] = "1"
        if self._sanitize:
            variables["SANITIZE"] = "1"
        check_path(base.tree, LINKED)
        for place in (self.shelf.folder, self.engine.folder):
            check_path(place, "Name another folder, e.g. in SCHEDLAB_CACHE.")
        return Part(objects, variables, recipe)

    def _with_base(self, part: Part, tree: Base) -> Part:
        """Return a part that takes objects from another build, if it has none and there is one.

        One that counts lines or checks addresses gives none. The latter takes those of its plain
        recipe alone, whose generated headers come with them.
        """
        if part.objects.exists() or self._coverage:
            return part
        folders = sorted(mark.parent for mark in (self.shelf.folder / "objects").glob(f"*/{_BY}"))
        if self._sanitize:
            plain = Builder(self.shelf, self.engine, self.watch)
            folders = [plain._part(part.recipe, tree, None).objects]
        for folder in folders:
            whole = (folder / PROGRAM).exists() and not (folder / _UNDER_WAY).exists()
            if whole and (folder / _BY).exists() and (folder / _BY).read_text() == self._by():
                return replace(part, variables=part.variables | {"BASE": str(folder)})
        return part

    def _with_scheduler(
        self, part: Part, scheduler: Scheduler, key: str, below: Sequence[Part] = ()
    ) -> Part:
        """Link a scheduler to the objects of a part, in a folder of its own.

        Args:
            part: the kernel without it.
            scheduler: which.
            key: of the build that it becomes.
            below: its sub-schedulers, made before it.
        """
        sources = (scheduler.source, *scheduler.parts)  # of paths that make can work with
        more = {
            "SCX": " ".join(map(str, sources)),
            "SCX_NAME": scheduler.name,
            "SCX_OUT": str(part.objects / _SCHEDULERS / key),
            "SCX_INCLUDE": " ".join(map(str, scheduler.includes)),
            "SCX_BELOW": " ".join(f"{each.variables['SCX_OUT']}/scheduler.o" for each in below),
        }
        return replace(part, variables=part.variables | more, scheduler=scheduler)

    def _by(self) -> str:
        return f"{self.compiler()}\n{self.engine.folder}\n{self.engine.version}\nplain\n"

    def _objects_of(self, name: str) -> list[Path]:
        """Return make's output folders of a name."""
        marks = (self.shelf.folder / "objects").glob(f"*/{_OF}")
        return [mark.parent for mark in marks if mark.read_text() == name]

    def _make(self, part: Part, shown: ExitStack, calls: Sequence[str] = ()) -> None:
        """Update the objects of one part; one process at a time.

        Args:
            part: what is made.
            shown: ends what is shown of it as under way.
            calls: only these sources' objects, and what they call of what the engine knows.
        """

        def waiting(holder: str) -> None:
            self.watch.waits(f"process {holder} is building {part.what}; waiting for it.")

        lock = self.shelf.folder / "locks" / part.objects.name
        with only_one(lock, waiting) as descriptor:
            under_way = part.objects / _UNDER_WAY
            if under_way.exists():
                # Cut off by a crash or a kill: the last object may be half written.
                shutil.rmtree(part.objects)
            base = self.shelf.base(part.recipe.base)
            stamps = [] if base.identity else base.stamps(self.engine)
            if _replaced_by_older(part.objects, stamps):
                shutil.rmtree(part.objects)
            part.objects.mkdir(parents=True, exist_ok=True)
            # A make that is stopped removes what it was writing, so the mark can go.
            try:
                under_way.touch()
                if stamps:
                    write_whole(part.objects / _TREE, json.dumps(stamps))
                (part.objects / _OF).write_text(part.recipe.name)
                if not calls and not self._instrumented:
                    (part.objects / _BY).write_text(self._by())
                status, printed = self._run_make(part, shown, descriptor, calls)
                (part.objects / "make.log").write_text("\n".join(printed))
                if status:
                    self._check_host(part, printed)
                    raise KernelError(self._failed(part, printed))
                self._log(part.recipe.name).unlink(missing_ok=True)
            finally:
                if (part.objects / _TREE).exists():  # those of a failed build may be gone
                    (part.objects / _TREE).touch()
                under_way.unlink(missing_ok=True)

    def _log(self, name: str) -> Path:
        return self.shelf.folder / _LOGS / f"{name}.log"

    def _failed(self, part: Part, printed: Sequence[str]) -> str:
        """Return what stopped make, with its log; objects that no later build takes are dropped."""
        log = self._log(part.recipe.name)
        write_whole(log, "".join(f"{line}\n" for line in printed))
        failed = f"{what_failed(part, printed, self.engine)}\n  All of make's words: {log}"
        if changed := self._changed_facts(part):
            failed += f"\n  {changed}"
        if part.recipe.patches and not (part.objects / PROGRAM).exists():
            shutil.rmtree(part.objects, ignore_errors=True)
        return failed

    def _check_host(self, part: Part, printed: Sequence[str]) -> None:
        """Refuse to blame the sources for what the host did to a make that failed.

        Raises:
            HostRefused: the disk is full, or the compiler was killed.
        """
        text = "\n".join(printed)
        full = shutil.disk_usage(self.shelf.folder).free < _FULL_BYTES
        if full or "No space left on device" in text:
            raise HostRefused(full_disk(f"building {part.what}"))
        if killed := _KILLED.search(text):
            raise HostRefused(
                f"building {part.what}: {killed[0].strip()}: was there too little memory?"
            )

    def _run_make(
        self, part: Part, shown: ExitStack, descriptor: int, calls: Sequence[str]
    ) -> tuple[int, list[str]]:
        """Run make; from its first step on it is shown as a task that ends with `shown`."""
        argv = ["make", "--no-print-directory", "-C", str(self.engine.folder)]
        argv += [f"{name}={value}" for name, value in part.variables.items()]
        if calls:
            argv += ["calls", f"UNITS={' '.join(calls)}"]
        env = {key: value for key, value in plain_environment().items() if key not in _OURS}
        planned = output([*argv, "-n"])[1].splitlines() if self.watch.measures else []
        total = sum(bool(_WOULD_SAY.match(line)) for line in planned) or 1
        jobs = 2 * len(os.sched_getaffinity(0))  # beside other work each gets its share
        printed: list[str] = []
        step: Step | None = None
        done = 0
        # Should we be killed, make goes on with the lock, so that nobody else begins.
        said = lines([*argv, f"-j{jobs}"], env=env, keep_open=(descriptor,))
        with closing(said):
            for line in said:
                printed.append(line)
                match = _SAID.match(line)
                if match:
                    done += 1
                    step = step or shown.enter_context(self.watch.task(f"building {part.what}"))
                    step(min(done / total, 1.0), match[2])
        return int(printed.pop()), printed

    def _keep(
        self,
        recipe: Recipe,
        base: Base,
        part: Part,
        key: str,
        seconds: float,
        compared: Compared | None,
    ) -> Build:
        folder = self._folder(key)
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / PROGRAM
        fresh = folder / f".{PROGRAM}.{os.getpid()}"
        shutil.copy2(part.program, fresh)
        if part.scheduler:
            shutil.rmtree(part.program.parent, ignore_errors=True)
        fresh.replace(program)
        patched = part.objects / "src" / "kernel/sched/features.h"
        features = patched if patched.is_file() else base.tree / "kernel/sched/features.h"
        build = Build(
            key=key,
            kernel=recipe.name,
            base=base.name,
            series=base.series,
            release=base.release,
            origin=base.origin,
            is_own_tree=not base.is_debians,
            patches=recipe.patch_names,
            hz=recipe.hz,
            preempt=recipe.preempt,
            configuration=recipe.configuration,
            options=recipe.options,
            engine=self.engine.version,
            compiler=self.compiler(),
            features=tuple(dict.fromkeys(_FEATURE.findall(features.read_text(errors="replace")))),
            unmatched=tuple((part.objects / UNMATCHED).read_text().splitlines()),
            limits=tuple(
                line for patch in self._patches(recipe) for line in unseen(patch, self.engine)
            ),
            changes=read_changes((part.objects / _CHANGED).read_text()),
            compared=compared,
            warnings=self._warnings(part, base) if recipe.patches else (),
            facts=facts_of(part.objects),
            seconds=round(seconds, 1),
            program=program,
        )
        headers = event_fields([part.objects / "src", base.tree, self.engine.folder])
        write_whole(folder / EVENTS, json.dumps(headers))
        write_whole(folder / _INFO, build.model_dump_json(indent=1))
        if facts := self._changed_facts(part):
            self.watch.say(facts)
        for sentence in told(build):
            self.watch.say(sentence)
        of_base = bool(recipe.patches) and self.find(base.plain) is not None
        if not (base.is_debians or build.compared or of_base):
            other = nearest_known(base, self.shelf)
            self.watch.say(not_compared(base, other))
            if not other and (lost := lost_options(base.name, base.tree, self.engine)):
                self.watch.say(lost)
        return build

    def _compared(self, recipe: Recipe, base: Base, part: Part) -> Compared | None:
        """Compare a tree of the user's own with the nearest one of Debian's."""
        other = self._other(recipe)
        if other is None:
            return None
        preempt = recipe.preempt if recipe.preempt in other.preempts else other.preempts[0]
        same = {"hz": recipe.hz, "options": recipe.options, "preempt": preempt}
        theirs = other.plain.model_copy(update=same)

        def calls_of(sources: Sequence[str]) -> tuple[str, str]:
            self._check_tree(other)
            known = self._calls(self._part(theirs, other, None), sources)
            return known, self._calls(part, sources)

        return compare(base, part.objects, other, self.engine, calls_of)

    def _other(self, recipe: Recipe) -> Base | None:
        """Return the tree to compare a recipe's with; patches are compared with their tree."""
        return None if recipe.patches else nearest_known(self.shelf.base(recipe.base), self.shelf)

    def _calls(self, part: Part, sources: Sequence[str]) -> str:
        """Return the files of what the sources of a part call, made where they are not there."""
        with ExitStack() as shown:
            self._make(part, shown, sources)
        files = [part.objects / "k" / Path(source).with_suffix(".calls") for source in sources]
        return " ".join(str(file) for file in files if file.exists())

    def _changed_facts(self, part: Part) -> str:
        """Return a sentence on the tree's facts that the patches of a part change, or nothing."""
        if not part.recipe.patches:
            return ""
        tree = self.shelf.base(part.recipe.base).tree
        changed = changed_by_patches(self.engine, tree, part.objects)
        return f"{part.recipe.name}: {changed}" if changed else ""

    def _patches(self, recipe: Recipe) -> Iterator[Patch]:
        """Yield what is compiled of each patch of a recipe, by the name of the user's file."""
        for copy in recipe.patches:
            yield replace(read_patch(self.shelf.patch_file(copy)), name=copy.name)

    def _warnings(self, part: Part, base: Base) -> tuple[str, ...]:
        patches = self._patches(part.recipe)
        touched = {change.path for patch in patches for change in patch.changes}
        unpatched = part.variables.get("BASE")
        return new_warnings(
            part.objects, Path(unpatched) if unpatched else None, base.tree, touched
        )

    def _check_tools(self) -> None:
        self.compiler()
        need_programs(_TOOLS, "building the simulator", HostRefused)
        if self._coverage and "clang" in self.compiler():
            raise KernelError(f"lines are counted by gcc's gcov, and CC is {self._cc}; unset CC.")

    def _check_engine(self) -> None:
        """Refuse to go on with sources other than those that this command began with."""
        if Engine(self.engine.folder).version != self.engine.version:
            raise EngineChanged(
                f"{self.engine.folder}: the simulator's own sources changed since this command"
                " began; run it again."
            )

    def _check_tree(self, base: Base) -> None:
        base.check_there()
        if base.reach and not set(self.engine.reach) <= set(base.reach):
            more = ", ".join(sorted(set(self.engine.reach) - set(base.reach)))
            raise KernelError(
                f"{base.name}: this schedlab needs more of the tree than was unpacked ({more})."
                f"\n  `{base.again}` unpacks it anew."
            )
        if base.identity is None:
            check_whole(base.tree, self.engine)


def _replaced_by_older(objects: Path, stamps: Sequence[str]) -> bool:
    """Return whether a file of a tree differs from the one that was compiled, and is no newer.

    make goes by times, so it would keep what it made of the other one: after `mv`, `cp -p` or
    `rsync -a` of an old file, or where a link leads elsewhere.
    """
    noted = objects / _TREE
    if not noted.is_file():
        return False
    made, before = noted.stat().st_mtime_ns, set(json.loads(noted.read_text()))
    return any(int(stamp.rpartition("\0")[2]) <= made for stamp in stamps if stamp not in before)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
