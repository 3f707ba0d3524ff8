"""What stands above a patch's first change, and what a report says of the patch by it."""

import re
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header, make_header

from schedlab.base.printable import printable
from schedlab.kernels.patches import Patch

_SUBJECT = re.compile(r"^Subject:[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
_TAG = re.compile(r"^(?:\[[^\]]*\]\s*)+")
_COMMIT = re.compile(r"(?:From|commit) ([0-9a-f]{12,64})\b")
_LONGEST_SUBJECT = 200
_HASH = 12
"""Digits of a hash, as the kernel's `Fixes:` lines have them."""
_MOST_FILES = 4
"""Files whose changed lines are counted one by one."""


def summary(name: str, patch: Patch, heading: str, digest: str) -> str:
    """Return a patch's subject, short hash and diffstat on one line.

    The hash is the commit's where the heading has it, else of the patch's text.
    """
    commit = _COMMIT.match(heading)
    known = commit[1][:_HASH] if commit else f"sha256 {digest[:_HASH]}"
    return f"{_subject(heading) or name} ({known}), {diffstat(patch)}"


def diffstat(patch: Patch) -> str:
    """Return how many lines a patch adds to and takes from each file."""
    counts = [(change.path, *_counted(change.text)) for change in patch.changes]
    parts = [f"{printable(path)} +{plus} -{minus}" for path, plus, minus in counts[:_MOST_FILES]]
    if len(counts) > _MOST_FILES:
        plus = sum(plus for _, plus, _ in counts[_MOST_FILES:])
        minus = sum(minus for _, _, minus in counts[_MOST_FILES:])
        parts.append(f"{len(counts) - _MOST_FILES} more files +{plus} -{minus}")
    return ", ".join(parts)


def _counted(lines: list[str]) -> tuple[int, int]:
    """Count what the hunks add and take; the lines above them name the file."""
    first = next((at for at, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    hunks = lines[first:]
    return sum(line[:1] == "+" for line in hunks), sum(line[:1] == "-" for line in hunks)


def _subject(heading: str) -> str:
    """Return the subject of a mail or of a commit that `git show` prints; empty if none."""
    found = _SUBJECT.search(heading)
    if found:
        text = " ".join(found[1].split())
        with suppress(HeaderParseError, LookupError, ValueError):
            text = str(make_header(decode_header(text)))
    elif _COMMIT.match(heading):
        text = next((line for line in heading.splitlines() if line.startswith("    ")), "")
    else:
        text = ""
    return printable(_TAG.sub("", text.strip()))[:_LONGEST_SUBJECT]
