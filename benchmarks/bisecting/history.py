"""A git history to bisect: 64 commits on a kernel tree, and which of them are what.

    python benchmarks/bisecting/history.py 7.3 FOLDER --culprits 2
    schedlab bisect base..topic --tree FOLDER/linux ...

Of the 64 commits 30 touch nothing that the simulator compiles, 5 do not build (in two rows, each
ended by the commit that mends it), one or two make slices longer, and the rest changes files
of the scheduler without an effect. Where they stand is drawn from --seed. FOLDER/history.txt
names every commit with its kind: the answer that a bisection has to give.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from schedlab.kernels.engine import find_engine
from schedlab.kernels.shelf import Shelf

COMMITS = 64
OTHERS = 30
UNBUILDABLE = (3, 2)
"""How many commits in a row do not build, for each commit that breaks the build."""

FAIR = "kernel/sched/fair.c"
CULPRITS = (("700000ULL", "1400000ULL"), ("1400000ULL", "2100000ULL"))
"""Slices before and after: with longer ones tasks wait longer where there are more than CPUs."""
QUIET = ("fair", "core", "rt", "deadline", "topology", "pelt", "idle", "syscalls", "cpupri")
"""Files of kernel/sched that commits without an effect change, each in its turn."""
_NEWIDLE = ("sched_balance_newidle(struct rq *this_rq, struct", "sched_balance_newidle(struct")
"""What a commit that breaks the build changes, and what becomes of it."""
ELSEWHERE = ("Documentation/scheduler/notes.rst", "drivers/net/notes.c", "fs/notes.c")


class History:
    """A git tree, a commit at a time."""

    def __init__(self, folder: Path, base: str) -> None:
        """Copy a kernel tree of `schedlab kernel list` and commit what the simulator reads."""
        tree = Shelf().base(base).tree
        self.tree = folder / "linux"
        self.tree.mkdir(parents=True)
        for name in find_engine().reach:
            source, target = tree / name, self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)
        self.git("init", "-q")
        self.git("config", "gc.auto", "0")
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "-m", f"Linux {base}")
        self.git("tag", "base")
        self.kinds: list[str] = []

    def git(self, *words: str) -> str:
        """Run git; return what it prints."""
        who = ("-c", "user.name=History", "-c", "user.email=history@example.org")
        argv = ["git", "-C", str(self.tree), *who, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, kind: str, subject: str, name: str, change: Callable[[str], str]) -> None:
        """Change a file and commit it."""
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        changed = change(text)
        if changed == text:
            raise SystemExit(f"{name}: does not have what '{subject}' changes")
        file.write_text(changed, encoding="utf-8")
        self.git("add", "--force", name)
        self.git("commit", "-q", "-m", subject)
        self.kinds.append(f"{self.git('rev-parse', 'HEAD')[:12]} {kind}: {subject}")


def kinds(culprits: int, seed: int) -> list[str]:
    """Return the kind of each commit, in order."""
    draw = random.Random(seed)
    quiet = COMMITS - OTHERS - sum(UNBUILDABLE) - len(UNBUILDABLE) - culprits
    rows = [["quiet"]] * quiet + [["culprit"]] * culprits
    rows += [["breaks"] + ["broken"] * (more - 1) + ["mends"] for more in UNBUILDABLE]
    draw.shuffle(rows)
    found = [kind for row in rows for kind in row]
    for _ in range(OTHERS):
        found.insert(draw.randrange(len(found) + 1), "elsewhere")
    return found


def write(history: History, order: list[str]) -> Iterator[str]:
    """Commit each kind in its turn; yield each as it is there."""
    slices = iter(CULPRITS)
    for number, kind in enumerate(order, 1):
        if kind == "elsewhere":
            name = ELSEWHERE[number % len(ELSEWHERE)]
            history.commit(kind, f"{name}: note {number}", name, _with_note(number))
        elif kind in ("breaks", "mends"):
            old, new = _NEWIDLE if kind == "breaks" else reversed(_NEWIDLE)
            subject = f"sched/fair: {kind} the build"
            history.commit(kind, subject, FAIR, _replacing(old, new))
        elif kind == "culprit":
            old, new = next(slices)
            subject = f"sched/fair: Slices of {new.removesuffix('ULL')} ns"
            history.commit(kind, subject, FAIR, _replacing(f"= {old};", f"= {new};"))
        else:
            name = f"kernel/sched/{QUIET[number % len(QUIET)]}.c"
            history.commit(kind, f"sched: an accessor for {number}", name, _with_accessor(number))
        yield history.kinds[-1]


def _replacing(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def _with_note(number: int) -> Callable[[str], str]:
    return lambda text: f"{text}/* Note {number}. */\n"


def _with_accessor(number: int) -> Callable[[str], str]:
    """Add a function that nothing calls."""
    head = f"static inline int __maybe_unused accessor_{number}(void)"
    return lambda text: f"{text}\n{head}\n{{\n\treturn {number};\n}}\n"


def main() -> None:
    """Write a history."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", help="a kernel tree of `schedlab kernel list`")
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--culprits", type=int, choices=(1, 2), default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    history = History(given.folder, given.base)
    with (given.folder / "history.txt").open("w") as file:
        for line in write(history, kinds(given.culprits, given.seed)):
            print(line, file=file, flush=True)
    history.git("branch", "topic")
    print(f"wrote {given.folder / 'history.txt'}")


if __name__ == "__main__":
    main()
