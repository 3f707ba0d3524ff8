"""cpuidle: states, allowed or not, on all CPUs or some; and the governor that chooses them."""

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import KnobError, nearest
from schedlab.settings.knob import FileKnob, cpu_of
from schedlab.system import System

GOVERNOR = "/sys/devices/system/cpu/cpuidle/current_governor"
_GOVERNORS = "/sys/devices/system/cpu/cpuidle/available_governors"


def governor_knob(system: System, governor: str) -> FileKnob:
    """Return the knob of the cpuidle governor.

    Raises:
        KnobError: this kernel has no such governor, or none at all.
    """
    available = system.read_or(_GOVERNORS, "").split()
    if not available:
        raise KnobError("idle-governor: this host has no cpuidle governors to choose from.")
    if governor not in available:
        raise KnobError(
            f"idle-governor: no cpuidle governor '{governor}' in this kernel."
            f"{nearest(governor, available)} It has: {', '.join(sorted(available))}."
        )
    return FileKnob(GOVERNOR, "cpuidle governor")


def knobs(system: System, state: str, cpus: str | None) -> list[FileKnob]:
    """Return the `disable` knob of a state (its name, or `stateN`) on each CPU that has it.

    Raises:
        KnobError: no CPU asked for has such a state.
    """
    wanted = None if cpus is None else set(parse_cpulist(cpus))
    found = []
    names: set[str] = set()
    for path in system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/name"):
        cpu, folder = cpu_of(path), path.split("/")[7]
        name = system.read_or(path, folder)
        names.add(name)
        if (wanted is None or cpu in wanted) and state in (name, folder):
            disable = path.removesuffix("name") + "disable"
            found.append(FileKnob(disable, f"cpuidle {name} disable", cpu))
    if not found:
        if not names:
            raise KnobError(
                f"cpuidle {state}: this host shows no idle states (usual in a virtual machine)."
            )
        where = f" on CPUs {cpus}" if cpus else ""
        raise KnobError(
            f"cpuidle: no idle state '{state}'{where}.{nearest(state, names)}"
            f" It has: {', '.join(sorted(names))}."
        )
    return found
