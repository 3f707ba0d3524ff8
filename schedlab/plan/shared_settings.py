"""Settings that all variants of a plan share: the plan's own, and a named set-up of its machine."""

from collections.abc import Iterator, Mapping
from typing import Any

from schedlab.base.errors import UsageError, nearest
from schedlab.base.validation import validate
from schedlab.machine.model import find_machine
from schedlab.plan.targets import HOST, SIM, split
from schedlab.settings.kinds import all_settings
from schedlab.settings.variant import Variant


def spread(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a plan's table with `setup` and `common` written into each of its variants.

    A variant's own setting goes before the plan's, and that before the machine's.

    Raises:
        ValueError: there is no such setting, or the machine has no such set-up.
    """
    shared = list(_of_machine(plan))
    if plan.get("common") is not None:
        shared.append(("common", plan["common"]))
    if not shared or not isinstance(plan.get("variant"), list | tuple):
        return plan
    variants = list(plan["variant"])
    for where, settings in reversed(shared):
        check(settings, where)
        variants = [
            _below(settings, each) if isinstance(each, Mapping) else each for each in variants
        ]
    kept = {key: value for key, value in plan.items() if key not in ("setup", "common")}
    return {**kept, "variant": variants}


def check(settings: Any, where: str) -> None:
    """Refuse settings that variants cannot share.

    Raises:
        ValueError: one is not a setting, or has no such value; `where` is named.
    """
    if not isinstance(settings, Mapping):
        raise ValueError(f"{where}: a table of settings is expected, such as [common]")
    kinds = {kind.key: kind for kind in all_settings()}
    keys = [key for key, kind in kinds.items() if kind.shared]
    for key in settings:
        if key not in kinds:
            raise ValueError(f"{where}: '{key}' is not a setting.{nearest(key, keys)}")
        if key not in keys:
            raise ValueError(f"{where}: {key} is a variant's own; give it in [[variant]]")
    try:
        validate({"name": "shared", **settings}, Variant, where)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _of_machine(plan: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a plan's set-up is called, and its settings, if it names one."""
    name, target = plan.get("setup"), plan.get("target")
    if name is None:
        return
    if not isinstance(name, str):
        raise ValueError('setup: the name of one set-up is expected, such as setup = "no-C6"')
    kind, which = split(target) if isinstance(target, str) else (HOST, "")
    if not kind.simulated:
        raise ValueError(f"setup: belongs to a machine file; it needs a target {SIM.syntax}")
    known = find_machine(which).setup
    if name not in known:
        raise ValueError(
            f"setup: {target} has no set-up '{name}'.{nearest(name, known)}"
            f" It has: {', '.join(known) or 'none'}"
        )
    yield f"[setup.{name}] of {target}", known[name]


def _below(shared: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**shared, **variant}
    for kind in all_settings():
        if kind.key in shared and kind.key in variant:
            merged[kind.key] = kind.over(shared[kind.key], variant[kind.key])
    return merged
