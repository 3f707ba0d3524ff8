"""One range bisected on several machines: a bisection each, where the ends differ at all.

Every machine has a folder of its own in that of the whole. What is built for one is there for the
next, and the next one first tries the commit that was found before, and its parent.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from schedlab.base.errors import Interrupted, SchedlabError, StoreError, UsageError
from schedlab.lab.bisecting.bisection import NothingToSearch, begin_bisection, bisect
from schedlab.lab.bisecting.record import Asked
from schedlab.lab.bisecting.search import found_by
from schedlab.lab.bisecting.text import answer_text
from schedlab.lab.new_folder import make_folder
from schedlab.lab.result import Lab

MACHINES = "machines.json"
"""In the folder of the whole: the folders of the machines, in order."""


def begin_on_machines(tree: Path, commits: str, asked: Mapping[str, Asked], folder: Path) -> None:
    """Make the folder of a bisection on several machines, by the names of their folders.

    Raises:
        KernelError: there is no such range, or nothing in it touches the scheduler.
        StoreError: the folder is there already, or cannot be written.
    """
    make_folder(folder)
    try:
        for name, question in asked.items():
            begin_bisection(tree, commits, question, folder / name)
    except SchedlabError:
        shutil.rmtree(folder)
        raise
    (folder / MACHINES).write_text(json.dumps(list(asked)), encoding="utf-8")


def is_on_machines(folder: Path) -> bool:
    """Return whether a folder is that of a bisection on several machines."""
    return (folder / MACHINES).is_file()


def bisect_on_machines(folder: Path, lab: Lab) -> str:
    """Run each machine's bisection to its end; return the answer.

    Raises:
        UsageError: the ends differ on no machine.
        Interrupted: SIGINT or SIGTERM.
    """
    try:
        names: list[str] = json.loads((folder / MACHINES).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{folder / MACHINES}: cannot be read: {error}") from error
    heads, texts, nothing = [], [], []
    likely: tuple[int, ...] = ()
    for name in names:
        lab.watcher.say(f"on {name}:")
        try:
            record = bisect(folder / name, lab, likely)
        except NothingToSearch as why:
            nothing.append(f"{name}: {why}")
            heads.append(f"{name}: {str(why).splitlines()[0]}")
            continue
        except Interrupted as error:
            first = str(error).splitlines()[0]
            raise Interrupted(f"{first}\n  `schedlab bisect --resume {folder}` goes on.") from error
        text = answer_text(record)
        likely = likely or found_by(len(record.commits), record.answers)
        heads.append(f"{name}: {text.splitlines()[0]}")
        texts.append(f"on {name}:\n{text}")
    if not texts:
        raise UsageError("\n".join(nothing))
    return "\n".join([*heads, "", *texts])
