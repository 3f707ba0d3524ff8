"""Numbers in a machine's answers: read, or refused with where they stood and what was there."""

import re
from collections.abc import Sequence

from schedlab.base.errors import HostError
from schedlab.base.printable import printable

_WHOLE = re.compile(r"[0-9]{1,18}")
_AMOUNT = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_LONGEST = 60


def whole(text: str | bytes, where: str) -> int:
    """Read a whole number of at least 0.

    Raises:
        HostError: the text is none, or one that no machine has.
    """
    return int(_read(_WHOLE, text, where, "a whole number"))


def amount(text: str | bytes, where: str) -> float:
    """Read a number of at least 0, with a decimal point or without, such as a counter or a time.

    Raises:
        HostError: the text is none, or one that no machine has.
    """
    return float(_read(_AMOUNT, text, where, "a number"))


def field(fields: Sequence[str], at: int, where: str) -> str:
    """Return one of the fields of a line; HostError where there are fewer."""
    if at >= len(fields):
        raise HostError(f"{where}: at least {at + 1} fields are expected{_found(' '.join(fields))}")
    return fields[at]


def _read(pattern: re.Pattern[str], text: str | bytes, where: str, wanted: str) -> str:
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if not pattern.fullmatch(stripped := text.strip()):
        raise HostError(f"{where}: {wanted} is expected{_found(stripped)}")
    return stripped


def _found(text: str) -> str:
    shown = printable(text[:_LONGEST])
    return f" (found '{shown}{'...' if len(text) > _LONGEST else ''}')."
