"""Core scheduling, as the simulator switches it on for a benchmark's tasks."""

from collections.abc import Iterator
from typing import Literal

from schedlab.settings.setting import Simulated, WordSetting, because, setting

_LABEL = "core scheduling"


@setting
class CoreSched(WordSetting):
    """What has a core scheduling cookie of its own."""

    rank = 70
    name = "core-sched"
    key = "core_sched"
    value = Literal["benchmark", "process"] | None
    syntax = "core-sched WHOM"
    example = "core-sched process"
    toml = 'core_sched = "process"'
    help = (
        "core scheduling: SMT siblings run only tasks with the same cookie. `benchmark`: all its"
        " tasks share one cookie; `process`: each of its processes has its own"
    )
    where = frozenset({"sim"})
    elsewhere = because(
        "a program asks for its own cookie; write `prefix coresched new --`, if util-linux there"
        " has that",
        "host",
        "vm",
    )

    def simulated(self, value: str | None) -> Iterator[Simulated]:
        """Yield it for the scenario's workloads."""
        yield Simulated("core_sched", "workloads", value, _LABEL, value or "", _LABEL)
