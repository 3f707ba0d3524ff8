"""Scenarios: a model's workload under a variant's settings, on a machine up for a while."""

from collections.abc import Iterator, Mapping
from typing import Any

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.base.validation import repeated
from schedlab.benchmarks.model import Model
from schedlab.settings import cpuidle, sysctl
from schedlab.settings.kinds import check_place
from schedlab.settings.knob import chosen_word, feature_name
from schedlab.settings.sched_debug import FEATURES, debug_path
from schedlab.settings.variant import IdleState, Variant

SETTLE = "600ms"
"""The machine idles this long first, so that load averages and balance intervals have settled."""

LONGEST = "3600s"
"""Simulated time after which a workload counts as never ending."""

COLD = "none"
"""No warm-up under load: a run is measured from its start on an idle machine."""

_BOOT_OPTIONS = {"isolcpus": "isolcpus=LIST", "psi": "psi=0|1"}
"""Options of the kernel's command line that are simulated, by name."""

SESSION = {"/proc/sys/kernel/sched_autogroup_enabled": "1"}
"""A benchmark's tasks are a session's and share a group, as upstream and systemd have it."""


def settings(variant: Variant) -> dict[str, dict[str, Any]]:
    """Return what a variant sets, as keys of a scenario: features and files.

    Raises:
        UsageError: it sets something that has no meaning in the simulator, or a file twice.
    """
    check_place(variant, "sim")
    if twice := repeated(path for _, path, _ in _files(variant)):
        raise UsageError(f"variant {variant.name}: {twice} is set twice.")
    features = {feature_name(word): word == feature_name(word) for word in variant.sched_features}
    knobs = {path: value for _, path, value in _files(variant)}
    states = {_state(idle): idle.enabled for idle in variant.cpuidle}
    cpufreq = {"governor": variant.governor} if variant.governor else {}
    boot = {"boot": options} if (options := _command_line(variant)) else {}
    cookies = {"core_sched": {"workloads": variant.core_sched}} if variant.core_sched else {}
    return {
        "features": features,
        "knobs": knobs,
        "cpuidle": states,
        "cpufreq": cpufreq,
        **cookies,
        **boot,
    }


def _state(idle: IdleState) -> str:
    """Name an idle state and its CPUs as a scenario does: `C6`, `C6 0-3`."""
    return f"{idle.state} {idle.cpus}" if idle.cpus else idle.state


def _states(variant: Variant) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the simulator's name and the value of each idle state a variant sets."""
    for idle in variant.cpuidle:
        cpus = f" cpus={idle.cpus}" if idle.cpus else ""
        yield (
            f"cpuidle {idle.state} disable{cpus}",
            f"cpuidle {_state(idle)}",
            str(int(not idle.enabled)),
        )


def _governor(variant: Variant) -> Iterator[tuple[str, str, str]]:
    if variant.governor:
        yield "cpufreq governor", "cpufreq governor", variant.governor


def _command_line(variant: Variant) -> dict[str, str]:
    """Return a command line's options with their values, as a scenario's `boot` has them.

    Raises:
        UsageError: one is not simulated, has no value, or is there twice.
    """
    found: dict[str, str] = {}
    for option in variant.cmdline.split():
        name, _, value = option.partition("=")
        if name not in _BOOT_OPTIONS or not value or name in found:
            why = "is there twice" if name in found else "is not simulated"
            raise UsageError(
                f"variant {variant.name}: cmdline {variant.cmdline}: {option} {why}."
                " Of the kernel's command line the simulator has"
                f" {' and '.join(_BOOT_OPTIONS.values())}."
            )
        found[name] = value
    return found


def _boot_options(variant: Variant) -> Iterator[tuple[str, str, str]]:
    for name, value in _command_line(variant).items():
        yield name, name, value


def _cookie(variant: Variant) -> Iterator[tuple[str, str, str]]:
    if variant.core_sched:
        yield "core scheduling", "core scheduling", variant.core_sched


def _files(variant: Variant) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the path and the value of each file a variant sets."""
    for name, value in variant.sched.items():
        yield f"sched {name}", debug_path(name), value
    for name, value in variant.sysctl.items():
        knob = sysctl.knob(name)
        yield knob.label, knob.path, value
    if variant.idle_governor is not None:
        yield "cpuidle governor", cpuidle.GOVERNOR, variant.idle_governor


def _all(variant: Variant) -> Iterator[tuple[str, str, str]]:
    """Yield all but the sched features."""
    for kind in (_files, _states, _governor, _cookie, _boot_options):
        yield from kind(variant)


def shown(variant: Variant) -> dict[str, str]:
    """Return a variant's settings under the names a host's runs record them by."""
    features = {f"sched_feature {feature_name(word)}": word for word in variant.sched_features}
    files = _all(variant)
    return features | {name: value for name, _, value in files}


def read_back(variant: Variant, found: Mapping[str, str]) -> dict[str, str]:
    """Return them with the values a simulator read back: `found` is a path's text.

    Raises:
        IncompleteRun: one of them is not there.
    """
    words = set(found.get(FEATURES, "").split())
    features = {name: words & {name, f"NO_{name}"} for name in settings(variant)["features"]}
    values = {f"sched_feature {name}": " ".join(word) for name, word in features.items()}
    files = _all(variant)
    values |= {name: chosen_word(found.get(path, "")) for name, path, _ in files}
    missing = [name for name, value in values.items() if not value]
    if missing:
        raise IncompleteRun(f"the simulator did not read back {', '.join(missing)}")
    return values


def scenario(
    model: Model, variant: Variant, host_seconds: float, warm_up: str = COLD
) -> dict[str, Any]:
    """Return the scenario of one run; it ends with its workload, or after so much host time.

    `warm_up` is how long its load goes on before it is measured: `settled`, `none` or a time.
    """
    own = settings(variant)
    return {
        "duration": LONGEST,
        **({} if warm_up == COLD else {"warmup": warm_up}),
        "settle": SETTLE,
        "background": True,
        **own,
        "knobs": SESSION | own["knobs"],
        "workloads": [dict(model.workload)],
        "end": {"when": "workloads_done", "max_simulated": LONGEST, "max_host": host_seconds},
    }


def under(variant: Variant, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario written by hand under a variant's settings as well as its own."""
    return {**told, **{key: {**told.get(key, {}), **own} for key, own in settings(variant).items()}}


def trial(variant: Variant) -> Mapping[str, Any]:
    """Return a scenario that only applies a variant's settings."""
    return {"duration": "1ms", **settings(variant)}
