"""Data files against their models: TOML in, one exact sentence out when it does not fit."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from schedlab.base.errors import UsageError, nearest
from schedlab.base.files import read_text

Model = TypeVar("Model", bound=BaseModel)

LONGEST_NAME = 200
"""Characters of a name or label of a user's."""

_MOST_BYTES = 1 << 20
_DEEPEST_KEY = 16
_MOST_TYPES = 4
"""Types that one value may be of."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP = re.compile(
    rf"(?:^|[\[{{,])[ \t]*+{_PART}(?:\.[ \t]*+{_PART}){{{_DEEPEST_KEY},}}+[=\]]", re.MULTILINE
)


class Data(BaseModel):
    """A table of a file: a key that is not known is refused, and nothing changes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class KeptData(Data, extra="ignore"):
    """A table of a result: keys that a later version wrote into it are passed over."""


def load_toml(path: Path, model: type[Model]) -> Model:
    """Read a TOML file into a model.

    Raises:
        UsageError: the file cannot be read, is not TOML, or does not fit the model.
    """
    return validate(read_toml(path), model, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; UsageError with file and line where it is not one."""
    return parse_toml(toml_text(path), path)


def toml_text(path: Path) -> str:
    """Read the text of a TOML file, whatever it is; UsageError where it cannot be read."""
    return read_text(path, _MOST_BYTES)


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return what the text of a TOML file says; UsageError with file and line if it is not one."""
    if deep := _DEEP.search(text):
        # The time tomllib takes rises with the square of a key's parts.
        line = text.count("\n", 0, deep.start()) + 1
        raise UsageError(f"{path}:{line}: a key has more than {_DEEPEST_KEY} parts")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        raise UsageError(f"{path}: is not TOML: {error}") from error


def validate(data: object, model: type[Model], where: str) -> Model:
    """Fit data to a model; UsageError naming `where`, the key path and the mend."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_problem(error, model)}") from None


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first thing wrong: `variant[1].sysctl: unknown key ...`."""
    problem, *others = error.errors(include_url=False)
    loc = problem["loc"]
    unknown = loc[-1:] if problem["type"] == "extra_forbidden" else ()
    keys, places = _walk(model, loc[: len(loc) - len(unknown)])
    keys.extend(unknown)
    path = _path(keys)
    place = f"{_shortened(path, 200)}: " if path else ""
    match problem["type"]:
        case "extra_forbidden":
            known = [key for found in places for key in found.get("properties", {})]
            return f"{place}unknown key.{nearest(str(keys[-1]), known)} Known: {', '.join(known)}."
        case "missing":
            return f"{place}is missing"
        case "value_error":
            return f"{place}{_shortened(str(problem['ctx']['error']), 500)}"
    # Where a value may be of several types, each of them has its problem with it.
    near = islice(others, _MOST_TYPES)
    alike = [other for other in near if _walk(model, other["loc"])[0] == keys]
    wanted = " or ".join(dict.fromkeys(_wanted(each) for each in (problem, *alike)))
    try:
        given = repr(_plain(problem["input"]))
    except ValueError:  # Python writes no number of more than some thousand digits
        given = "a number of thousands of digits"
    except RecursionError:
        given = "lists within lists"
    return f"{place}{wanted} is expected (found {_shortened(given, 60)})"


def key_path(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """Return the path of a key that a model does not have, from where pydantic met it."""
    keys, _ = _walk(model, loc[:-1])
    return _shortened(_path([*keys, loc[-1]]), 200)


def _path(keys: Iterable[int | str]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def _plain(value: object) -> object:
    """Return a value as a plan file has it: a table for a model."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that stands there twice, or None."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


_WANTED = {
    "bool": "true or false",
    "dict": "a table, such as { key = ... }",
    "finite": "a finite number",
    "float": "a number",
    "int": "a whole number",
    "list": "a list, such as [...]",
    "model": "a table, such as { key = ... }",
    "string": "a text in quotes",
    "tuple": "a list, such as [...]",
}
"""What a value must be, by how pydantic's name of the problem begins."""


def _wanted(problem: ErrorDetails) -> str:
    """Return what a value must be, in the words of a plan file."""
    limits = problem.get("ctx", {})
    match problem["type"]:
        case "greater_than":
            return f"more than {limits['gt']}"
        case "greater_than_equal":
            return f"at least {limits['ge']}"
        case "less_than":
            return f"less than {limits['lt']}"
        case "less_than_equal":
            return f"at most {limits['le']}"
        case "too_short":
            return f"a list of {limits['min_length']} or more entries"
        case "too_long":
            return f"a list of at most {limits['max_length']} entries"
        case "string_too_short":
            return "a text that is not empty"
        case "string_too_long":
            return f"a text of at most {limits['max_length']} characters"
        case "literal_error":
            return str(limits["expected"])
        case "int_parsing_size":
            return "a smaller number"
    return _WANTED.get(problem["type"].partition("_")[0], "another kind of value")


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _walk(
    model: type[BaseModel], path: Iterable[int | str]
) -> tuple[list[int | str], list[dict[str, Any]]]:
    """Follow a path of pydantic's through the model's schema: keys on it, and what is there.

    Where a value may be of several types, pydantic adds the name of one: that is not a key.
    """
    schema = _schema(model)
    keys: list[int | str] = []
    places = _unfolded(schema, schema)
    for part in path:
        inner = [step for place in places if (step := _inside(place, part)) is not None]
        if inner or isinstance(part, int):
            keys.append(part)
            places = [found for step in inner for found in _unfolded(step, schema)]
    return keys, places


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _inside(place: dict[str, Any], part: int | str) -> dict[str, Any] | None:
    """Return what an item or key of a place is; None where it has none of the kind."""
    if isinstance(part, str):
        found = place.get("properties", {}).get(part, place.get("additionalProperties"))
    else:
        fixed = place.get("prefixItems", [])
        found = fixed[part] if part < len(fixed) else place.get("items")
    return found if isinstance(found, dict) else None


def _unfolded(place: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables that a place of the schema stands for; follows references and choices."""
    if "$ref" in place:
        return [schema["$defs"][place["$ref"].rpartition("/")[2]]]
    choices = place.get("anyOf") or place.get("oneOf")
    if choices:
        return [found for choice in choices for found in _unfolded(choice, schema)]
    return [place]
