"""cpuidle: how often and how long each idle state was used, summed over CPUs."""

from schedlab.base.system import System
from schedlab.base.system.numbers import amount
from schedlab.counters.group import Counts, SnapshotGroup, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic

_STATES = "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*"
_NAME = "cpuidle"


@counter_group(40)
class CpuidleGroup(SnapshotGroup):
    """Entries and seconds in each idle state."""

    name = subsystem = _NAME
    simulated = (f"{_NAME}:",)
    summary = "entries and time in each idle state, summed over CPUs"
    meanings = (
        Meaning(f"{_NAME}:*:usage", Topic.IDLE, "CPU entered {}"),
        Meaning(f"{_NAME}:*:seconds", Topic.IDLE, "time in {}"),
        Meaning(f"{_NAME}:*:above", Topic.IDLE, "CPU left {} too early for it"),
        Meaning(f"{_NAME}:*:below", Topic.IDLE, "CPU could have been deeper than {}"),
        Meaning(f"{_NAME}:*:rejected", Topic.IDLE, "entry of {} was refused"),
    )

    def read(self, system: System) -> Counts:
        """Sum `usage` and `time` (us) over the CPUs, state by state."""
        counts: Counts = {}
        for folder in system.glob(_STATES):
            state = system.read_or(f"{folder}/name", folder.rpartition("/")[2])
            for key, file, scale in (("usage", "usage", 1.0), ("seconds", "time", 1e-6)):
                counter = f"{_NAME}:{state}:{key}"
                # A CPU that is offline may leave its files empty.
                text = system.read_or(f"{folder}/{file}", "") or "0"
                value = amount(text, f"{folder}/{file}") * scale
                counts[counter] = counts.get(counter, 0.0) + value
        if not counts:
            raise Unavailable("this host shows no idle states (usual in a virtual machine)")
        return counts


def idle_counter(counter: str) -> tuple[str, str] | None:
    """Split `cpuidle:C6:seconds` into state and kind; None for another counter."""
    group, _, rest = counter.partition(":")
    state, _, kind = rest.rpartition(":")
    return (state, kind) if group == _NAME and state else None
