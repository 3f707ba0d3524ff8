"""Scenarios: a model's workload under a variant's settings, on a machine up for a while."""

from collections.abc import Mapping
from typing import Any

from schedlab.errors import UsageError
from schedlab.models.model import Model
from schedlab.variant import Variant

SETTLE = "600ms"
"""The machine idles this long first, so that load averages and balance intervals have settled."""

DAEMONS = 4
"""Small tasks that come and go meanwhile, as on any machine."""

LONGEST = "3600s"
"""Simulated time after which a workload counts as never ending."""

_HOST_ONLY = ("cpuidle", "governor", "env", "prefix", "companion")
_DEBUG_FOLDER = "/sys/kernel/debug/sched"


def settings(variant: Variant) -> dict[str, dict[str, Any]]:
    """Give what a variant sets, as keys of a scenario: features and files.

    Raises:
        UsageError: it sets something that has no meaning in the simulator.
    """
    for name in _HOST_ONLY:
        if getattr(variant, name):
            raise UsageError(
                f"variant {variant.name}: {name} has no meaning on a simulated machine."
                "\n  There are: sched features, sysctl, sched and kernel."
            )
    features = {
        word.removeprefix("NO_"): not word.startswith("NO_") for word in variant.sched_features
    }
    knobs = {f"{_DEBUG_FOLDER}/{name}": str(value) for name, value in variant.sched.items()}
    for name, value in variant.sysctl.items():
        path = name if "/" in name else name.replace(".", "/")
        knobs[f"/proc/sys/{path}"] = str(value)
    return {"features": features, "knobs": knobs}


def shown(variant: Variant) -> dict[str, str]:
    """Give a variant's settings under the names a host's runs record them by."""
    features = {
        f"sched_feature {word.removeprefix('NO_')}": word for word in variant.sched_features
    }
    sched = {f"sched {name}": str(value) for name, value in variant.sched.items()}
    return features | sched | {name: str(value) for name, value in variant.sysctl.items()}


def scenario(model: Model, variant: Variant, host_seconds: float) -> dict[str, Any]:
    """Give the scenario of one run; it ends with its workload, or after so much host time."""
    return {
        "duration": LONGEST,
        "settle": SETTLE,
        "background": DAEMONS,
        **settings(variant),
        "workloads": [dict(model.workload)],
        "end": {"when": "workloads_done", "max_simulated": LONGEST, "max_host": host_seconds},
    }


def under(variant: Variant, told: Mapping[str, Any]) -> dict[str, Any]:
    """Give a scenario written by hand under a variant's settings as well as its own."""
    return {**told, **{key: {**told.get(key, {}), **own} for key, own in settings(variant).items()}}


def trial(variant: Variant) -> Mapping[str, Any]:
    """Give a scenario that only applies a variant's settings."""
    return {"duration": "1ms", **settings(variant)}
