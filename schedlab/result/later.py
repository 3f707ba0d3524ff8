"""What a later schedlab wrote, as far as this one knows it."""

import copy
import re
from typing import Any

from pydantic import ValidationError

from schedlab import __version__
from schedlab.base.validation import Model, key_path, validate
from schedlab.result.earlier import in_todays_words

_MOST = 50
"""Keys that are left out before the rest counts as something else than a result."""


def validate_known(
    data: dict[str, Any], model: type[Model], where: str
) -> tuple[Model, tuple[str, ...]]:
    """Fit the data of a result to a model.

    Where a later schedlab wrote them, return it without the keys that this one does not know, and
    a line on each.

    Raises:
        UsageError: something else is wrong, or they are of this version or an earlier one.
    """
    data = in_todays_words(data)
    wrote = data.get("version")
    lines: list[str] = []
    if not isinstance(wrote, str) or _numbers(wrote) <= _numbers(__version__):
        return validate(data, model, where), ()
    known = copy.deepcopy(data)
    while len(lines) < _MOST:
        try:
            return model.model_validate(known), tuple(lines)
        except ValidationError as error:
            unknown = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
            left_out = [loc for loc in unknown if _leave_out(known, loc)]
            if not left_out:
                break
            lines += [
                f"{key_path(model, loc)}: schedlab {wrote} wrote it and this one ({__version__})"
                " does not know it; it is left out here, and what it says of the runs is missing"
                for loc in left_out
            ]
    return validate(known, model, where), tuple(lines)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", version)[:3]]


def _leave_out(data: Any, loc: tuple[int | str, ...]) -> bool:
    """Remove a key; return whether it was there. A place may name types between the keys."""
    *keys, last = loc
    for key in keys:
        table = isinstance(data, dict) and key in data
        if table or (isinstance(data, list) and isinstance(key, int)):
            data = data[key]
    return isinstance(data, dict) and data.pop(last, data) is not data
