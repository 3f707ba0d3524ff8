"""Settings that all variants of a plan share: the plan's own, and a named set-up of its machine."""

from collections.abc import Mapping
from typing import Any

from schedlab.base.errors import nearest
from schedlab.machine.model import find_machine

_OF_VARIANTS_ALONE = ("name", "kernel", "boot")
_SIMULATED = "sim:"


def spread(plan: Mapping[str, Any], keys: frozenset[str]) -> Mapping[str, Any]:
    """Return a plan's table with `setup` and `common` written into each of its variants.

    A variant's own setting goes before the plan's, and that before the machine's.

    Raises:
        ValueError: `keys` of a variant has no such setting, or the machine no such set-up.
    """
    shared = [found for found in (_of_machine(plan), plan.get("common")) if found is not None]
    if not shared or not isinstance(plan.get("variant"), list | tuple):
        return plan
    variants = list(plan["variant"])
    for settings in reversed(shared):
        _check(settings, keys.difference(_OF_VARIANTS_ALONE))
        variants = [
            _below(settings, each) if isinstance(each, Mapping) else each for each in variants
        ]
    kept = {key: value for key, value in plan.items() if key not in ("setup", "common")}
    return {**kept, "variant": variants}


def _of_machine(plan: Mapping[str, Any]) -> Any:
    name, target = plan.get("setup"), plan.get("target")
    if name is None:
        return None
    if not isinstance(target, str) or not target.startswith(_SIMULATED):
        raise ValueError("setup: is of a described machine; it needs a target sim:MACHINE")
    known = find_machine(target.removeprefix(_SIMULATED)).setup
    if name not in known:
        raise ValueError(
            f"setup: {target} has no set-up '{name}'.{nearest(str(name), known)}"
            f" It has: {', '.join(known) or 'none'}"
        )
    return known[name]


def _check(settings: Any, keys: frozenset[str]) -> None:
    if not isinstance(settings, Mapping):
        raise ValueError("common: a table of settings is wanted, such as [common]")
    for key in settings:
        if key not in keys:
            raise ValueError(f"common: '{key}' is not a setting.{nearest(key, keys)}")


def _below(shared: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**shared, **variant}
    for key in shared.keys() & variant.keys():
        below, own = shared[key], variant[key]
        if isinstance(below, Mapping) and isinstance(own, Mapping) and key != "companion":
            merged[key] = {**below, **own}
        elif key in ("sched_features", "cpuidle"):
            set_here = {_thing(each) for each in own}
            merged[key] = [each for each in below if _thing(each) not in set_here] + list(own)
    return merged


def _thing(setting: Any) -> object:
    """Return what an entry of a list sets: a feature, an idle state."""
    if isinstance(setting, Mapping):
        return setting.get("state")
    return str(setting).removeprefix("NO_")
