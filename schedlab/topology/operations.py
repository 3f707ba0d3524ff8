"""Cycles of the kernel's operations and of programs: the same code takes the same everywhere."""

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from schedlab.data import data_folder


def with_cycles(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a machine's table with the common figures, where it tells its core's speed.

    What was measured on the machine itself stands under `cost` and needs none.
    """
    if data.get("core") is None:
        return data
    measured = data.get("cost") or {}
    common = {name: cycles for name, cycles in _operations().items() if name not in measured}
    told = {**common, **data.get("cycles", {})}
    return {**data, **({"cycles": told} if told else {}), "work": _work(data.get("work"))}


def _work(told: Any) -> Any:
    """Return what programs take, by workload; the machine's own figures go before."""
    if told is None:
        return _programs()
    if not isinstance(told, Mapping) or not all(isinstance(own, Mapping) for own in told.values()):
        return told  # refused by the model
    common = _programs()
    return {name: {**common.get(name, {}), **told.get(name, {})} for name in {**common, **told}}


def without_common(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a machine's table without what every machine has."""
    common = {"cycles": _operations(), "work": _programs()}
    own = {key: _own(table[key], common[key]) for key in common.keys() & table.keys()}
    rest = {key: own.get(key, value) for key, value in table.items()}
    return {key: value for key, value in rest.items() if key not in own or value}


def _own(told: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures that are not the common ones."""
    found: dict[str, Any] = {}
    for name, value in told.items():
        figure = common.get(name, {})
        if isinstance(value, Mapping):
            if inner := _own(value, figure):
                found[name] = inner
        elif value != figure.get("value"):
            found[name] = value
    return found


def nanoseconds(cycles: int, mhz: float, ipc: float) -> str:
    """Return the time of so many cycles of a Zen 3, at least one nanosecond."""
    return f"{max(1, round(cycles * 1000 / (mhz * ipc)))}ns"


@functools.cache
def _operations() -> Mapping[str, Any]:
    return tomllib.loads((data_folder("machines") / "common" / "operations.toml").read_text())


@functools.cache
def _programs() -> Mapping[str, Any]:
    return tomllib.loads((data_folder("workloads") / "figures.toml").read_text())
