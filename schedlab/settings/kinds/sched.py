"""Tunables of the scheduler in debugfs: `base_slice_ns = 3000000`."""

from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.settings.kinds.sysctl import MEMORY_TIERS
from schedlab.settings.knob import Knob
from schedlab.settings.sched_debug import debug_knob, debug_path
from schedlab.settings.setting import SWITCHED, Simulated, TableSetting, WithoutEffect, setting
from schedlab.settings.text import KnobName, Value

_WARNING = "it only has the kernel print a warning about latency"


def _without_effect(name: str, reason: str, series: tuple[str, ...] = SWITCHED) -> WithoutEffect:
    return WithoutEffect(name, reason, series, debug_path(name))


@setting
class Sched(TableSetting):
    """Values of the scheduler's tunables."""

    rank = 30
    name = key = "sched"
    value = dict[KnobName, Value]
    syntax = "sched NAME=VALUE"
    example = "sched base_slice_ns=3000000"
    toml = "sched = { base_slice_ns = 3000000 }"
    help = (
        "a tunable in `/sys/kernel/debug/sched` (before 5.13: the sysctl `kernel.sched_*`), or"
        " `x86/sched_itmt_enabled` beside it"
    )
    without_effect = (
        _without_effect("latency_warn_ms", _WARNING),
        _without_effect("latency_warn_once", _WARNING),
        _without_effect("numa_balancing/hot_threshold_ms", MEMORY_TIERS),
        _without_effect("verbose", "it only has the kernel print messages", ("6.1",)),
    )

    def knobs(self, system: System, value: dict[str, str]) -> Iterator[tuple[Knob, str]]:
        """Yield the file of each, where this kernel has it."""
        return ((debug_knob(system, name), wanted) for name, wanted in value.items())

    def simulated(self, value: dict[str, str]) -> Iterator[Simulated]:
        """Yield the file of each."""
        for name, wanted in value.items():
            path = debug_path(name)
            yield Simulated("knobs", path, wanted, f"sched {name}", wanted, path)
