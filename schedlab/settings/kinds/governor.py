"""The cpufreq governor, of all CPUs."""

from collections.abc import Iterator

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.settings.knob import FileKnob, Knob, cpu_of
from schedlab.settings.setting import Simulated, WordSetting, setting
from schedlab.settings.text import Word

_LABEL = "cpufreq governor"


@setting
class Governor(WordSetting):
    """The governor by name."""

    rank = 50
    name = key = "governor"
    value = Word | None
    syntax = "governor NAME"
    example = "governor performance"
    toml = 'governor = "performance"'
    help = "the cpufreq governor of every CPU"

    def knobs(self, system: System, value: str | None) -> Iterator[tuple[Knob, str]]:
        """Yield the file of each CPU; KnobError if this host has no cpufreq."""
        paths = system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
        if not paths:
            raise KnobError("governor: this host has no cpufreq (usual in a virtual machine).")
        for path in paths:
            yield FileKnob(path, _LABEL, cpu_of(path)), value or ""

    def simulated(self, value: str | None) -> Iterator[Simulated]:
        """Yield it for all CPUs."""
        yield Simulated("cpufreq", "governor", value, _LABEL, value or "", _LABEL)
