"""What this host can really switch: the variants to offer where the user names none."""

from collections.abc import Iterator

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.base.system.system import natural
from schedlab.settings import sched_debug
from schedlab.settings.effects import (
    NUMA_BALANCING,
    idle_states_without,
    numa_balancing_without,
)
from schedlab.settings.kinds.cpuidle import disable_knobs
from schedlab.settings.knob import read_features
from schedlab.settings.variant import without_idle_state


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
    names = system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/name")
    states = {path.split("/")[7]: system.read_or(path, "") for path in names}
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
