"""The record of a bisection, `bisect.json`: the question, the commits, every answer so far."""

import json
from pathlib import Path

from pydantic import ValidationError

from schedlab.base.errors import StoreError
from schedlab.base.validation import Data
from schedlab.lab.bisecting.search import Answer
from schedlab.plan.plan import Plan

RECORD = "bisect.json"
LOG = "bisect.log"


class Asked(Data, frozen=False):
    """What is asked of every commit: a metric or the decisions of a plan, or a check."""

    plan: Plan | None = None
    metric: str = ""
    case: str = ""
    """The benchmark with the metric."""
    scenario: str = ""
    alpha: float | None = None
    """The false-alarm rate of a step: the plan's, shared by the steps that are expected."""
    margin: float | None = None
    """Differences from the good end that count as none: half of the bad end's, the plan's at
    least."""
    machine: str = ""
    """For a check, instead of its own."""
    content: str = ""
    """Of a check: what names the content of its files."""

    @property
    def words(self) -> str:
        """Return its name for people."""
        if self.scenario:
            return f"check {Path(self.scenario).stem}"
        return f"{self.metric} of {self.case}" if self.metric else "the scheduler's decisions"


class Commit(Data, frozen=False):
    """A commit that touches what the simulator compiles."""

    id: str
    subject: str
    answer: Answer | None = None
    why: str = ""
    """What the answer rests on."""
    step: int = 0
    """At which it was tried."""


class Bisected(Data, frozen=False):
    """A bisection, as far as it has come."""

    tree: str
    commits_asked: str
    """The range as it was given."""
    base: str
    """The name of the kernel tree at the good end."""
    good: str
    bad: str
    asked: Asked
    commits: list[Commit]
    """Oldest first."""
    others: int
    """Commits of the range that touch nothing the simulator compiles."""
    reach: tuple[str, ...] = ()
    """The files and folders that the simulator compiles."""
    ends: str = ""
    """How the bad end differs from the good one; empty until that has been seen."""
    steps: int = 0
    builds: int = 0
    runs: int = 0
    seconds: float = 0.0
    final: str = ""
    """What the culprit does beside its parent; empty until that has been run."""
    confirmed: bool = True
    """Whether that last run has the culprit bad and its parent good, of a check."""

    @property
    def answers(self) -> dict[int, Answer]:
        """Return the answers by number of the commit; 0 is the good end."""
        numbered = enumerate(self.commits, 1)
        return {number: commit.answer for number, commit in numbered if commit.answer}

    def save(self, folder: Path) -> None:
        """Write the record, and the answers as `git bisect replay` reads them."""
        for name, text in ((RECORD, self._json()), (LOG, self._log())):
            new = folder / f".{name}"
            new.write_text(text, encoding="utf-8")
            new.replace(folder / name)

    def _json(self) -> str:
        data = self.model_dump(mode="json", exclude={"asked": {"plan"}})
        if self.asked.plan:  # a plan knows which of its keys were given
            data["asked"]["plan"] = self.asked.plan.model_dump(
                mode="json", exclude_unset=True, exclude_none=True
            )
        return f"{json.dumps(data, indent=1)}\n"

    def _log(self) -> str:
        paths = "".join(f" '{path}'" for path in self.reach)
        lines = [f"git bisect start '--first-parent' '--'{paths}"]
        lines += [f"git bisect good {self.good}", f"git bisect bad {self.bad}"]
        # Of a step the newest first: git takes the last bad commit as the bad end.
        numbered = enumerate(self.commits)
        for _, commit in sorted(numbered, key=lambda each: (each[1].step, -each[0])):
            if commit.answer and commit.step:
                word = commit.answer if commit.answer in ("good", "bad") else "skip"
                lines += [f"# {commit.answer}: [{commit.id}] {commit.subject}"]
                lines += [f"git bisect {word} {commit.id}"]
        return "".join(f"{line}\n" for line in lines)


def read_bisected(folder: Path) -> Bisected:
    """Return the bisection in a folder; StoreError if there is none."""
    try:
        return Bisected.model_validate_json((folder / RECORD).read_bytes())
    except OSError:
        raise StoreError(
            f"{folder}: is not the folder of a bisection: {RECORD} is missing."
        ) from None
    except ValidationError as error:
        raise StoreError(f"{folder / RECORD}: {str(error).splitlines()[0]}") from error
