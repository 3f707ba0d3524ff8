"""Bisecting: builds the commits of a range on its good end, asks each, closes in on the first bad.

The folder of a bisection holds `bisect.json` (record.py), `bisect.log` (for `git bisect replay`),
`patches/` (what each tried commit differs in from the good end), `ends/`, `step-N/` and `final/`
(what was run).
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from schedlab.base.errors import Interrupted, SchedlabError, StoreError, UsageError
from schedlab.base.system.interrupt import stoppable
from schedlab.kernels import EngineChanged, HostRefused, KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.shelf import Shelf
from schedlab.kernels.tree import tree_at_ref
from schedlab.lab.bisecting.history import History, history_of, write_difference
from schedlab.lab.bisecting.questions import question_of
from schedlab.lab.bisecting.record import Asked, Bisected, Commit, read_bisected
from schedlab.lab.bisecting.search import Answer, expected_steps, narrowed, search
from schedlab.lab.new_folder import make_folder
from schedlab.lab.patched import build_patched
from schedlab.lab.result import Lab

GOOD, BAD = "good", "bad"
MOST_MARGIN = 0.5


class NothingToSearch(UsageError):
    """The ends do not differ as asked."""


def begin_bisection(tree: Path, commits: str, asked: Asked, folder: Path) -> Bisected:
    """Make the folder of a bisection of a range `GOOD..BAD` of a git tree.

    Raises:
        KernelError: there is no such range, or nothing in it touches the scheduler.
        StoreError: the folder is there already, or cannot be written.
    """
    history: History = history_of(tree, commits, find_engine())
    tree = tree.resolve()
    record = Bisected(
        tree=str(tree),
        commits_asked=commits,
        base=f"{tree.name}-{history.good[:12]}",
        good=history.good,
        bad=history.bad,
        asked=asked,
        commits=[Commit(id=commit, subject=subject) for commit, subject in history.commits],
        others=history.others,
        reach=find_engine().reach,
    )
    make_folder(folder)
    try:
        make_folder(folder / "patches")
        record.save(folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise StoreError(f"{folder}: cannot be written: {error.strerror}.") from error
    return record


def bisect(folder: Path, lab: Lab, likely: Sequence[int] = ()) -> Bisected:
    """Run the bisection in a folder to its end; every step is kept.

    Args:
        folder: of the bisection.
        lab: how it is run.
        likely: numbers of commits that are tried first.

    Raises:
        KernelError: the good or the bad end does not build.
        NothingToSearch: the ends do not differ as asked, or the good one is bad.
        Interrupted: SIGINT or SIGTERM.
    """
    record = read_bisected(folder)
    try:
        with stoppable():
            _Bisection(record, folder, lab).run(likely)
    except Interrupted as error:
        what, *_ = str(error).splitlines()  # a step's own hints are of no use here
        raise Interrupted(f"{what}\n  `schedlab bisect --resume {folder}` goes on.") from error
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written: {error.strerror}."
            f"\n  `schedlab bisect --resume {folder}` goes on."
        ) from error
    except (EngineChanged, HostRefused) as error:
        raise type(error)(f"{error}\n  `schedlab bisect --resume {folder}` goes on.") from error
    except SchedlabError:
        if not record.runs:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return record


class _Bisection:
    def __init__(self, record: Bisected, folder: Path, lab: Lab) -> None:
        self._record, self._folder, self._lab = record, folder, lab
        self._last = len(record.commits)
        self._width = lab.simulated_at_a_time
        self._question = question_of(record.asked, lab)
        self._shelf, self._engine = Shelf(), find_engine()
        self._since = time.monotonic()

    def run(self, likely: Sequence[int]) -> None:
        """Look at the ends, search, and look at the culprit in full."""
        self._build_good()
        if not self._record.ends:
            self._record.builds = 1
            self._look_at_the_ends()
        search(self._last, self._record.answers, self._width, self._try, likely)
        good, bad = narrowed(self._last, self._record.answers)
        if bad == good + 1 and not self._record.final:
            self._explain(bad)

    def _build_good(self) -> None:
        record = self._record
        base = tree_at_ref(
            Path(record.tree),
            record.good,
            record.base,
            self._engine,
            self._shelf,
            self._lab.watcher,
        )
        self._shelf.put_base(base)
        Builder(self._shelf, self._engine, self._lab.watcher).build(base.plain)

    def _look_at_the_ends(self) -> None:
        """Refuse ends that do not differ as asked: no answer in between would mean anything."""
        record, folder = self._record, self._folder / "ends"
        why = self._build(self._last)
        if why:
            raise KernelError(f"the bad end, {record.bad[:12]}, does not build: {why}")
        kernels = {GOOD: record.base, BAD: self._kernel(self._last)}
        if record.asked.scenario:
            kernels = {"": record.base, **kernels}  # a check is asked of the good end as well
        answers, runs = self._question.ask(kernels, folder)
        record.runs += runs
        if record.asked.scenario and answers[GOOD].answer != "good":
            raise NothingToSearch(
                f"the good end, {record.good[:12]}, is bad: it fails {record.asked.words}:"
                f" {answers[GOOD].why}\n  Begin at an earlier commit."
            )
        if answers[BAD].answer == "can't tell":
            raise NothingToSearch(
                f"it cannot be told whether the bad end, {record.bad[:12]}, is bad beside"
                f" {record.good[:12]}: {record.asked.words}: {answers[BAD].why}."
                "\n  Begin again with more looks, such as --looks 6,12,24,40, or with a benchmark"
                " that has less noise."
            )
        if answers[BAD].answer != "bad":
            raise NothingToSearch(
                f"the bad end, {record.bad[:12]}, is not bad beside {record.good[:12]}:"
                f" {record.asked.words}: {answers[BAD].why}."
                "\n  There is nothing to search in this range; are its ends the right ones, and"
                " does the plan show the difference?"
            )
        record.ends = answers[BAD].why
        if record.asked.plan:
            # One false answer misleads the whole search.
            judging, effect = record.asked.plan.judging, abs(answers[BAD].effect or 0.0)
            record.asked.alpha = judging.alpha / expected_steps(self._last, self._width)
            record.asked.margin = max(judging.margin, min(effect / 2, MOST_MARGIN))
        self._keep()

    def _try(self, chosen: Sequence[int]) -> Mapping[int, Answer]:
        record, step = self._record, self._record.steps + 1
        self._lab.watcher.say(f"step {step}: trying {len(chosen)} of {self._open()} commits")
        answers: dict[int, Answer] = {}
        for at in chosen:
            commit = record.commits[at - 1]
            commit.why = self._build(at)
            if commit.why:
                answers[at] = "does not build"
        known = self._known()
        alike: dict[bytes, int] = {}
        for at in chosen:
            if at not in answers and (content := self._content(at)) not in known:
                alike.setdefault(content, at)
        kernels = {self._name(at): self._kernel(at) for at in alike.values()}
        if kernels:
            place = self._folder / f"step-{step}"
            found, runs = self._question.ask({GOOD: record.base, **kernels}, place)
            record.runs += runs
            known |= {
                content: (found[self._name(at)].answer, found[self._name(at)].why)
                for content, at in alike.items()
            }
        for at in chosen:
            if at not in answers:
                answers[at], record.commits[at - 1].why = known[self._content(at)]
        record.steps = step
        for at, answer in answers.items():
            commit = record.commits[at - 1]
            commit.answer, commit.step = answer, step
            self._lab.watcher.say(f"  {commit.id[:12]} {answer}: {commit.why.splitlines()[0]}")
        self._keep()
        return answers

    def _explain(self, culprit: int) -> None:
        """Run the culprit beside its parent with the full plan, and the bad end beside both."""
        kernels = {"parent": self._kernel(culprit - 1), "culprit": self._kernel(culprit)}
        if self._content(culprit) != self._content(self._last):
            kernels[BAD] = self._kernel(self._last)
        explained = self._question.explain(kernels, self._folder / "final")
        self._record.final, self._record.confirmed = explained.text, explained.confirmed
        self._record.runs += explained.runs
        self._keep()

    def _known(self) -> dict[bytes, tuple[Answer, str]]:
        """Return known answers by tree content, because a range often contains reverts."""
        known: dict[bytes, tuple[Answer, str]] = {}
        for at, answer in self._record.answers.items():
            if answer != "does not build":
                known[self._content(at)] = answer, self._record.commits[at - 1].why
        known[b""] = "good", "is the same as the good end"
        known[self._content(self._last)] = "bad", "is the same as the bad end"
        return known

    def _content(self, at: int) -> bytes:
        """Return what a commit that was built differs in from the good end."""
        file = self._patch(at)
        return file.read_bytes() if at and file.exists() else b""

    def _build(self, at: int) -> str:
        """Build a commit; return why it cannot be, or nothing."""
        record, commit = self._record, self._record.commits[at - 1]
        record.builds += 1
        file = self._patch(at)
        try:
            tree = Path(record.tree)
            if not write_difference(tree, record.good, commit.id, self._engine, file):
                file.unlink(missing_ok=True)
                return ""
        except KernelError as error:
            return str(error)
        kernel = self._kernel(at)
        return build_patched(
            self._shelf, self._engine, kernel, record.base, [str(file)], self._lab.watcher
        ).why

    def _kernel(self, at: int) -> str:
        """Return the name of a commit's kernel: the base where it differs in nothing."""
        if not at or not self._patch(at).exists():
            return self._record.base
        return f"{self._record.base}-to-{self._name(at)}"

    def _patch(self, at: int) -> Path:
        return self._folder / "patches" / f"{self._name(at)}.patch"

    def _name(self, at: int) -> str:
        return self._record.commits[at - 1].id[:12]

    def _open(self) -> int:
        good, bad = narrowed(self._last, self._record.answers)
        return bad - good - 1

    def _keep(self) -> None:
        now = time.monotonic()
        self._record.seconds += now - self._since
        self._since = now
        self._record.save(self._folder)
