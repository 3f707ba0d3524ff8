"""Settings as a command line has them: `NO_WA_IDLE; sysctl kernel.numa_balancing=0`."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from schedlab.base.errors import UsageError, nearest
from schedlab.settings.kinds import listed_settings
from schedlab.settings.setting import EVERYWHERE, PLACES, Setting

# Between quotes and behind a backslash a semicolon or a newline is part of the setting.
_SETTING = re.compile(
    r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\\?\Z)|\\(?:.|\Z)|[^;\n'"\\])+""", re.DOTALL
)


def syntaxes() -> list[str]:
    """Return how each kind is written, with the places of those that are not for all."""
    return [
        kind.syntax
        if kind.where == EVERYWHERE
        else f"{kind.syntax} ({', '.join(place for place in PLACES if place in kind.where)})"
        for kind in listed_settings()
    ]


def settings_written(variant: Any) -> list[str]:
    """Return a variant's settings as the command line has them; `parse_settings` inverts it."""
    return [
        f"{kind.head}{text}"
        for kind in listed_settings()
        if (value := kind.of(variant))
        for text in kind.written(value)
    ]


def parse_settings(text: str, where: str) -> dict[str, object]:
    """Parse settings separated by semicolons or lines into the keys of a plan file.

    Raises:
        UsageError: an unknown kind, a setting that is not complete, or one that is given twice.
    """
    fields: dict[str, object] = {}
    for part in _SETTING.findall(text):
        if setting := part.strip():
            kind, words = _kind_and_words(setting, where)
            value = kind.parse(words)
            if value is None:
                raise UsageError(f"{where}: '{setting}': write it as {kind.syntax}")
            try:
                known = kind.key in fields
                fields[kind.key] = kind.add(fields[kind.key], value) if known else value
            except ValueError as error:
                raise UsageError(f"{where}: '{setting}': {error}") from None
    return fields


def _kind_and_words(setting: str, where: str) -> tuple[Setting[Any], Sequence[str]]:
    kinds = listed_settings()
    for kind in kinds:
        if kind.head.endswith("="):
            setting = re.sub(rf"^{re.escape(kind.name)}\s*=\s*", f"{kind.name} ", setting)
    try:
        name, *words = shlex.split(setting)
    except ValueError:
        raise UsageError(
            f"{where}: '{setting}': a quotation mark is not closed, or nothing follows a backslash"
        ) from None
    by_name = {kind.name: kind for kind in kinds if kind.head}
    if name in by_name:
        return by_name[name], words
    for kind in kinds:
        if kind.begins(name) and not words:
            return kind, [name]
    raise UsageError(
        f"{where}: no setting is called '{name}'.{nearest(name, by_name)}"
        f"\n  Settings: {'; '.join(syntaxes())}."
    )
