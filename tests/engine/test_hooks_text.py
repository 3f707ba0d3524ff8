"""The hooks' macros, by their text: a patch may give a call arguments with side effects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.engine.simulator import ROOT

HOOKED = sorted((ROOT / "engine/hooked").glob("*/**/*.[ch]"))
MACRO = re.compile(r"^#define (\w+)\((?:\w+, )?name, ([^)]*)\)((?:.*\\\n)*.*)$", re.M)
NOT_EVALUATED = re.compile(r"SHIM_GIVE\(.*\);|\b(?:struct|enum) \w+")
"""SHIM_GIVE() takes only the type of the call in it."""


@pytest.mark.parametrize("file", HOOKED, ids=lambda file: file.name)
def test_a_hook_evaluates_an_argument_once(file: Path) -> None:
    for hook, parameters, body in MACRO.findall(file.read_text()):
        evaluated = NOT_EVALUATED.sub("", body)
        for parameter in re.findall(r"(\w+)(?:\.\.\.)?(?:,|$)", parameters):
            uses = len(re.findall(rf"\b(?<![.>]){parameter}\b", evaluated))
            assert uses <= 1, (hook, parameter, uses)


def test_there_are_hooks() -> None:
    assert sum(len(MACRO.findall(file.read_text())) for file in HOOKED) > 15
