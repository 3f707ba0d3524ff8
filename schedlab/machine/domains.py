"""The scheduling domains a kernel built, read from what the simulator prints."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schedlab.base.cpulist import parse_cpulist

_LINE = re.compile(r"cpu(\d+)/domain(\d+)/(.*)")
_FILE = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")
_GROUP = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Domain:
    """One domain of one CPU."""

    cpu: int
    level: int
    files: dict[str, str]
    """As debugfs has them: name, flags, min_interval, ...; and span and groups, which it lacks."""

    @property
    def name(self) -> str:
        """Return the name of its topology level."""
        return self.files["name"]

    @property
    def flags(self) -> tuple[str, ...]:
        """Return its SD_ flags."""
        return tuple(self.files.get("flags", "").split())

    @property
    def span(self) -> tuple[int, ...]:
        """Return the CPUs it balances."""
        return parse_cpulist(self.files["span"])

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return its groups, this CPU's first."""
        found = _GROUP.findall(self.files.get("groups", ""))
        return tuple(parse_cpulist(group) for group in found)


def read(printed: str) -> list[Domain]:
    """Return the domains of all CPUs, the smallest first."""
    return [
        Domain(int(cpu), int(level), {key: text.strip() for key, text in _FILE.findall(rest)})
        for cpu, level, rest in _LINE.findall(printed)
    ]


def listing(domains: Iterable[Domain]) -> Iterator[str]:
    """Write domains as `grep . cpu*/domain*/*` in the kernel's debugfs does."""
    for domain in domains:
        for key, text in domain.files.items():
            yield f"cpu{domain.cpu}/domain{domain.level}/{key}:{text}"
