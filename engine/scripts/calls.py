# SPDX-License-Identifier: GPL-2.0-only
"""The places of a preprocessed unit in which the engine meets what it knows by name.

    calls.py EXPECTED < PREPROCESSED

PREPROCESSED is made with SHIM_OUTLINE (engine/hooked/hook.h).  Prints a line for each function that
has such places, or is known by name itself: its file, its name, its parameters and its statements,
which a `;` ends.  A place is a call of what EXPECTED names, or an access of a hot field, after an
`@`.  The first line has the names of all functions with a body.
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
    r'|\bshim_place\s*"(?P<hook>\w+)"'
    r'|\bshim_access\s*"(?P<access>(?:[^"\\\n]|\\.)*)"'
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<word>\b[A-Za-z_]\w*\b)(?=(?P<called>\s*\())?"
    r"|(?P<number>\b\d\w*)"
    r"|(?P<mark>\S)",
    re.M,
)
DEFINITION = re.compile(r"^(?![#\s])[^\n;={]*?\b(\w+)\((?:[^(){};]|\([^(){};]*\))*\)\s*\{", re.M)


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
        self.probed = {name.removesuffix("(...)") for name in names if name.endswith("(...)")}
        self.calls = {name[:-2] for name in names if name.endswith("()")} | self.probed
        self.fields = [name for name in names if re.search(r"[.>]", name) and "(" not in name]
        self.hooks = {name for name in names if re.fullmatch(r"\w+", name)}
        self.passed = self.hooks | self.probed
        either = "|".join(map(re.escape, self.methods | self.calls | self.hooks))
        fields = "|".join(map(re.escape, self.fields)) or "(?!)"
        self.any = re.compile(rf"\b(?:{either})\b|shim_access\s*\"[^\"\n]*(?:{fields})")

    def place(self, token: "re.Match[str]") -> str:
        """Return what the engine meets at a token, or nothing."""
        if token["hook"]:
            return token["hook"]
        if token["access"]:
            return next((field for field in self.fields if field in token["access"]), "")
        if token["called"] and token["word"] in self.calls:
            return f"{token['word']}()"
        return ""


def word_of(token: "re.Match[str]") -> str:
    """Return a token without what differs from line to line: its number, texts, unique names."""
    if word := token["word"]:
        return re.sub(r"\d+$", "", word) if word[:2] == "__" else word
    if number := token["number"]:
        return number if len(number) < 3 else "0"
    return '""' if token["text"] else token["mark"] or ""


def outlines(file: str, text: str, names: Names) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield file, name, parameters and statements of each function with a body in a part of a unit.

    A statement ends at a `;` or a brace, and a keyword begins one; what is between parentheses
    is one.
    """
    depth = nested = 0  # in braces, and in parentheses
    name, begin, end, assigned = "", 0, 0, False
    outline: list[str] = []
    for token in TOKEN.finditer(text):
        mark, word = token["mark"], token["word"]
        if token["file"]:
            file = token["file"]
        elif depth:
            depth += (mark == "{") - (mark == "}")
            nested += (mark == "(") - (mark == ")")
            if not depth:
                if name:
                    yield file, name, parameters(text[begin:end]), outline
                name, assigned, outline, nested = "", False, [], 0
            elif place := names.place(token):
                outline.append(f"@{place}")
            elif mark in ("{", "}", ";") or (word in WORDS and not nested):
                if not nested and outline and outline[-1] != ";":
                    outline.append(";")
                outline += [word] if word else []
            elif kept := word_of(token):
                outline.append(kept)
        elif mark == "(":
            nested += 1
        elif mark == ")":
            nested -= 1
            if not nested and name and not end:
                end = token.start()
        elif token["called"]:
            if not nested and not name and not assigned and word and word not in NO_NAME:
                name, begin, end = word, token.end("called"), 0
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
    print("", "", "", " ".join(sorted(set(DEFINITION.findall(text)))), sep="\t")
    found = {}
    for file, part in functions(text):
        if not names.any.search(part):
            continue
        for method in names.methods:
            if declared := re.search(rf"\(\*\s*{method}\)\s*\(([^)]*)\)", part):
                found[file, method, parameters(declared[1]), ""] = None
        for place, name, taken, outline in outlines(file, part, names):
            if name in names.passed or any(word[0] == "@" for word in outline):
                found[place, name, taken if name in names.passed else "", " ".join(outline)] = None
    for line in found:
        print(*line, sep="\t")


main()
