# SPDX-License-Identifier: GPL-2.0-only
"""Types and variables in an object's BTF: what its maps hold, what its tunables are."""

import struct
from dataclasses import dataclass, field

INT, PTR, ARRAY, STRUCT, UNION, ENUM = 1, 2, 3, 4, 5, 6
TYPEDEF, VOLATILE, CONST, RESTRICT, VAR, DATASEC = 8, 9, 10, 11, 14, 15
FUNC_PROTO = 13
_HEADER = 24
_SIGNED, _BOOL = 1, 4


@dataclass
class Type:
    """A type, or a variable: what is of use here."""

    name: str
    kind: int
    size: int
    """Bytes, or the type it refers to."""
    members: list[tuple[str, int]] = field(default_factory=list)
    """Of a structure: names and types. Of a section: its variables' types alone. Of an enumeration:
    names and numbers."""
    offsets: list[int] = field(default_factory=list)
    """Of a structure: the bytes before each member; -1 for bits of one."""
    count: int = 0
    """Of an array."""
    encoding: int = 0
    """Of an integer, or of an enumeration."""


class Btf:
    """The types of a section `.BTF`, by number."""

    def __init__(self, data: bytes) -> None:
        """Read them all."""
        _, _, _, _, types, types_size, names, names_size = struct.unpack_from("<HBBIIIII", data)
        self._names = data[_HEADER + names : _HEADER + names + names_size]
        self.types = [Type("void", 0, 0)]
        at, end = _HEADER + types, _HEADER + types + types_size
        while at < end:
            at = self._read(data, at)

    def variables(self, section: str) -> list[Type]:
        """Return the variables of a section."""
        return [
            self.types[number]
            for each in self.types
            if each.kind == DATASEC and each.name == section
            for _, number in each.members
        ]

    def plain(self, number: int) -> tuple[Type, set[int]]:
        """Return a type without qualifiers and names, and the kinds that were stripped."""
        stripped = set()
        while self.types[number].kind in (TYPEDEF, VOLATILE, CONST, RESTRICT):
            stripped.add(self.types[number].kind)
            number = self.types[number].size
        return self.types[number], stripped

    def size(self, number: int) -> int:
        """Return how many bytes a type takes."""
        found, _ = self.plain(number)
        if found.kind == PTR:
            return 8
        if found.kind == ARRAY:
            return found.count * self.size(found.size)
        return found.size

    def _name(self, at: int) -> str:
        return self._names[at : self._names.index(b"\0", at)].decode()

    def _read(self, data: bytes, at: int) -> int:
        name, info, size = struct.unpack_from("<III", data, at)
        number, kind = info & 0xFFFF, info >> 24 & 0x1F
        each = Type(self._name(name), kind, size)
        self.types.append(each)
        at += 12
        if kind == INT:
            each.encoding = data[at + 3]
            return at + 4
        if kind == ARRAY:
            each.size, _, each.count = struct.unpack_from("<III", data, at)
            return at + 12
        if kind in (STRUCT, UNION):
            for i in range(number):
                member, of, bit = struct.unpack_from("<III", data, at + 12 * i)
                if info >> 31:
                    bit = -8 if bit >> 24 else bit & 0xFFFFFF
                each.members.append((self._name(member), of))
                each.offsets.append(bit // 8)
            return at + 12 * number
        if kind == ENUM:
            found = [struct.unpack_from("<Ii", data, at + 8 * i) for i in range(number)]
            # gcc 12 does not say that one has a sign.
            each.encoding = _SIGNED if info >> 31 or any(value < 0 for _, value in found) else 0
            each.members = [(self._name(member), value) for member, value in found]
            return at + 8 * number
        if kind == DATASEC:
            each.members = [
                ("", struct.unpack_from("<I", data, at + 12 * i)[0]) for i in range(number)
            ]
            return at + 12 * number
        # func_proto, enum64, var, decl_tag
        return at + {13: 8 * number, 19: 12 * number, 14: 4, 17: 4}.get(kind, 0)


def is_signed(each: Type) -> bool:
    """Return whether an integer has a sign."""
    return bool(each.encoding & _SIGNED)


def is_flag(each: Type) -> bool:
    """Return whether an integer is a truth value."""
    return bool(each.encoding & _BOOL)
