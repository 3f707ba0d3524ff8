"""Scenarios: a model's workload under a variant's settings, on a machine up for a while."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, cast

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.model import Model
from schedlab.settings.kinds import check_place, given
from schedlab.settings.kinds.cgroup import CGROUPS, folder_of
from schedlab.settings.kinds.scx_sub import ScxSub
from schedlab.settings.variant import Variant

SETTLE = "600ms"
"""The machine idles this long first, so that load averages and balance intervals have settled."""

LONGEST = "3600s"
"""Simulated time after which a workload counts as never ending."""

COLD = "none"
"""No warm-up under load: a run is measured from its start on an idle machine."""

SETTLED = "settled"
"""A warm-up under load until the scheduler's slow state is the load's."""

_AUTOGROUPS = "/proc/sys/kernel/sched_autogroup_enabled"
SESSION = {_AUTOGROUPS: "1"}
"""A benchmark's tasks are a session's and share a group, as upstream and systemd have it."""

_BRIEF = {"kind": "nanosleep", "processes": 1, "time": "1us"}
"""A workload for the settings that are of workloads: of a scenario without one they are refused."""

_ALWAYS = ("features", "knobs", "cpuidle", "cpufreq")
"""Tables that every scenario has."""


def settings(variant: Variant) -> dict[str, dict[str, Any]]:
    """Return what a variant sets, as keys of a scenario: features and files.

    Raises:
        UsageError: it sets something that has no meaning in the simulator, or a file twice.
    """
    check_place(variant, "sim")
    tables: dict[str, dict[str, Any]] = {table: {} for table in _ALWAYS}
    for each in given(variant):
        table = tables.setdefault(each.table, {})
        if each.key in table:
            raise UsageError(f"variant {variant.name}: {each.key} is set twice.")
        table[each.key] = each.value
    return tables


def check_groups(model: Model, variant: Variant) -> None:
    """Refuse a variant with a sub-scheduler of a group that no run of a model has.

    Raises:
        UsageError: it has one.
    """
    listed = cast("list[Mapping[str, str]]", model.beside.get("groups", []))
    there = {each["path"] for each in listed}
    if folder := folder_of(variant).removeprefix(CGROUPS):
        there |= {folder, *map(str, PurePosixPath(folder).parents)}
    for group in ScxSub.of(variant):
        if f"/{group}" not in there:
            raise UsageError(
                f"variant {variant.name}: scx-sub {group}: no run has this group;"
                f" `cgroup {group}` is missing."
            )


def autogroups_do_nothing(variant: Variant, session: str | None) -> str:
    """Return why a variant's switch of autogroups changes nothing on a machine; empty if it may."""
    if not session or _AUTOGROUPS not in {each.key for each in given(variant)}:
        return ""
    return (
        "kernel.sched_autogroup_enabled has no effect on this machine: as under systemd, its tasks"
        f" are in the cgroup {session}, and autogroups are for tasks in the root cgroup only"
    )


def shown(variant: Variant) -> dict[str, str]:
    """Return a variant's settings under the names a host's runs record them by."""
    return {each.label: each.shown for each in given(variant)}


def read_back(variant: Variant, found: Mapping[str, str]) -> dict[str, str]:
    """Return them with the values a simulator read back: `found` is a path's text.

    Raises:
        IncompleteRun: one of them is not there.
    """
    values = {each.label: each.read_back(found.get(each.place, "")) for each in given(variant)}
    missing = [name for name, value in values.items() if not value]
    if missing:
        raise IncompleteRun(f"the simulator did not read back {', '.join(missing)}")
    return values


def scenario(
    model: Model,
    variant: Variant,
    host_seconds: float,
    warm_up: str = COLD,
    picture: bool = False,
) -> dict[str, Any]:
    """Return the scenario of one run; it ends with its workload, or after so much host time.

    `warm_up` is how long its load goes on before it is measured: `settled`, `none` or a time.
    `picture` has the result tell what each CPU did when.
    """
    own = settings(variant)
    check_groups(model, variant)
    return {
        "duration": LONGEST,
        **({} if warm_up == COLD else {"warmup": warm_up}),
        "settle": SETTLE,
        "background": True,
        **({"picture": True} if picture else {}),
        **model.beside,
        **own,
        "knobs": SESSION | own["knobs"],
        "workloads": [dict(model.workload)],
        "end": {"when": "workloads_done", "max_simulated": LONGEST, "max_host": host_seconds},
    }


def under(variant: Variant, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario written by hand under a variant's settings as well as its own."""
    return {
        **asked,
        **{key: {**asked.get(key, {}), **own} for key, own in settings(variant).items()},
    }


def trial(variant: Variant) -> Mapping[str, Any]:
    """Return a scenario that only applies a variant's settings."""
    return {"duration": "1ms", **settings(variant), "workloads": [dict(_BRIEF)]}
