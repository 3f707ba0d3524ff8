# SPDX-License-Identifier: GPL-2.0-only
"""Sections and symbols of an object file of 64 bits, little-endian."""

import struct
from dataclasses import dataclass
from pathlib import Path

WRITES, ALLOCATED, EXECUTES = 1, 2, 4
NOBITS = 8


@dataclass(frozen=True)
class Section:
    """A section: its name, its flags, whether it is without bytes, its bytes."""

    name: str
    kind: int
    flags: int
    content: bytes
    link: int


@dataclass(frozen=True)
class Symbol:
    """A symbol: its section's number is 0 where it is undefined."""

    name: str
    value: int
    size: int
    section: int
    is_weak: bool
    is_local: bool
    is_object: bool
    is_function: bool


class Object:
    """An object file."""

    def __init__(self, path: Path) -> None:
        """Read it whole."""
        data = path.read_bytes()
        at, size, number, names = (
            *struct.unpack_from("<Q", data, 40),
            *struct.unpack_from("<HHH", data, 58),
        )
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(number)]
        text = data[headers[names][4] : headers[names][4] + headers[names][5]]
        self.sections = [
            Section(
                _word(text, name),
                kind,
                flags,
                b"" if kind == NOBITS else data[offset : offset + length],
                link,
            )
            for name, kind, flags, _, offset, length, link, *_ in headers
        ]
        self.symbols = list(self._symbols())

    def section(self, name: str) -> Section | None:
        """Return the section of a name."""
        return next((each for each in self.sections if each.name == name), None)

    def _symbols(self) -> list[Symbol]:
        table = self.section(".symtab")
        if table is None:
            return []
        names = self.sections[table.link].content
        found = []
        for name, info, _, section, value, size in struct.iter_unpack("<IBBHQQ", table.content):
            bind, kind = info >> 4, info & 15
            found.append(
                Symbol(
                    _word(names, name),
                    value,
                    size,
                    section,
                    bind == 2,
                    bind == 0,
                    kind == 1,
                    kind == 2,
                )
            )
        return found


def _word(text: bytes, at: int) -> str:
    return text[at : text.index(b"\0", at)].decode()
