# SPDX-License-Identifier: GPL-2.0-only
"""What operations and kfuncs take and answer, read from their declarations, for traces."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PARAMETERS = r"\(([^(){};]*)\)"
_END_OF_DECLARATION = re.compile(rf"\s*{_PARAMETERS}\s*;")
_TYPE = re.compile(r"[\w *]*[ *]$")
_LONGEST_TYPE = 200
_MOST = 6
_QUEUE = "dsq_id"


@dataclass(frozen=True)
class Signature:
    """The names of the arguments, the letter of each one's kind, and that of the answer.

    t: a task. c: a cgroup. p: another pointer. b: a truth value. d, u: a number of 32 bits with a
    sign and without. D, x: the same of 64 bits. v: nothing.
    """

    name: str
    arguments: tuple[str, ...]
    kinds: str
    answer: str
    is_known: bool = True

    @property
    def queue(self) -> int:
        """Return which argument is a dispatch queue's id; -1: none."""
        return self.arguments.index(_QUEUE) if _QUEUE in self.arguments else -1

    def table(self, called: str, scheduler: str) -> str:
        """Return its C."""
        names = "".join(f'"{each}", ' for each in self.arguments)
        return (
            f"static struct shim_signature {called} ="
            f' {{ "{self.name}", {{ {names}}}, "{self.kinds}", \'{self.answer}\','
            f" {self.queue}, .of = &{scheduler} }};"
        )


class Signatures:
    """The declarations of a preprocessed source."""

    def __init__(self, text: str) -> None:
        """Keep the source, and what it says of operations."""
        self._text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
        self._operations = "".join(
            each[1]
            for each in re.finditer(
                r"struct sched_ext_ops(?:_cid)? \{(.*?)^\};", self._text, re.M | re.S
            )
        )

    def of_operation(self, name: str) -> Signature:
        """Return that of an operation."""
        found = re.search(rf"([\w ]+)\(\*{name}\)\s*{_PARAMETERS}", self._operations)
        return _signature(name, found[1], found[2]) if found else _unknown(name)

    def of_function(self, *names: str) -> Signature:
        """Return that of a function, by its name or another one of it."""
        for name in names:
            if found := next(self._declarations(name), None):
                return _signature(names[-1], *found)
        return _unknown(names[-1])

    def _declarations(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the type and the parameters of each.

        The text has some megabytes, and is asked for some hundred names.
        """
        at = self._text.find(name)
        while at >= 0:
            declared = _END_OF_DECLARATION.match(self._text, at + len(name))
            type_ = _TYPE.search(self._text[max(0, at - _LONGEST_TYPE) : at]) if declared else None
            if declared and type_:
                yield type_[0], declared[1]
            at = self._text.find(name, at + 1)


def _unknown(name: str) -> Signature:
    return Signature(name, (), "", "v", is_known=False)


def _signature(name: str, answer: str, between: str) -> Signature:
    parameters = [each.strip() for each in between.split(",") if each.strip() not in ("", "void")]
    names, kinds = [], ""
    for each in parameters[:_MOST]:
        match = re.search(r"(\w+)(?:\[.*\])?$", each)
        names.append(match[1] if match else "")
        kinds += _kind(each)
    return Signature(name, tuple(names), kinds, _kind(f"{answer} result"))


def _kind(declared: str) -> str:
    words = re.sub(r"\w+$", "", declared) if not declared.endswith("]") else declared + "*"
    if "*" in words or "..." in words:
        pointed = re.search(r"struct (task_struct|cgroup)\b", words)
        return {"task_struct": "t", "cgroup": "c"}.get(pointed[1], "p") if pointed else "p"
    if re.search(r"\bvoid\b", words):
        return "v"
    if re.search(r"\b(bool|_Bool)\b", words):
        return "b"
    is_wide = bool(re.search(r"\b(long|\w*64|size_t)\b", words))
    if re.search(r"\b(unsigned|_*u\d+|size_t)\b", words):
        return "x" if is_wide else "u"
    return "D" if is_wide else "d"
