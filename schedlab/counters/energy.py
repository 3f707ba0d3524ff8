"""Energy: what RAPL and the sensors of hwmon have counted, in joules."""

import re
from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.base.system.numbers import amount
from schedlab.counters.group import Counts, SnapshotGroup, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic

_NAME = "energy"
_ZONES = "/sys/class/powercap/intel-rapl:*"
"""RAPL's zones, of AMD's CPUs too; intel-rapl-mmio has the packages a second time."""
_SENSORS = "/sys/class/hwmon/hwmon[0-9]*/energy[0-9]*_input"
_OF_A_CORE = re.compile(r"(Ecore)[0-9]+")
"""Labels of amd_energy's sensors that are too many to stand each for itself."""
_MICRO = 1e-6


@counter_group(44)
class EnergyGroup(SnapshotGroup):
    """Energy of packages, their parts, and what a board measures."""

    name = subsystem = _NAME
    simulated = (f"{_NAME}:",)
    summary = "energy in joules: RAPL's zones (powercap) and hwmon's sensors"
    meanings = (
        Meaning(
            f"{_NAME}:joules", Topic.FREQUENCY, "energy of all CPUs and clusters", decides=False
        ),
        Meaning(f"{_NAME}:busy:joules", Topic.FREQUENCY, "energy of busy CPUs", decides=False),
        Meaning(f"{_NAME}:idle:joules", Topic.FREQUENCY, "energy of idle CPUs", decides=False),
        Meaning(
            f"{_NAME}:cluster:joules",
            Topic.FREQUENCY,
            "energy of what clusters share",
            decides=False,
        ),
        Meaning(f"{_NAME}:cpu*:joules", Topic.FREQUENCY, "energy of CPUs {}", decides=False),
        Meaning(f"{_NAME}:*:joules", Topic.FREQUENCY, "energy of {}", decides=False),
        Meaning(
            "power/energy-*/", Topic.FREQUENCY, "energy of {} in joules, by perf", decides=False
        ),
    )

    def read(self, system: System) -> Counts:
        """Return joules by zone and by sensor; those that one label has are summed."""
        counts: Counts = {}
        unreadable = ""
        for name, file in _files(system):
            try:
                joules = amount(system.read(file), file) * _MICRO
            except OSError as error:
                unreadable = f"{file}: {error.strerror}"
                continue
            counts[name] = counts.get(name, 0.0) + joules
        if not counts:
            raise Unavailable(
                f"{unreadable} (RAPL's files are for root)"
                if unreadable
                else "this host has neither RAPL's zones (powercap) nor a sensor of energy (hwmon)"
            )
        return counts

    def ranges(self, system: System) -> Counts:
        """Return the joules after which each of RAPL's zones wraps around."""
        found = {}
        for folder in system.glob(_ZONES):
            if text := system.read_or(f"{folder}/max_energy_range_uj", ""):
                found[_zone(system, folder)] = amount(text, folder) * _MICRO
        return found


def _files(system: System) -> Iterator[tuple[str, str]]:
    """Yield a counter's name with each file of microjoules."""
    for folder in system.glob(_ZONES):
        yield _zone(system, folder), f"{folder}/energy_uj"
    for file in system.glob(_SENSORS):
        folder, _, sensor = file.rpartition("/")
        label = system.read_or(f"{folder}/{sensor.removesuffix('_input')}_label", sensor)
        if match := _OF_A_CORE.fullmatch(label):
            label = match[1]
        yield f"{_NAME}:{system.read_or(f'{folder}/name', 'hwmon')}/{label}:joules", file


def _zone(system: System, folder: str) -> str:
    """Return a zone's name, with those it is in: `energy:package-0/dram:joules`."""
    place, _, zone = folder.rpartition("/")
    parts = zone.split(":")
    inside = [f"{place}/{':'.join(parts[:end])}" for end in range(2, len(parts) + 1)]
    names = [system.read_or(f"{each}/name", each.rpartition("/")[2]) for each in inside]
    return f"{_NAME}:{'/'.join(names)}:joules"
