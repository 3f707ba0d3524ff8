"""What an earlier schedlab wrote, in the words of this one."""

import copy
from typing import Any

_CPUSET = {"cpus": "cpuset.cpus", "partition": "cpuset.cpus.partition"}
_UCLAMP = {"group": "path", "min": "cpu.uclamp.min", "max": "cpu.uclamp.max"}


def in_todays_words(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a result with the keys of today.

    Before 0.2.0 a variant had `cpuset` and `uclamp`, of which `cgroup` has both.
    """
    plan = data.get("plan")
    variants = plan.get("variant") if isinstance(plan, dict) else None
    if not isinstance(variants, list):
        return data
    today = copy.deepcopy(data)
    for variant in today["plan"]["variant"]:
        if isinstance(variant, dict):
            _put_into_cgroup(variant)
    return today


def _put_into_cgroup(variant: dict[str, Any]) -> None:
    cpuset, uclamp = variant.pop("cpuset", None), variant.pop("uclamp", None)
    if isinstance(cpuset, dict):
        variant["cgroup"] = {"path": "cpuset", **_renamed(cpuset, _CPUSET)}
    elif isinstance(uclamp, dict):
        variant["cgroup"] = _renamed(uclamp, _UCLAMP)


def _renamed(table: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in table.items() if value is not None}
