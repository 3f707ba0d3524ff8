"""What this host can switch with effect: variants to offer where the user names none."""

from collections.abc import Iterator

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.base.system.system import natural
from schedlab.settings import sched_debug
from schedlab.settings.kinds import sysctl
from schedlab.settings.kinds.cpuidle import disable_knobs
from schedlab.settings.knob import read_features
from schedlab.settings.variant import without_idle_state

NUMA_BALANCING = sysctl.knob("kernel.numa_balancing")
_STATES = "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/name"


def switchable(system: System) -> list[tuple[str, str]]:
    """Return variants as `--variant` takes them, each with a word on what it does; best first."""
    return [*_numa_balancing(system), *_deepest_idle_state(system), *_wake_affine(system)]


def _numa_balancing(system: System) -> Iterator[tuple[str, str]]:
    knob = NUMA_BALANCING
    if not system.writable(knob.path) or numa_balancing_without(system):
        return
    if knob.read(system) == "0":
        yield "NB-ON: sysctl kernel.numa_balancing=1", "NUMA balancing, now off, switched on"
    else:
        yield "NB-OFF: sysctl kernel.numa_balancing=0", "NUMA balancing, now on, switched off"


def _deepest_idle_state(system: System) -> Iterator[tuple[str, str]]:
    states = {path.split("/")[7]: system.read_or(path, "") for path in system.glob(_STATES)}
    if idle_states_without(system):
        return
    deepest = states[max(states, key=natural)]
    knobs = disable_knobs(system, deepest, None)
    allowed = all(knob.read(system) == "0" for knob in knobs)
    if allowed and all(system.writable(knob.path) for knob in knobs):
        text = without_idle_state(f"NO-{deepest}", deepest)
        yield text, f"the deepest idle state, {deepest}, left out"


def _wake_affine(system: System) -> Iterator[tuple[str, str]]:
    path = sched_debug.features_path(system)
    if not system.writable(path):
        return
    try:
        words = read_features(system, path)
    except KnobError:
        return
    if "WA_IDLE" in words:
        yield "NO-WA-IDLE: NO_WA_IDLE", "wake-affine no longer prefers an idle waking CPU"


def numa_balancing_without(system: System) -> str:
    """Return why NUMA balancing has no effect; empty where it has, or is not there."""
    one_node = len(system.glob("/sys/devices/system/node/node[0-9]*")) < 2
    return "without effect on one node" if one_node and system.exists(NUMA_BALANCING.path) else ""


def idle_states_without(system: System) -> str:
    """Return why no idle state can be switched with effect; empty where one can."""
    states = {path.split("/")[7] for path in system.glob(_STATES)}
    if not states:
        return "no idle states are shown"
    return "" if len(states) > 1 else "there is no second idle state to choose"


def without_effect(system: System) -> list[str]:
    """Return the settings that are without effect here, each with the reason."""
    reasons = {
        NUMA_BALANCING.label: numa_balancing_without(system),
        "cpuidle": idle_states_without(system),
    }
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason]
