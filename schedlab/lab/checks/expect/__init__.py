"""What a check expects of a run: one module a kind, each with its table and its watcher."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from pydantic import ValidationError

from schedlab.base.errors import nearest
from schedlab.base.validation import first_problem
from schedlab.lab.checks.expect.expectation import Expectation


def all_kinds() -> Mapping[str, type[Expectation]]:
    """Return every kind of expectation by its name."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    found = {kind.kind: kind for kind in _below(Expectation) if "kind" in vars(kind)}
    return dict(sorted(found.items()))


def parse_expectation(value: object) -> Expectation:
    """Return the expectation that a table stands for.

    Raises:
        ValueError: it names no kind there is, or its keys or values do not fit the kind.
    """
    if isinstance(value, Expectation):
        return value
    kinds = all_kinds()
    if not isinstance(value, dict) or not isinstance(value.get("that"), str):
        raise ValueError(f"is a table with a key `that`: one of {', '.join(kinds)}")
    named = value["that"]
    if named not in kinds:
        raise ValueError(
            f"that: '{named}' is not an expectation.{nearest(named, kinds)}"
            f" There are: {', '.join(kinds)}."
        )
    kind = kinds[named]
    try:
        return kind.model_validate({key: v for key, v in value.items() if key != "that"})
    except ValidationError as error:
        raise ValueError(first_problem(error, kind)) from None


def _below(of: type[Expectation]) -> Iterator[type[Expectation]]:
    for each in of.__subclasses__():
        yield each
        yield from _below(each)
