"""cpuidle: how often and how long each idle state was used, summed over CPUs."""

from schedlab.counters.group import Counts, Unavailable
from schedlab.system import System
from schedlab.system.numbers import amount

_STATES = "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*"


class CpuidleGroup:
    """Entries and seconds in each idle state."""

    name = "cpuidle"
    summary = "entries and time in each idle state, summed over CPUs"

    def read(self, system: System) -> Counts:
        """Sum `usage` and `time` (us) over the CPUs, state by state."""
        counts: Counts = {}
        for folder in system.glob(_STATES):
            state = system.read_or(f"{folder}/name", folder.rpartition("/")[2])
            for key, file, scale in (("usage", "usage", 1.0), ("seconds", "time", 1e-6)):
                counter = f"cpuidle:{state}:{key}"
                # A CPU that is offline may leave its files empty.
                text = system.read_or(f"{folder}/{file}", "") or "0"
                value = amount(text, f"{folder}/{file}") * scale
                counts[counter] = counts.get(counter, 0.0) + value
        if not counts:
            raise Unavailable("this host shows no idle states (usual in a virtual machine)")
        return counts
