# SPDX-License-Identifier: GPL-2.0-only
"""The places of a preprocessed unit in which the engine meets what it knows by name.

    calls.py EXPECTED < PREPROCESSED

Prints a line for each function that has such places, or is known by name itself: its file, its
name, its parameters and its outline.  An outline is the function's calls and keywords in their
order; a place is a call of what EXPECTED names, or an access of a hot field, after an `@`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

MARKER = re.compile(r'^# \d+ "([^"]*)"', re.M)
WORDS = {
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "return",
    "goto",
    "break",
    "continue",
}
NO_NAME = {"__attribute__", "__asm__", "asm", "typeof", "__typeof__", "_Static_assert", "sizeof"}
QUALIFIER = re.compile(r"\b(?:const|volatile|register|restrict|__attribute__ ?\(\(.*?\)\))(?=\W|$)")
TOKEN = re.compile(
    r'^# \d+ "(?P<file>[^"]*)".*$'
    r'|"shim_matched"[^"]*"(?P<hook>\w+)"'
    r'|"(?:[^"\\\n]|\\.)*?asciz \\"" "(?P<access>[^"]*)"'
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|(?P<word>\b[A-Za-z_]\w*\b)(?P<called>\s*\()?"
    r"|(?P<mark>[(){};=])",
    re.M,
)


def functions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts between braces at the beginning of a line, each with its first file."""
    file = ""
    for part in re.split(r"^\}", text, flags=re.M):
        yield file, part + "}"
        if markers := MARKER.findall(part):
            file = markers[-1]


def parameters(text: str) -> str:
    """Return parameters without what makes no difference to a caller."""
    words = QUALIFIER.sub(" ", re.sub(r"^# .*$", "", text, flags=re.M)).split()
    return " ".join(words).replace("* ", "*")


class Names:
    """What the engine knows by name."""

    def __init__(self, expected: str) -> None:
        """Take the list of the names, engine/hooked/expected.txt."""
        lines = [line for line in expected.splitlines() if line[:1] != "#"]
        names = " ".join(re.sub(r"\s(if|unless)\s.*", "", line) for line in lines).split()
        self.methods = {name[2:-1] for name in names if name[:1] == "("}
        self.calls = {name[:-2] for name in names if name.endswith("()")}
        self.fields = [name for name in names if re.search(r"[.>]", name)]
        self.hooks = {name for name in names if re.fullmatch(r"\w+", name)}
        either = "|".join(map(re.escape, self.methods | self.calls | self.hooks))
        self.any = re.compile(rf"\b(?:{either})\b|asciz")

    def place(self, token: "re.Match[str]") -> str:
        """Return what the engine meets at a token, or nothing."""
        if token["hook"]:
            return token["hook"]
        if token["access"]:
            return next((field for field in self.fields if field in token["access"]), "")
        if token["called"] and token["word"] in self.calls:
            return f"{token['word']}()"
        return ""


def outlines(file: str, text: str, names: Names) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield file, name, parameters and outline of each function with a body in a part of a unit."""
    depth = nested = 0  # in braces, and in parentheses outside of them
    name, begin, end, assigned = "", 0, 0, False
    outline: list[str] = []
    for token in TOKEN.finditer(text):
        mark, word = token["mark"], token["word"]
        if token["file"]:
            file = token["file"]
        elif depth and mark not in ("{", "}"):
            if place := names.place(token):
                outline.append(f"@{place}")
            elif word and (token["called"] or word in WORDS):
                outline.append(re.sub(r"\d+$", "", word))  # of names that are made unique
        elif depth:
            depth += 1 if mark == "{" else -1
            if not depth:
                if name:
                    yield file, name, parameters(text[begin:end]), outline
                name, assigned, outline = "", False, []
        elif token["called"] or mark == "(":
            if not nested and not name and not assigned and word and word not in NO_NAME:
                name, begin, end = word, token.end(), 0
            nested += 1
        elif mark == ")":
            nested -= 1
            if not nested and name and not end:
                end = token.start()
        elif not nested and mark == "{":
            depth = 1
        elif not nested and mark == "=":
            name, assigned = "", True
        elif not nested and mark == ";":
            name, assigned = "", False


def main() -> None:
    """Print the lines."""
    names = Names(Path(sys.argv[1]).read_text(encoding="utf-8"))
    text = sys.stdin.buffer.read().decode(errors="replace")
    found = {}
    for file, part in functions(text):
        if not names.any.search(part):
            continue
        for method in names.methods:
            if declared := re.search(rf"\(\*\s*{method}\)\s*\(([^)]*)\)", part):
                found[file, method, parameters(declared[1]), ""] = None
        for place, name, taken, outline in outlines(file, part, names):
            if name in names.hooks or any(word[0] == "@" for word in outline):
                found[place, name, taken if name in names.hooks else "", " ".join(outline)] = None
    for line in found:
        print(*line, sep="\t")


main()
