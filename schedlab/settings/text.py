"""Texts that settings are made of, each refused where it could not take effect."""

import os
import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.validation import LONGEST_NAME

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,{LONGEST_NAME - 1}}}")
PACKAGE = ".deb"
"""How a file that is a package of Debian's format ends."""
_LARGEST_VALUE = 4095
"""A page, less the newline behind the value."""


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"'{text}' is not a name; use letters, digits and . _ + -, at most {LONGEST_NAME}"
        )
    return text


def _kernel(text: str) -> str:
    return _line(text) if text.endswith(PACKAGE) else _name(text)


def _argument(text: str) -> str:
    """Refuse what cannot be passed to a program."""
    if "\0" in text or (not text.isascii() and re.search("[\ud800-\udfff]", text)):
        raise ValueError(f"{text!r} cannot be passed to a program")
    return text


def _line(text: str) -> str:
    if not text.replace("\t", " ").isprintable():
        raise ValueError(f"{text!r} has control characters")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return _line(text)


def _word(text: str) -> str:
    if len(_filled(text).split()) != 1:
        raise ValueError(f"'{text}' is not one word")
    return text


def _key(text: str) -> str:
    if "=" in _filled(text):
        raise ValueError(f"'{text}' has a '='")
    return text


def _knob_name(text: str) -> str:
    if "" in re.split(r"[./]", text) or " " in _key(text):
        raise ValueError(f"'{text}' is not the name of a knob")
    return text


def _as_text(value: object) -> object:
    """Take a whole number, as plan files have them, for the text that is written to the kernel."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 2**64:
            raise ValueError("the number is too large: no knob holds more than 64 bits")
        return str(value)
    return value


def _one_write(text: str) -> str:
    if (size := len(os.fsencode(_filled(text)))) > _LARGEST_VALUE:
        raise ValueError(
            f"is {size} bytes long; a kernel file takes at most {_LARGEST_VALUE} in one write"
        )
    return text


def _cpulist(text: str) -> str:
    if not parse_cpulist(text):
        raise ValueError("names no CPU")
    return text


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and not words[0].strip():
        raise ValueError("the command is empty")
    return words


Name = Annotated[str, AfterValidator(_name)]
"""The name of a variant."""
KernelName = Annotated[str, AfterValidator(_kernel)]
"""The name of a kernel, or the file of a package with one."""
KnobName = Annotated[str, AfterValidator(_knob_name)]
Key = Annotated[str, AfterValidator(_key)]
Value = Annotated[str, BeforeValidator(_as_text), AfterValidator(_one_write)]
"""What is written to a kernel file."""
Word = Annotated[str, AfterValidator(_word)]
Argument = Annotated[str, AfterValidator(_argument)]
Line = Annotated[str, AfterValidator(_line)]
Filled = Annotated[str, AfterValidator(_filled)]
CpuList = Annotated[str, AfterValidator(_cpulist)]
Words = Annotated[tuple[Argument, ...], AfterValidator(_command)]
"""A command and its arguments."""
