"""What an earlier schedlab wrote, in the words of this one."""

from typing import Any

_CPUSET = {"cpus": "cpuset.cpus", "partition": "cpuset.cpus.partition"}
_UCLAMP = {"group": "path", "min": "cpu.uclamp.min", "max": "cpu.uclamp.max"}


def in_todays_words(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a result with the keys of today.

    Before 0.2.0 a variant had `cpuset` and `uclamp`, of which `cgroup` has both.
    """
    plan = data.get("plan")
    variants = plan.get("variant") if isinstance(plan, dict) else None
    if not isinstance(plan, dict) or not isinstance(variants, list):
        return data
    return {**data, "plan": {**plan, "variant": [_with_cgroup(each) for each in variants]}}


def _with_cgroup(variant: object) -> object:
    if not isinstance(variant, dict):
        return variant
    today = {key: value for key, value in variant.items() if key not in ("cpuset", "uclamp")}
    cpuset, uclamp = variant.get("cpuset"), variant.get("uclamp")
    if isinstance(cpuset, dict):
        today["cgroup"] = {"path": "cpuset", **_renamed(cpuset, _CPUSET)}
    elif isinstance(uclamp, dict):
        today["cgroup"] = _renamed(uclamp, _UCLAMP)
    return today


def _renamed(table: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in table.items() if value is not None}
