# SPDX-License-Identifier: GPL-2.0-only
"""Assembly in a scheduler's source, which is BPF's and natively would be another processor's."""

import re
from pathlib import Path

_ASSEMBLY = re.compile(
    r"\b(?:asm|__asm|__asm__)\b(?:\s|volatile|__volatile__|goto|inline)*\(\s*"
    r'((?:"(?:\\.|[^"\\])*"\s*)+)'
)
_NO_ASSEMBLY = re.compile(r'(?:""\s*)*|"may_goto %l\[\w+\]"\s*|"\.macro may_goto .*"\s*')
"""Barriers, and jumps of loops that the kernel bounds, as the count of pieces of code does here."""
_PLACE = re.compile(r'^# (\d+) "([^"]*)".*$', re.MULTILINE)


class Refused(Exception):
    """The scheduler cannot be made; says why."""


def refuse_assembly(text: str) -> None:
    """Look for assembly in a preprocessed source, where the native assembler would take some.

    Raises:
        Refused: there is some; says where.
    """
    for found in _ASSEMBLY.finditer(text):
        if _NO_ASSEMBLY.fullmatch(found[1]):
            continue
        place = "the source"
        for marker in _PLACE.finditer(text, 0, found.start()):
            line = int(marker[1]) + text.count("\n", marker.end() + 1, found.start())
            place = f"{Path(marker[2]).name}:{line}"
        raise Refused(
            f"{place}: {found[1].strip()} is assembly, and schedulers are compiled natively"
        )
