"""The files that a plan names, and where they lie: anywhere, or in a folder beside the plan.

A result keeps a copy of each in its folder `inputs`, and its plan.toml names those: a name that
begins with `inputs/` is of the plan's own folder, wherever that is, and leads nowhere else.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.base.system.inside import inside
from schedlab.plan.targets import SIM

FOLDER = "inputs"
_BESIDE = f"{FOLDER}/"
_MOST_BYTES = 64 << 20
"""No patch, machine or workload is as long."""

Rename = Callable[[str], str]


def beside(plan: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return a plan's table with its names below `inputs/` led to the folder of the plan's file.

    Raises:
        OutsideError: one would lead out of it.
        UsageError: one is not there, a link, or too long.
    """
    return renamed(plan, lambda name: _led(name, file) if name.startswith(_BESIDE) else name)


def _led(name: str, file: Path) -> str:
    place = inside(file.parent.resolve(), name, file)
    if place.is_symlink():
        raise UsageError(
            f"{file}: {name} is a link; a plan reads only files of its own folder there."
        )
    if not place.is_file():
        raise UsageError(
            f"{file}: {name} is missing; copy the whole folder: {FOLDER} belongs beside the plan."
        )
    if place.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{file}: {name} is longer than {_MOST_BYTES >> 20} MiB.")
    return str(place)


def renamed(plan: Mapping[str, Any], rename: Rename) -> dict[str, Any]:
    """Return a plan's table with every name renamed that can be a file's."""
    changed = dict(plan)
    for key in ("suite", "machine", "published"):
        if isinstance(name := plan.get(key), str):
            changed[key] = rename(name)
    target = plan.get("target")
    if isinstance(target, str) and target.startswith(SIM.target("")):
        changed["target"] = SIM.target(rename(target.removeprefix(SIM.target(""))))
    if "workload" in plan:
        changed["workload"] = _list(plan["workload"], rename)
    for key, within in (("benchmark", _in_benchmark), ("kernel", _in_kernel)):
        if isinstance(entries := plan.get(key), list | tuple):
            changed[key] = [
                within(entry, rename) if isinstance(entry, Mapping) else entry for entry in entries
            ]
    return changed


def _list(names: Any, rename: Rename) -> Any:
    if not isinstance(names, list | tuple):
        return names
    return [rename(name) if isinstance(name, str) else name for name in names]


def _in_benchmark(entry: Mapping[str, Any], rename: Rename) -> dict[str, Any]:
    params = entry.get("params")
    if not isinstance(params, Mapping) or not isinstance(file := params.get("file"), str):
        return dict(entry)
    return {**entry, "params": {**params, "file": rename(file)}}


def _in_kernel(entry: Mapping[str, Any], rename: Rename) -> dict[str, Any]:
    changed = dict(entry)
    if "patches" in entry:
        changed["patches"] = _list(entry["patches"], rename)
    if isinstance(config := entry.get("config"), str):
        changed["config"] = rename(config)
    return changed
