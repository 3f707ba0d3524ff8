"""The row of the platform table that says which functions of the kernel read the settings."""

from collections.abc import Mapping, Sequence

_ROW = "Settings read by"


def row(found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the row, if anything was found."""
    said = [
        f"{setting}: {', '.join(f'{function}()' for function in functions)}"
        for setting, functions in found.items()
        if functions
    ]
    return {_ROW: "; ".join(said)} if said else {}


def read_in(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the functions that read each setting, by the setting's name, where they are known."""
    pairs = (each.partition(": ") for each in environment.get(_ROW, "").split("; "))
    return {
        setting: tuple(name.removesuffix("()") for name in functions.split(", "))
        for setting, _, functions in pairs
        if functions
    }
