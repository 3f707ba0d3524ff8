"""Tunables of a sched_ext scheduler."""

from schedlab.settings.kinds.scx import OfScheduler, by_program
from schedlab.settings.setting import Simulated, setting
from schedlab.settings.text import Key, Value


@setting
class ScxTunable(OfScheduler):
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
    elsewhere = by_program("give that its options with `companion`")

    def one(self, name: str, wanted: str) -> Simulated:
        """Return its value."""
        place = f"sched_ext {name}"
        return Simulated("sched_ext_tunables", name, wanted, f"scx {name}", wanted, place)
