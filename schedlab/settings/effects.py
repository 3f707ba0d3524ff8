"""What a host has, but cannot have an effect here: said by doctor, avoided by `--variant auto`."""

from schedlab.base.system import System
from schedlab.settings.kinds import sysctl

NUMA_BALANCING = sysctl.knob("kernel.numa_balancing")
_STATES = "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/name"


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
