# SPDX-License-Identifier: GPL-2.0-only
"""The types of a preprocessed unit of the kernel, as a BPF program's vmlinux.h has them.

kernel_types.py MORE.h < build_policy.i > vmlinux.h: types and enumerations stay as the compiler saw
them, so that their layout is the kernel's own; functions, variables and assertions are left out.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[{}();]|[^{}();"\']+')
_HEAD = re.compile(r"(?:__extension__\s+)?(?:(?:static|extern|const)\s+)*(?:struct|union|enum)\b")
_FOLDED = re.compile(r"\b(__ilog2_u\d+|__bits_per)\b")
"""Functions in sizes of fields, of which nothing is left in a constant."""
_IN_PARENTHESES = r"\([^()]*\)"
for _ in range(6):
    _IN_PARENTHESES = rf"\((?:[^()]|{_IN_PARENTHESES})*\)"
_ATTRIBUTE = re.compile(rf"__attribute__\s*{_IN_PARENTHESES}")


def declarations(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each top-level declaration with where its outermost first braces open and close."""
    braces = parens = 0
    begin = opened = closed = -1
    at = 0
    for token in _TOKEN.findall(text):
        if token == "(":
            parens += 1
        elif token == ")":
            parens -= 1
        elif token == "{":
            if not braces and not parens and opened < 0:
                opened = at
            braces += 1
        elif token == "}":
            braces -= 1
            if not braces and not parens and closed < 0:
                closed = at + 1
        if begin < 0 and token.strip():
            begin = at + len(token) - len(token.lstrip())
        at += len(token)
        ends = token == ";" or (token == "}" and _is_function(text[begin:opened]))
        if ends and not braces and not parens:
            yield text[begin:at], opened - begin, closed - begin
            begin = opened = closed = -1


def _is_function(head: str) -> bool:
    """Return whether braces behind a head are a function's body."""
    return "=" not in head and _ATTRIBUTE.sub("", head).rstrip().endswith(")")


def types(text: str) -> Iterator[str]:
    """Yield what defines or declares a type."""
    for whole, opened, closed in declarations(text):
        if re.match(r"(?:__extension__\s+)?typedef\b", whole):
            yield whole
        elif not _HEAD.match(whole):
            continue
        elif closed < 0:
            if re.fullmatch(r"(?:struct|union|enum)\s+\w+\s*;", whole):
                yield whole
        elif not re.search("[=(]", _ATTRIBUTE.sub("", whole[:opened])):
            # A variable may be declared behind it: its name goes, what holds of the type stays.
            head = re.sub(r"^(?:(?:static|extern|const)\s+)*", "", whole[:opened])
            attributes = " ".join(_ATTRIBUTE.findall(whole[closed:]))
            yield f"{head}{whole[opened:closed]} {attributes};"


def main() -> None:
    """Print the types."""
    text = "".join(line for line in sys.stdin if not line.startswith("#"))
    print("#ifndef __VMLINUX_H__\n#define __VMLINUX_H__")
    for name in sorted(set(_FOLDED.findall(text))):
        print(f"int {name}();")
    for each in types(text):
        print(re.sub(r"\s*\n\s*", "\n", each))
    print(Path(sys.argv[1]).read_text())
    print("#endif")


if __name__ == "__main__":
    main()
