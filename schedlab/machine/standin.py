"""What no host shows and the simulator needs, from a described machine of the same architecture.

Such figures are estimates on this host and say so in its file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schedlab.machine.here import Description
from schedlab.machine.ledger import Entry, around
from schedlab.machine.model import CacheKinds, Machine, find_machine

UNCERTAIN = 2.0
"""An estimate may be half or twice what is right (docs/manual/machines.md)."""

_DEFAULT = "epyc-7713-2p-nps1"
_OF_ARCHITECTURE = {"aarch64": "kunpeng-920-6426-2p", "ppc64le": "power9-lpar-smt4"}
"""Whose figures stand in; for any other architecture those of the default."""


def completed(described: Description) -> Description:
    """Return a description that can be simulated."""
    machine = described.machine
    like = find_machine(_OF_ARCHITECTURE.get(machine.arch, _DEFAULT))
    figures, sources = machine.model_dump(exclude_defaults=True), dict(described.sources)
    entries: dict[str, Entry] = {}
    for path, value, whose in _missing(machine, like):
        table, _, key = path.rpartition(".")
        (figures.setdefault(table, {}) if table else figures)[key] = value
        sources[path] = source = f"estimate: as {whose.name}, no host shows it"
        entries |= dict(_entries(path, value, whose, source))
    for path in entries:
        sources.pop(path.partition(".")[0], None)  # each figure says it
    figures["ledger"] = entries
    return Description(Machine.model_validate(figures), described.offline, sources)


def _entries(path: str, value: Any, whose: Machine, source: str) -> Iterator[tuple[str, Entry]]:
    """Return the entries of a table's figures that were another machine's: they may be far off."""
    for name, figure in value.items() if isinstance(value, Mapping) else ():
        theirs = whose.ledger.get(f"{path}.{name}") or whose.ledger.get(f"cycles.{name}", Entry())
        if theirs.range is not None or path == "core":
            spread = around(figure, UNCERTAIN)
            if path == "smt":
                spread = spread[0], _at_most_all(spread[1])
            theirs = Entry(range=spread, source=source, moves_with=theirs.moves_with)
        yield f"{path}.{name}", theirs


def _at_most_all(share: Any) -> Any:
    """Return shares of a core's speed with none above 1; what is not a number stays as it is."""
    if isinstance(share, float | int):
        return min(share, 1.0)
    return share if isinstance(share, str) else [_at_most_all(each) for each in share]


def _missing(machine: Machine, like: Machine) -> Iterator[tuple[str, Any, Machine]]:
    """Yield what has to be added, by key path, and whose it is."""
    yield "cost", like.costs(), like
    if like.core:
        yield "core", {"mhz": like.core.mhz}, like
    if like.memory:
        yield "memory", like.memory.model_dump(), like
    if any(len(core) > 1 for core in machine.groups("core")):
        whose = like if like.smt else find_machine(_DEFAULT)
        yield "smt", whose.model_dump(include={"smt"})["smt"], whose
    cache = machine.cache
    if not _sized(cache.last_level()):
        yield "cache.llc", like.cache.last_level()[0].size, like
        cache = cache.model_copy(update={"llc": like.cache.last_level()})
    if not _sized(cache.below_last()):
        if cache.last_level() is cache.l2:
            yield "cache.l1d", like.cache.l1d[0].size, like
        else:
            yield "cache.l2", like.cache.below_last()[0].size, like


def _sized(kinds: CacheKinds) -> bool:
    return any(kind.size for kind in kinds)
