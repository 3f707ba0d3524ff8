"""Settings that all variants of a plan share: the plan's own, and a named set-up of its machine."""

from collections.abc import Collection, Mapping
from typing import Any

from schedlab.base.errors import nearest
from schedlab.machine.model import find_machine
from schedlab.plan.targets import HOST, SIM, split
from schedlab.settings.kinds import all_settings


def spread(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a plan's table with `setup` and `common` written into each of its variants.

    A variant's own setting goes before the plan's, and that before the machine's.

    Raises:
        ValueError: there is no such setting, or the machine has no such set-up.
    """
    shared = [found for found in (_of_machine(plan), plan.get("common")) if found is not None]
    if not shared or not isinstance(plan.get("variant"), list | tuple):
        return plan
    variants = list(plan["variant"])
    keys = [kind.key for kind in all_settings() if kind.shared]
    for settings in reversed(shared):
        _check(settings, keys)
        variants = [
            _below(settings, each) if isinstance(each, Mapping) else each for each in variants
        ]
    kept = {key: value for key, value in plan.items() if key not in ("setup", "common")}
    return {**kept, "variant": variants}


def _of_machine(plan: Mapping[str, Any]) -> Any:
    name, target = plan.get("setup"), plan.get("target")
    if name is None:
        return None
    kind, which = split(target) if isinstance(target, str) else (HOST, "")
    if not kind.simulated:
        raise ValueError(f"setup: belongs to a machine file; it needs a target {SIM.syntax}")
    known = find_machine(which).setup
    if name not in known:
        raise ValueError(
            f"setup: {target} has no set-up '{name}'.{nearest(str(name), known)}"
            f" It has: {', '.join(known) or 'none'}"
        )
    return known[name]


def _check(settings: Any, keys: Collection[str]) -> None:
    if not isinstance(settings, Mapping):
        raise ValueError("common: a table of settings is expected, such as [common]")
    for key in settings:
        if key not in keys:
            raise ValueError(f"common: '{key}' is not a setting.{nearest(key, keys)}")


def _below(shared: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**shared, **variant}
    for kind in all_settings():
        if kind.key in shared and kind.key in variant:
            merged[kind.key] = kind.over(shared[kind.key], variant[kind.key])
    return merged
