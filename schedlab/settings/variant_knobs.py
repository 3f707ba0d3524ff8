"""Which knobs a variant turns on this host, and to what."""

from schedlab.base.errors import KnobError
from schedlab.settings import cpufreq, cpuidle, sched_debug, sysctl
from schedlab.settings.knob import Knob
from schedlab.settings.variant import Variant
from schedlab.system import System


def variant_knobs(system: System, variant: Variant) -> list[tuple[Knob, str]]:
    """Return each knob with its wanted value, in the order they are to be written.

    Raises:
        KnobError: this host has no such knob, or two settings turn the same one.
    """
    wanted: list[tuple[Knob, str]] = []
    wanted += [(sysctl.knob(name), value) for name, value in variant.sysctl.items()]
    wanted += [(sched_debug.feature_knob(system, word), word) for word in variant.sched_features]
    wanted += [(sched_debug.debug_knob(system, name), v) for name, v in variant.sched.items()]
    for idle in variant.cpuidle:
        value = "0" if idle.enabled else "1"
        wanted += [(knob, value) for knob in cpuidle.knobs(system, idle.state, idle.cpus)]
    if variant.idle_governor is not None:
        wanted.append((cpuidle.governor_knob(system, variant.idle_governor), variant.idle_governor))
    if variant.governor is not None:
        wanted += [(knob, variant.governor) for knob in cpufreq.knobs(system)]
    seen: set[Knob] = set()
    for knob, _ in wanted:
        if knob in seen:
            raise KnobError(f"variant {variant.name}: {knob.label} is set twice.")
        seen.add(knob)
    return wanted
