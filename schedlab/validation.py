"""Data files against their models: TOML in, one exact sentence out when it does not fit."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from schedlab.errors import UsageError, nearest

Model = TypeVar("Model", bound=BaseModel)


def load_toml(path: Path, model: type[Model]) -> Model:
    """Read a TOML file into a model.

    Raises:
        UsageError: the file cannot be read, is no TOML, or does not fit the model.
    """
    return validate(read_toml(path), model, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; UsageError with file and line where it is none."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: is no TOML: {error}") from error


def validate(data: object, model: type[Model], where: str) -> Model:
    """Fit data to a model; UsageError naming `where`, the key path and the mend."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_problem(error, model)}") from None


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """Say the first thing wrong: `variant[1].sysctl: unknown key ...`."""
    problem = error.errors(include_url=False)[0]
    loc = problem["loc"]
    unknown = loc[-1:] if problem["type"] == "extra_forbidden" else ()
    keys, places = _walk(model, loc[: len(loc) - len(unknown)])
    keys.extend(unknown)
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
    place = f"{path}: " if path else ""
    match problem["type"]:
        case "extra_forbidden":
            known = [key for found in places for key in found.get("properties", {})]
            return f"{place}unknown key.{nearest(str(keys[-1]), known)} Known: {', '.join(known)}."
        case "missing":
            return f"{place}is missing"
        case "value_error":
            return f"{place}{problem['ctx']['error']}"
    given = repr(problem["input"])
    shown = given if len(given) <= 60 else f"{given[:57]}..."
    return f"{place}{problem['msg'][0].lower()}{problem['msg'][1:]} (found {shown})"


def _walk(
    model: type[BaseModel], path: Iterable[int | str]
) -> tuple[list[int | str], list[dict[str, Any]]]:
    """Follow a path of pydantic's through the model's schema: keys on it, and what is there.

    Where a value may be of several types, pydantic goes on with the name of one: that is no key.
    """
    schema = model.model_json_schema()
    keys: list[int | str] = []
    places = _unfolded(schema, schema)
    for part in path:
        inner = [step for place in places if (step := _inside(place, part)) is not None]
        if inner or isinstance(part, int):
            keys.append(part)
            places = [found for step in inner for found in _unfolded(step, schema)]
    return keys, places


def _inside(place: dict[str, Any], part: int | str) -> dict[str, Any] | None:
    """Give what an item or key of a place is; None where it has none of the kind."""
    if isinstance(part, str):
        found = place.get("properties", {}).get(part, place.get("additionalProperties"))
    else:
        fixed = place.get("prefixItems", [])
        found = fixed[part] if part < len(fixed) else place.get("items")
    return found if isinstance(found, dict) else None


def _unfolded(place: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the tables a place of the schema stands for, references and choices followed."""
    if "$ref" in place:
        return [schema["$defs"][place["$ref"].rpartition("/")[2]]]
    if "anyOf" in place:
        return [found for choice in place["anyOf"] for found in _unfolded(choice, schema)]
    return [place]
