"""The kinds of settings, one module each; every module of this package is loaded."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.settings.setting import PLACES, REGISTRY, Setting, Simulated

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def all_settings() -> list[Setting[Any]]:
    """Return every kind, in the order of a variant's keys and of writing knobs."""
    return sorted(REGISTRY.values(), key=lambda kind: kind.rank)


def listed_settings() -> list[Setting[Any]]:
    """Return every kind in the order of the help: words alone come first."""
    return sorted(all_settings(), key=lambda kind: bool(kind.head))


def settings_in(place: str) -> list[Setting[Any]]:
    """Return the kinds that mean something in a place."""
    return [kind for kind in listed_settings() if place in kind.where]


def check_place(variant: Any, place: str) -> None:
    """Refuse a variant that sets what means nothing in a place.

    Raises:
        UsageError: it does; the message says why, and where it would mean something.
    """
    for kind in all_settings():
        if place not in kind.where and kind.of(variant):
            where = " or ".join(PLACES[other][1] for other in PLACES if other in kind.where)
            here = ", ".join(other.name for other in settings_in(place))
            raise UsageError(
                f"variant {variant.name}: {kind.name} has no meaning on {PLACES[place][0]}:"
                f" {kind.elsewhere[place]}.\n  It is for {where}. Here there are: {here}."
            )
        if value := kind.of(variant):
            try:
                kind.check_in(place, value)
            except ValueError as error:
                raise UsageError(f"variant {variant.name}: {error}") from None


def given(variant: Any) -> Iterator[Simulated]:
    """Yield what each of a variant's settings writes into a scenario of the simulator.

    Raises:
        UsageError: one of them cannot be simulated.
    """
    for kind in all_settings():
        if value := kind.of(variant):
            try:
                yield from kind.simulated(value)
            except ValueError as error:
                raise UsageError(f"variant {variant.name}: {error}") from None


WITHOUT_EFFECT = tuple(each for kind in all_settings() for each in kind.without_effect)


def without_effect(variant: Any, series: str) -> Iterator[str]:
    """Return a sentence for each setting of a variant that changes nothing in a series."""
    keys = {each.key for each in given(variant)}
    for each in WITHOUT_EFFECT:
        if each.key in keys and series in each.series:
            yield f"{each.name} has no effect in the simulator: {each.reason}"
