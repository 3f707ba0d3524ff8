"""Making changes here and simulated: loads under settings, and scenarios of the same."""

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from schedlab.base.errors import HostError, Interrupted
from schedlab.benchmarks import Case
from schedlab.lab.accuracy.changes import (
    BLOCKS,
    Change,
    Compared,
    Group,
    Settings,
    Setup,
    effect,
    order,
)
from schedlab.lab.accuracy.journal import Journal
from schedlab.lab.accuracy.single import Bench, load_case
from schedlab.settings.companion import Companion

_V2 = Path("/sys/fs/cgroup")
_V1 = Path("/sys/fs/cgroup/cpu")
_HIGHEST = 10_000
"""The highest weight a group may have."""
_POLICY = {"batch": ("--batch", "0"), "idle": ("--idle", "0"), "fifo": ("--fifo", "1")}
_HOG = ("sh", "-c", "while :; do :; done")
SETTLED = "50ms"
"""Hogs compute so long before the measured task begins."""


class Groups:
    """The place where control groups with a part of the CPU time can be made, if there is one."""

    def __init__(self, v2: Path = _V2, v1: Path = _V1) -> None:
        """Look for it: version 2 at its top, or version 1's controller cpu."""
        self._at: Path | None = None
        self.tasks: Path | None = None
        """Where tasks go that are in no group of their own."""
        self.home: Path | None = None
        """Where this process was, as long as it is in the enclosure."""
        self._is_v2 = (v2 / "cgroup.controllers").exists()
        self._made = 0
        place = v2 if self._is_v2 else v1
        self.reason = f"no control group can be made in {place}"
        if self._is_v2 and "cpu" not in _read(v2 / "cgroup.subtree_control").split():
            self.reason = f"{v2}/cgroup.subtree_control does not hand out the controller cpu"
        elif os.access(place, os.W_OK) and (self._is_v2 or (v1 / "cpu.shares").exists()):
            self._at, self.reason = place, ""

    @contextmanager
    def enclosure(self) -> Iterator[None]:
        """Put all tasks into a group that others of this host take next to nothing from."""
        if self._at is None:
            yield
            return
        top = self._at / f"schedlab-{os.getpid()}"
        before = self._at
        with self._folder(top, Group(weight=_HIGHEST)):
            if self._is_v2:
                (top / "cgroup.subtree_control").write_text("+cpu")
            with self._folder(top / "all", Group()):
                self._at, self.tasks, self.home = top, top / "all", before / self._own()
                _move(self.tasks)  # what we run is then there as well
                try:
                    yield
                finally:
                    _move(self.home)
                    self._at, self.tasks, self.home = before, None, None

    @contextmanager
    def made(self, group: Group) -> Iterator[Path]:
        """Make one with these parts for a `with` block; no task may be left in it at its end."""
        assert self._at
        self._made += 1
        path = self._at / f"schedlab-{os.getpid()}-{self._made}"
        with self._folder(path, group):
            yield path

    @contextmanager
    def _folder(self, path: Path, group: Group) -> Iterator[None]:
        try:
            path.mkdir()
            for name, value in self._files(group):
                (path / name).write_text(value)
        except OSError as error:
            raise HostError(f"{error.filename}: {error.strerror}") from error
        try:
            yield
        finally:
            for _ in range(50):  # a task that was killed leaves its group a moment later
                with suppress(OSError):
                    path.rmdir()
                if not path.exists():
                    break
                time.sleep(0.01)

    def _own(self) -> str:
        """Return the cgroup of this process, relative to the given folder."""
        for line in _read(Path("/proc/self/cgroup")).splitlines():
            _, controllers, path = line.split(":", 2)
            if "cpu" in controllers.split(",") or (self._is_v2 and not controllers):
                return path.lstrip("/")
        return ""

    def _files(self, group: Group) -> Iterator[tuple[str, str]]:
        if self._is_v2:
            yield "cpu.weight", str(group.weight)
            quota = str(group.quota_us) if group.quota_us else "max"
            yield "cpu.max", f"{quota} {group.period_us}"
            return
        yield "cpu.shares", str(group.weight * 1024 // 100)
        yield "cpu.cfs_period_us", str(group.period_us)
        yield "cpu.cfs_quota_us", str(group.quota_us or -1)


class Here:
    """This host."""

    def __init__(self, bench: Bench, groups: Groups) -> None:
        """Take the host, held for the changes' cases, and where groups are made."""
        self._bench = bench
        self._groups = groups
        self.others = 0.0

    def refused(self, change: Change) -> str:
        """Return why a change cannot be made here; empty if it can."""
        every = [s for setup in change.setups for s in (setup.settings, *setup.hogs)]
        cpus = os.sched_getaffinity(0)
        for settings in every:
            wanted = {int(part) for part in settings.cpus.split("-")}
            if not wanted <= cpus:
                return f"this host gives us no CPU {max(wanted - cpus)}"
            if settings.group and self._groups.reason:
                return self._groups.reason
            if settings.nice < 0 and not _works(("nice", "-n", str(settings.nice), "true")):
                return "a nice value below 0 needs a right that we have not"
            chrt = (*self._into(self._groups.home), "chrt", "--fifo", "1", "true")
            if settings.policy == "fifo" and not _works(chrt):
                return "SCHED_FIFO needs a right that we have not"
        return ""

    def figure(self, setup: Setup, figure: str) -> float:
        """Run a setup once and return the figure."""
        with ExitStack() as stack:
            hogs = [(*self._before(hog, stack), *_HOG) for hog in setup.hogs]
            under = {"prefix": tuple(self._before(setup.settings, stack))}
            beside = {"companion": Companion(command=_together(hogs))} if hogs else {}
            variant = self._bench.variant.model_copy(update={**under, **beside})
            outcome = self._bench.run(case_of(setup), variant)
        self.others = max(self.others, outcome.others)
        return outcome.results[figure]

    def _before(self, settings: Settings, stack: ExitStack) -> list[str]:
        """Return the words before a command that run it under settings."""
        path = self._groups.tasks
        if settings.group:
            path = stack.enter_context(self._groups.made(settings.group))
        # Groups of version 1 may not have real-time tasks; such a task needs no enclosure.
        if settings.policy == "fifo":
            path = self._groups.home
        words = [*self._into(path), "taskset", "--cpu-list", settings.cpus]
        if settings.nice:
            words += ["nice", "-n", str(settings.nice)]
        if settings.policy != "normal":
            words += ["chrt", *_POLICY[settings.policy]]
        return words

    @staticmethod
    def _into(group: Path | None) -> tuple[str, ...]:
        """Return the words before a command that put it into a group."""
        if not group:
            return ()
        return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")


class There:
    """The simulator."""

    def __init__(self, bench: Bench) -> None:
        """Take it, held for the changes' cases; a seed draws what is not known of the machine."""
        self._bench = bench

    def figure(self, setup: Setup, figure: str, seed: int) -> float:
        """Simulate a setup once and return the figure."""
        return self._bench.run(case_of(setup), seed=seed).results[figure]


def case_of(setup: Setup) -> Case:
    """Return a setup as a case; two that differ have two labels."""
    label = hashlib.sha256(repr(setup).encode()).hexdigest()[:12]
    return load_case(setup.workload, setup.options, f"{setup.workload} {label}", scenario(setup))


def _together(hogs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the command that runs others, all at the same time, for ever."""
    return ("sh", "-c", "".join(f"{shlex.join(hog)} & " for hog in hogs) + "wait")


def scenario(setup: Setup) -> dict[str, Any]:
    """Return what the scenario of a setup has: groups, its hogs as tasks, where its load runs."""
    groups = [
        {"path": "/lab", "cpu.weight": str(_HIGHEST)},
        {"path": "/lab/all", "cpu.weight": "100"},
    ]

    def placed(settings: Settings) -> dict[str, Any]:
        if not (group := settings.group):
            return {"affinity": settings.cpus, "group": "/lab/all"}
        quota = str(group.quota_us) if group.quota_us else "max"
        path = f"/lab/{len(groups)}"
        limit = f"{quota} {group.period_us}"
        groups.append({"path": path, "cpu.weight": str(group.weight), "cpu.max": limit})
        return {"affinity": settings.cpus, "group": path}

    hogs = [
        {
            "name": f"hog-{number}",
            **placed(hog),
            **_attributes(hog),
            "program": [{"run": "10ms"}],
        }
        for number, hog in enumerate(setup.hogs)
    ]
    own = setup.settings
    attributes = {**placed(own), **_attributes(own)}
    return {"groups": groups, "tasks": hogs, "workloads": attributes}


def _attributes(settings: Settings) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    if settings.nice:
        keys["nice"] = settings.nice
    if settings.policy != "normal":
        keys["policy"] = settings.policy
    if settings.policy == "fifo":
        keys["priority"] = 1
    return keys


def compare(
    here: Here,
    there: There,
    changes: Sequence[Change],
    journal: Journal,
    say: Callable[[str], None],
) -> Iterator[Compared]:
    """Measure the changes on both targets; what the journal has is not measured again."""
    began, made = time.monotonic(), 0
    for place, change in enumerate(changes):
        owed = [c for c in changes[place:] if c.name not in journal]
        left = ""
        if made:
            left = f", about {len(owed) * (time.monotonic() - began) / made:.0f} s left"
        say(f"change {place + 1} of {len(changes)}: {change.name}{left}")
        if change.name not in journal:
            if reason := here.refused(change):
                yield Compared(change, skipped=reason)
                continue
            try:
                journal.put(change.name, _made(here, there, change))
            except Interrupted as error:
                raise Interrupted(
                    f"{error}; {place} of {len(changes)} changes are kept, the same command goes on"
                ) from error
            made += 1
        yield _read_back(change, journal[change.name])


def _made(here: Here, there: There, change: Change) -> Mapping[str, Any]:
    here.others = 0.0
    real: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    for block in range(BLOCKS):
        first, second = order(change, block)
        figures = [here.figure(setup, change.figure) for setup in (first, second)]
        if first is not change.base:
            figures.reverse()
        real.append((figures[0], figures[1]))
        simulated = [there.figure(setup, change.figure, block + 1) for setup in change.setups]
        ours.append((simulated[0], simulated[1]))
    return {"native": real, "simulated": ours, "others": here.others}


def _read_back(change: Change, value: Mapping[str, Any]) -> Compared:
    return Compared(change, effect(value["native"]), effect(value["simulated"]), value["others"])


def _move(group: Path) -> None:
    """Put this process into a group."""
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _works(argv: Sequence[str]) -> bool:
    if not shutil.which(argv[0]):
        return False
    done = subprocess.run(argv, capture_output=True, check=False)
    return done.returncode == 0 and not done.stderr


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
