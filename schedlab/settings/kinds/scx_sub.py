"""Sub-schedulers of a sched_ext scheduler."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from schedlab.settings.kinds.cgroup import group_path
from schedlab.settings.kinds.scx import OfScheduler, by_program, file_name
from schedlab.settings.setting import Simulated, setting
from schedlab.settings.text import Key, Value

Group = Annotated[Key, AfterValidator(group_path)]


@setting
class ScxSub(OfScheduler):
    """Schedulers that a root scheduler hands some of its CPUs to, each for a cgroup."""

    rank = 113
    name = "scx-sub"
    key = "scx_subs"
    value = dict[Group, Value]
    syntax = "scx-sub GROUP=NAME|PATH"
    example = "scx-sub bench=qmap"
    toml = 'scx_subs = { bench = "qmap" }'
    help = (
        "a sub-scheduler for the tasks of a cgroup, below the scheduler that `scx=` names, which"
        " must take sub-schedulers, as `qmap` of Linux 7.3 does; the group is the benchmark's"
        " (`cgroup`) or the scenario's"
    )
    elsewhere = by_program(
        "start that with `companion`, such as `companion scx_qmap -c /sys/fs/cgroup/bench`"
    )

    @staticmethod
    def below(value: Mapping[str, str]) -> list[str]:
        """Return the schedulers, a group's behind that of the group above it."""
        return [scheduler for _, scheduler in sorted(value.items())]

    def one(self, name: str, wanted: str) -> Simulated:
        """Return the source of a group's."""
        path, file = f"/{name}", file_name(wanted)
        return Simulated("sched_ext_below", path, file, f"scx {name}", file, f"sched_ext {path}")
