"""The cpuidle governor: what chooses idle states."""

from collections.abc import Iterator

from schedlab.base.errors import KnobError, nearest
from schedlab.base.system import System
from schedlab.settings.knob import FileKnob, Knob
from schedlab.settings.setting import Simulated, WordSetting, setting
from schedlab.settings.text import Word

_LABEL = "cpuidle governor"
_CURRENT = "/sys/devices/system/cpu/cpuidle/current_governor"
_AVAILABLE = "/sys/devices/system/cpu/cpuidle/available_governors"


@setting
class IdleGovernor(WordSetting):
    """The governor by name."""

    rank = 60
    name = "idle-governor"
    key = "idle_governor"
    value = Word | None
    syntax = "idle-governor NAME"
    example = "idle-governor teo"
    toml = 'idle_governor = "teo"'
    help = "the cpuidle governor, one of `/sys/devices/system/cpu/cpuidle/available_governors`"

    def knobs(self, system: System, value: str | None) -> Iterator[tuple[Knob, str]]:
        """Yield the one file; KnobError if this kernel has no such governor, or none at all."""
        governor = value or ""
        available = system.read_or(_AVAILABLE, "").split()
        if not available:
            raise KnobError(f"{self.name}: this host has no cpuidle governors to choose from.")
        if governor not in available:
            raise KnobError(
                f"{self.name}: no cpuidle governor '{governor}' in this kernel."
                f"{nearest(governor, available)} It has: {', '.join(sorted(available))}."
            )
        yield FileKnob(_CURRENT, _LABEL), governor

    def simulated(self, value: str | None) -> Iterator[Simulated]:
        """Yield the one file."""
        yield Simulated("knobs", _CURRENT, value, _LABEL, value or "", _CURRENT)
