"""Functions of the kernel that do nothing here are listed with the reason."""

import re

from tests.helpers.engine.simulator import ROOT

EMPTY = re.compile(
    r"^(?!static)[a-z][^\n;{}#]*?\b(?P<name>\w+)\([^;{}]*\)\s*"
    r"\{\s*(?:return (?:-?\w+|node);)?\s*\}",
    re.MULTILINE,
)
OURS = ("shim_", "kern_", "native")
CONSTANT = re.compile(r"return (?:-?\d+|true|false|NULL|[A-Z][A-Z_]+|node);")


def empty_functions(text: str) -> set[str]:
    """Return the kernel's functions in a source file whose body is empty or one constant."""
    return {
        found["name"]
        for found in EMPTY.finditer(text)
        if not found["name"].startswith(OURS)
        and ("return" not in found[0] or CONSTANT.search(found[0]))
    }


def test_a_body_without_effect_is_found() -> None:
    text = """
void em_rebuild(void)
{
}

bool asks(struct a *b,
          int c) { return false; }

static void own(void)
{
}

int works(void)
{
        return count;
}
"""
    assert empty_functions(text) == {"em_rebuild", "asks"}


def test_each_is_in_the_table() -> None:
    found = set()
    for path in (ROOT / "engine/kernel").rglob("*.c"):
        found |= empty_functions(path.read_text())
    manual = (ROOT / "docs/internals/engine.md").read_text()
    table = manual.split("### Functions that do nothing")[1].split("\n#")[0]
    listed = {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert listed == found
