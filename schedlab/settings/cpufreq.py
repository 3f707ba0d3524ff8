"""The cpufreq governor, of all CPUs."""

from schedlab.base.errors import KnobError
from schedlab.settings.knob import FileKnob, cpu_of
from schedlab.system import System


def knobs(system: System) -> list[FileKnob]:
    """Return the governor knob of each CPU.

    Raises:
        KnobError: this host has no cpufreq.
    """
    paths = system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    if not paths:
        raise KnobError("governor: this host has no cpufreq (usual in a virtual machine).")
    return [FileKnob(path, "cpufreq governor", cpu_of(path)) for path in paths]
