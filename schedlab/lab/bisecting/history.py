"""The commits of a range of a git tree, and which of them touch what the simulator compiles."""

from dataclasses import dataclass
from pathlib import Path

from schedlab.base.printable import printable
from schedlab.kernels import KernelError
from schedlab.kernels.engine import Engine
from schedlab.kernels.patch_series import ends_of_range
from schedlab.kernels.patches import read_patch
from schedlab.kernels.process import output

MOST_COMMITS = 100_000


@dataclass(frozen=True)
class History:
    """What lies between a good and a bad commit, along first parents: a merge is one commit.

    Each has the good commit among its ancestors.
    """

    good: str
    bad: str
    commits: tuple[tuple[str, str], ...]
    """Those that touch what the simulator compiles, oldest first: id and subject."""
    others: int
    """How many touch nothing of it."""


def history_of(tree: Path, commits: str, engine: Engine) -> History:
    """Return the commits of a range `GOOD..BAD`.

    Raises:
        KernelError: it is not a range of a git tree, GOOD is not before BAD, or no commit touches
            what the simulator compiles.
    """
    good, bad = ends_of_range(tree, commits)
    if _git(tree, "merge-base", "--is-ancestor", good, bad)[0]:
        raise KernelError(
            f"{tree}: {commits}: the first commit is not an ancestor of the second."
            "\n  Name a good commit that the bad one was built on, such as `git merge-base` gives."
        )
    status, log = _git(
        *(tree, "-c", "core.quotePath=false", "log", "--reverse", "--first-parent", "-m"),
        *("--no-renames", "--name-only", f"--max-count={MOST_COMMITS + 1}"),
        *("--format=%x00%H %s", f"{good}..{bad}"),
    )
    if status:
        raise KernelError(f"{tree}: {commits}: git cannot list its commits: {log[-300:].strip()}")
    status, later = _git(tree, "rev-list", "--ancestry-path", f"{good}..{bad}")
    # Beside a merge that brought GOOD in there are commits without it; they say nothing.
    with_good = set(later.split())
    found, others = [], 0
    for entry in log.split("\0")[1:]:
        head, *files = entry.strip("\n").split("\n")
        commit, _, subject = head.partition(" ")
        if commit not in with_good:
            continue
        if any(engine.reaches(file) for file in files if file):
            found.append((commit, printable(subject)))
        else:
            others += 1
    if len(found) + others > MOST_COMMITS:
        raise KernelError(f"{tree}: {commits}: has over {MOST_COMMITS:,} commits; name fewer.")
    if not found:
        raise KernelError(
            f"{tree}: {commits}: none of its {others} commits touches what the simulator compiles,"
            " so there is nothing to search."
        )
    return History(good, bad, tuple(found), others)


def write_difference(tree: Path, good: str, commit: str, engine: Engine, file: Path) -> bool:
    """Write what a commit differs in from the good end, of what the simulator compiles.

    Returns:
        Whether there is a difference: a commit may take back all before it.

    Raises:
        KernelError: git cannot write it, or it is not a patch of plain files.
    """
    plain = ("core.quotePath=false", "diff.noprefix=false", "diff.mnemonicPrefix=false")
    status, text = _git(
        tree,
        *(word for setting in plain for word in ("-c", setting)),
        *("diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
        *(good, commit, "--", *engine.reach),
    )
    if status:
        raise KernelError(f"{tree}: {commit[:12]}: git cannot write its changes: {text[-300:]}")
    if not text.strip():
        return False
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    changes = [change for change in read_patch(file).changes if not change.only_mode]
    lines = (f"{line}\n" for change in changes for line in change.text)
    file.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return bool(changes)


def _git(tree: Path, *arguments: str) -> tuple[int, str]:
    return output(["git", "-C", str(tree), *arguments])
