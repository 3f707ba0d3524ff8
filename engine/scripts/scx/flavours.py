# SPDX-License-Identifier: GPL-2.0-only
"""A scheduler's own declarations of the kernel's structures, with the fields where those are.

`struct rq___mine { u64 clock_task; } __attribute__((preserve_access_index))` is a flavour of
`struct rq`: libbpf looks its fields up by their names in the kernel's types when it loads the
scheduler. Here each gets its place from the kernel's structure, which the source includes too. One
that the kernel does not have gets an alignment by which bpf_core_field_exists() knows it.
"""

import re

_FLAVOUR = re.compile(
    r"struct\s+((\w+?)___\w+)\s*\{([^{}]*)\}\s*__attribute__\s*\(\(preserve_access_index\)\)"
)
_BLANK = r"[^\S\n]"
_FIELD = re.compile(
    rf"(?:^|(?<=;))({_BLANK}*)([A-Za-z_](?:\w|\*|{_BLANK})*(?:\*|{_BLANK}))"
    rf"(\w+)((?:{_BLANK}*\[[^\]\n]*\])*){_BLANK}*;",
    re.MULTILINE,
)
_MISSING = "__attribute__((aligned(16384)))"


def placed(text: str) -> str:
    """Return a preprocessed source in which the flavours' fields are where the kernel has them."""

    def replaced(found: re.Match[str]) -> str:
        flavour, kernels, body = found.groups()
        fields = _body(text, kernels)
        if fields is None:
            return found[0]

        def one(field: re.Match[str]) -> str:
            indent, kind, name, array = field.groups()
            if not re.search(rf"\b{name}\b\s*(?:[\[;,:]|__attribute__)", fields):
                return f"{indent}struct {{ {kind}{name}{array} {_MISSING}; }};"
            before = f"char __before_{name}[__builtin_offsetof(struct {kernels}, {name})];"
            return f"{indent}struct {{ {before} {kind}{name}{array}; }};"

        return f"struct {flavour} {{ union {{{_FIELD.sub(one, body)}}}; }}"

    return _FLAVOUR.sub(replaced, text)


def _body(text: str, name: str) -> str | None:
    """Return what a structure's definition has between its braces, None if there is none."""
    found = re.search(rf"\bstruct\s+{name}\s*\{{", text)
    if not found:
        return None
    depth, end = 1, found.end()
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[found.end() : end]
