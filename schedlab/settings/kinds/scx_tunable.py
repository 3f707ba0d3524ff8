"""Tunables of a sched_ext scheduler."""

from collections.abc import Iterator

from schedlab.settings.setting import Simulated, TableSetting, because, setting
from schedlab.settings.text import Key, Value


@setting
class ScxTunable(TableSetting):
    """Values of a scheduler's `const volatile` variables."""

    rank = 114
    name = "scx-tunable"
    key = "scx_tunables"
    value = dict[Key, Value]
    syntax = "scx-tunable NAME=VALUE"
    example = "scx-tunable fifo_sched=1"
    toml = "scx_tunables = { fifo_sched = 1 }"
    help = (
        "a tunable of the scheduler that `scx=` names: a `const volatile` variable of its source,"
        " which its loader would set from an option"
    )
    where = frozenset({"sim"})
    elsewhere = because(
        "its own program loads it there; give that its options with `companion`", "host", "vm"
    )
    shared = False

    def simulated(self, value: dict[str, str]) -> Iterator[Simulated]:
        """Yield each."""
        for name, wanted in value.items():
            place = f"sched_ext {name}"
            yield Simulated("sched_ext_tunables", name, wanted, f"scx {name}", wanted, place)
