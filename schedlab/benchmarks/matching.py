"""Where expressions match in a text, found by a process of its own: that one can be ended.

An expression can take longer than the age of the universe (`(a+)+b`), and Python's `re` cannot be
stopped. This file is run as a program, alone: it needs nothing of schedlab's.
"""

import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence

MOST = 9
"""Matches of one expression that are looked for; more is as wrong as two."""

_SECONDS = 5
"""CPU time, so that a busy host fails nothing."""


class TooSlow(Exception):
    """An expression takes too long on this text."""

    def __init__(self, at: int) -> None:
        super().__init__(f"more than {_SECONDS} s")
        self.at = at


def find(patterns: Sequence[str], text: str) -> list[list[str]]:
    """Return what the first group of each expression matches, up to MOST times each.

    Raises:
        TooSlow: the time for all of them is over.
    """
    asked = json.dumps({"patterns": list(patterns), "text": text, "seconds": _SECONDS})
    argv = [sys.executable, "-I", "-S", __file__]
    done = subprocess.run(argv, input=asked.encode(), stdout=subprocess.PIPE, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode == -signal.SIGXCPU:
        raise TooSlow(len(found))
    done.check_returncode()
    return found


def _answer() -> None:
    """Print a line for each expression asked for, as soon as it is known."""
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what ends it here leaves none behind
    resource.setrlimit(resource.RLIMIT_CPU, (asked["seconds"], resource.RLIM_INFINITY))
    for pattern in asked["patterns"]:
        found = []
        for match in re.finditer(pattern, asked["text"], re.MULTILINE):
            found.append(match[1] or "")
            if len(found) == MOST:
                break
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _answer()
