"""A cpuset of the benchmark's, as the simulator makes it."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from schedlab.base.validation import Data
from schedlab.settings.setting import Setting, Simulated, because, setting
from schedlab.settings.text import CpuList

_FILES = "/sys/fs/cgroup/cpuset/cpuset.cpus"


class Cpuset(Data):
    """The CPUs of a benchmark's cgroup, and what its partition is."""

    cpus: CpuList
    partition: Literal["root", "isolated"] | None = None


@setting
class CpusetSetting(Setting[Cpuset | None]):
    """The cgroup that the benchmark's tasks are in."""

    rank = 75
    name = key = "cpuset"
    value = Cpuset | None
    syntax = "cpuset LIST [partition=root|isolated]"
    example = "cpuset 2-3 partition=isolated"
    toml = 'cpuset = { cpus = "2-3", partition = "isolated" }'
    help = (
        "a cgroup for the benchmark with these CPUs; partition `root` balances them apart from"
        " the others, `isolated` does not balance them; no other task runs there"
    )
    where = frozenset({"sim"})
    elsewhere = because(
        "the host's manager owns the cgroups; write `prefix systemd-run --scope -p"
        " AllowedCPUs=LIST`",
        "host",
    ) | because(
        "a guest has no cgroups; write `prefix taskset -c LIST`, or keep others from CPUs with"
        " `cmdline isolcpus=LIST`",
        "vm",
    )

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as a CPU list and, behind it, what kind of partition it is."""
        if not words or "=" in words[0]:
            return None
        rest = [word.partition("=") for word in words[1:]]
        if len(rest) > 1 or any(key != "partition" or not value for key, _, value in rest):
            return None
        return {"cpus": words[0], **{key: value for key, _, value in rest}}

    def written(self, value: Cpuset | None) -> Iterable[str]:
        """Write the list and the partition."""
        if value is None:
            return []
        partition = [f"partition={value.partition}"] if value.partition else []
        return [shlex.join([value.cpus, *partition])]

    def simulated(self, value: Cpuset | None) -> Iterator[Simulated]:
        """Yield the files of the group that a scenario makes for it."""
        if value:
            yield Simulated("cpuset", "cpus", value.cpus, "cpuset", value.cpus, _FILES)
        if value and value.partition:
            kind, place = value.partition, f"{_FILES}.partition"
            yield Simulated("cpuset", "partition", kind, "cpuset partition", kind, place)
