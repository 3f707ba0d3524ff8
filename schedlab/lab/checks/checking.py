"""Running checks on their machines, kernels and seeds, several at a time, within a budget."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from schedlab.base.data import is_path
from schedlab.base.errors import SchedlabError, UsageError
from schedlab.kernels import KernelError
from schedlab.kernels.built import Build
from schedlab.kernels.cache import disk_errors
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Shelf
from schedlab.lab.checks.builds import Kernels, Wanted
from schedlab.lab.checks.check import Named
from schedlab.lab.checks.coverage import PREFIX
from schedlab.lab.checks.reduce import described, reduced, write_check
from schedlab.lab.checks.run import Asked, Judged, ask, judge
from schedlab.machine.model import Machine, find_machine
from schedlab.targets.sim_program import Processes

Word = Literal["passed", "failed", "caught", "missed", "refused", "not run"]
"""How a run ended. Caught and missed are of kernels with the check's bug."""
GOOD = ("passed", "caught")
BAD = ("failed", "missed", "refused")

VERDICTS = "verdicts.jsonl"
_SHOWN = 3
"""Problems of a run that are shown; the rest is counted."""


@dataclass(frozen=True)
class Verdict:
    """How one run of a check ended."""

    check: str
    machine: str
    kernel: str
    seed: int
    bug: bool
    word: Word
    seconds: float = 0.0
    problems: tuple[str, ...] = ()
    key: str = ""
    """Names all that the run depended on."""

    @property
    def place(self) -> str:
        """Return the run's name for people."""
        with_bug = " with the bug" if self.bug else ""
        return f"{self.check} on {self.machine}, {self.kernel}{with_bug}, seed {self.seed}"

    @property
    def shown(self) -> list[str]:
        """Return the first problems, and how many more there are."""
        more = len(self.problems) - _SHOWN
        return [*self.problems[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]


@dataclass(frozen=True)
class Options:
    """Which runs are made, and how."""

    kernels: tuple[str, ...] = ()
    """Instead of those that the checks name."""
    machines: tuple[str, ...] = ()
    seeds: int | None = None
    bugs: bool = False
    """Each bug is brought back as well, and has to be caught."""
    jobs: int | None = None
    budget: float | None = None
    """Seconds after which no run begins."""
    output: Path | None = None
    """A folder for verdicts; those it has already are not made again."""
    coverage: Path | None = None
    """A folder that the simulators add what they counted to: the scheduler's lines that ran."""


@dataclass(frozen=True)
class Planned:
    """A run that is to be made."""

    named: Named
    machine: Machine
    wanted: Wanted
    seed: int

    def ended(self, judged: Judged, key: str) -> Verdict:
        """Return the verdict on it."""
        word: Word = judged.word
        if self.wanted.bug and word in ("passed", "failed"):
            word = "caught" if word == "failed" else "missed"
        return self.verdict(word, judged.seconds, judged.problems, key)

    def verdict(
        self, word: Word, seconds: float = 0.0, problems: tuple[str, ...] = (), key: str = ""
    ) -> Verdict:
        """Return a verdict on it."""
        return Verdict(
            self.named.name,
            self.machine.name,
            self.wanted.kernel,
            self.seed,
            self.wanted.bug,
            word,
            round(seconds, 3),
            problems,
            key,
        )


class Checking:
    """The runs of some checks."""

    def __init__(self, checks: Sequence[Named], options: Options, watch: Watch) -> None:
        """Find the machines and kernels of all checks.

        Raises:
            SchedlabError: a machine or a kernel is not there, or a bug's patch does not apply.
        """
        self.options = options
        self.kernels = Kernels(watch, coverage=options.coverage is not None)
        self.planned = [run for named in checks for run in self._runs(named)]
        self.without = [
            named.name
            for named in checks
            if named.name not in {run.named.name for run in self.planned}
        ]
        """Checks none of whose kernels is there."""
        self._processes = Processes(environment=_counting_into(options.coverage))
        if not self.planned:
            raise KernelError(self._nothing(checks))

    def _nothing(self, checks: Sequence[Named]) -> str:
        """Return why there is nothing to run."""
        there = set(Shelf().names())
        named = {name for each in checks for name in self.options.kernels or each.check.kernels}
        if named & there:
            left = ", ".join(sorted(named & there))
            return f"`since` and `before` of {self.without[0]} leave out {left}: nothing to run."
        return (
            "none of the checks' kernels is there."
            "\n  `schedlab kernel add --debian 6.12` fetches one; --kernel NAME names yours."
        )

    def run(self) -> Iterator[Verdict]:
        """Make the runs, in any order; yield each as it ends.

        Raises:
            KernelError: a kernel does not build.
        """
        began = time.monotonic()
        known = self._known()
        jobs = self.options.jobs or len(os.sched_getaffinity(0))
        # One seed of every check first: a budget may end before the others.
        waiting = sorted(self.planned, key=lambda planned: planned.seed)[::-1]
        under_way: set[Future[Verdict]] = set()
        with ThreadPoolExecutor(jobs) as pool:
            try:
                while waiting or under_way:
                    while waiting and len(under_way) < jobs:
                        planned = waiting.pop()
                        spent = time.monotonic() - began
                        if self.options.budget is not None and spent > self.options.budget:
                            yield planned.verdict("not run")
                            continue
                        try:
                            asked = self.asked(planned)
                        except UsageError as error:
                            yield planned.verdict("refused", problems=(str(error),))
                            continue
                        key = key_of(asked, planned.wanted.bug)
                        if before := known.get(key):
                            # Of the same content; the check or the kernel may have another name.
                            found = before.word, before.seconds, before.problems
                            yield planned.verdict(*found, key)
                            continue
                        under_way.add(pool.submit(self._judged, planned, asked, key))
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield self._kept(future.result())
            finally:
                self._processes.stop()

    def leave(self, verdicts: Sequence[Verdict], folder: Path, smaller: bool) -> Iterator[str]:
        """Write the files of each check that failed; yield where they are.

        Args:
            verdicts: of these checks.
            folder: gets a folder for each.
            smaller: whether the run is made smaller first.
        """
        by_place = {planned.verdict("not run").place: planned for planned in self.planned}
        left: set[str] = set()
        for verdict in verdicts:
            if verdict.word == "failed" and verdict.check not in left:
                left.add(verdict.check)
                planned = by_place[verdict.place]
                place = folder / verdict.check
                asked = self.asked(planned)
                if smaller:
                    passing = self._passing(planned, by_place, verdicts)
                    asked = reduced(asked, Path(planned.named.path), Processes(), passing)
                place.mkdir(parents=True, exist_ok=True)
                write_check(asked, Path(planned.named.path), place)
                judge(asked, Processes(), place)
                yield f"wrote {place}: {described(asked)}"

    def _passing(
        self, failed: Planned, by_place: Mapping[str, Planned], verdicts: Sequence[Verdict]
    ) -> list[Build]:
        """Return the kernels on which a run that failed on another has passed."""
        passed = [by_place[verdict.place] for verdict in verdicts if verdict.word == "passed"]
        same = (failed.named.name, failed.machine.name, failed.seed)
        return [
            self.kernels.build(each.wanted)
            for each in passed
            if (each.named.name, each.machine.name, each.seed) == same
        ]

    def asked(self, planned: Planned) -> Asked:
        """Return what a planned run is made of; its kernel is built if need be."""
        build = self.kernels.build(planned.wanted)
        named = planned.named
        return ask(named.path, named.check, planned.machine, build, planned.seed)

    def _runs(self, named: Named) -> Iterator[Planned]:
        check = named.check
        machines = [
            find_machine(str(named.beside(which)) if is_path(which) else which)
            for which in self.options.machines or check.machines
        ]
        for wanted in self.kernels.wanted(named, self.options.kernels, self.options.bugs):
            for machine in machines:
                for seed in range(1, (self.options.seeds or check.seeds) + 1):
                    yield Planned(named, machine, wanted, seed)

    def _judged(self, planned: Planned, asked: Asked, key: str) -> Verdict:
        try:
            return planned.ended(judge(asked, self._processes), key)
        except SchedlabError as error:
            return planned.verdict("refused", problems=(str(error),))

    def _known(self) -> dict[str, Verdict]:
        """Return the verdicts of the folder, by what they depended on."""
        found: dict[str, Verdict] = {}
        if self.options.output:
            file = self.options.output / VERDICTS
            for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
                try:
                    about = json.loads(line)
                    verdict = Verdict(**{**about, "problems": tuple(about["problems"])})
                except (ValueError, TypeError, KeyError):
                    continue  # cut off where the lab was killed
                found[verdict.key] = verdict
        return found

    def _kept(self, verdict: Verdict) -> Verdict:
        if self.options.output and verdict.key:
            with disk_errors("keeping a verdict", self.options.output):
                self.options.output.mkdir(parents=True, exist_ok=True)
                with (self.options.output / VERDICTS).open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(asdict(verdict))}\n")
        return verdict


def _counting_into(folder: Path | None) -> dict[str, str]:
    """Return the variables by which simulators count lines into a folder."""
    return {PREFIX: str(folder.resolve())} if folder else {}


def key_of(asked: Asked, bug: bool) -> str:
    """Return a name for all that a run's verdict depends on."""
    expected = [each.model_dump_json() for each in asked.check.expect]
    parts = [asked.build.key, asked.machine.model_dump_json(), json.dumps(asked.scenario)]
    parts += [str(asked.seed), str(bool(bug)), *expected, *(e.text for e in asked.enclosures)]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
