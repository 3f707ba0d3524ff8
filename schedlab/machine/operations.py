"""Figures that machines share: cycles of operations and programs, and what runs besides a load."""

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from schedlab.base.data import data_folder


def with_common(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a machine's table with the common figures that it does not have itself."""
    return _with_background(_with_cycles(data))


def _with_background(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add what runs besides a load, where the machine is one that can be simulated."""
    own = data.get("background")
    if data.get("core") is None and not data.get("cost") and own is None:
        return data
    if own is not None and not isinstance(own, Mapping):
        return data  # refused by the model
    return {**data, "background": {**_background(), **(own or {})}}


def _with_cycles(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the common cycles, where the machine has its core's speed.

    What was measured on the machine itself stands under `cost` and needs none.
    """
    if data.get("core") is None:
        return data
    measured, own = data.get("cost") or {}, data.get("cycles", {})
    if not isinstance(measured, Mapping) or not isinstance(own, Mapping):
        return data  # refused by the model
    common = {name: cycles for name, cycles in _operations().items() if name not in measured}
    cycles = {**common, **own}
    return {**data, **({"cycles": cycles} if cycles else {}), "work": _work(data.get("work"))}


def _work(given: Any) -> Any:
    """Return what programs take, by workload; the machine's own figures go before."""
    if given is None:
        return _programs()
    if not isinstance(given, Mapping) or not all(
        isinstance(own, Mapping) for own in given.values()
    ):
        return given  # refused by the model
    common = _programs()
    return {name: {**common.get(name, {}), **given.get(name, {})} for name in {**common, **given}}


def without_common(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a machine's table without what every machine has."""
    common = {"cycles": _operations(), "work": _programs(), "background": _background()}
    own = {key: _own(table[key], common[key]) for key in common.keys() & table.keys()}
    rest = {key: own.get(key, value) for key, value in table.items()}
    return {key: value for key, value in rest.items() if key not in own or value}


def _own(work: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures that are not the common ones."""
    found: dict[str, Any] = {}
    for name, value in work.items():
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


def _operations() -> Mapping[str, Any]:
    return _common("operations")


def _background() -> Mapping[str, Any]:
    return _common("background")


@functools.cache
def _common(name: str) -> Mapping[str, Any]:
    return tomllib.loads((data_folder("machines") / "common" / f"{name}.toml").read_text())


@functools.cache
def _programs() -> Mapping[str, Any]:
    return tomllib.loads((data_folder("workloads") / "figures.toml").read_text())
