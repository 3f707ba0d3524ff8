"""Every figure of a machine with its key and where it comes from, in sections to be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.machine import shorthand
from schedlab.machine.drawing import table
from schedlab.machine.model import Cpu, IdleState, Machine


@dataclass(frozen=True)
class Figure:
    """One figure of the file."""

    key: str
    value: str
    source: str


@dataclass(frozen=True)
class Section:
    """Figures that stand together, with what is said of all of them."""

    title: str
    source: str
    figures: tuple[Figure, ...]


def sections(machine: Machine, sources: Mapping[str, str]) -> list[Section]:
    """Return the figures of a machine; `sources` by key path are those of the file's comments."""
    tables = shorthand.folded(machine.model_dump(mode="json", exclude_defaults=True))
    sources = {**sources, **{key: entry.source for key, entry in machine.ledger.items()}}
    for name, cycles in machine.cycles.items():
        source = f"{cycles} cycles, {sources.get(f'cycles.{name}', '')}"
        sources.setdefault(f"cost.{name}", source)
    given = [
        _section(
            "Topology", "topology", {"cpus": machine.cpus, **tables.get("topology", {})}, sources
        ),
        *(_cpus(index, cpu, sources) for index, cpu in enumerate(machine.cpu)),
        _section("SMT", "smt", tables.get("smt", {}), sources),
        _idle(machine, sources),
        _section("Caches", "cache", tables.get("cache", {}), sources),
        _section("Memory", "memory", _memory(tables), sources),
        _section("Boost", "boost", tables.get("boost", {}), sources),
        _section("Fabric", "fabric", tables.get("fabric", {}), sources),
        _section(
            "Session", "session", {k: v for k, v in tables.items() if k == "session"}, sources
        ),
        _section("Temperature", "thermal", tables.get("thermal", {}), sources),
        _section("Background", "background", tables.get("background", {}), sources),
        _section("Core", "core", tables.get("core", {}), sources),
        _section("Costs", "cost", machine.costs(), sources),
    ]
    return [section for section in given if section.figures]


def as_text(machine: Machine, sources: Mapping[str, str]) -> str:
    """Return the figures as tables of the terminal."""
    parts = []
    for section in sections(machine, sources):
        title = f"{section.title} ({section.source})" if section.source else section.title
        rows = [(figure.key, figure.value, figure.source) for figure in section.figures]
        parts.append(f"{title}\n{table(rows, left=(0, 1, 2))}")
    return "\n\n".join(parts)


def _memory(tables: Mapping[str, Any]) -> dict[str, Any]:
    size = {"memory_gib": tables["memory_gib"]} if "memory_gib" in tables else {}
    return {**size, **tables.get("memory", {})}


def _section(
    title: str, path: str, entries: Mapping[str, Any], sources: Mapping[str, str]
) -> Section:
    figures = tuple(
        Figure(key, brief(value), sources.get(f"{path}.{key}", sources.get(key, "")))
        for key, value in entries.items()
    )
    return Section(title, sources.get(path, ""), figures)


def _cpus(index: int, cpu: Cpu, sources: Mapping[str, str]) -> Section:
    figures = cpu.model_dump(mode="json", exclude_defaults=True, exclude={"cpus"})
    return _section(f"CPUs {cpu.cpus}", f"cpu[{index}]", figures, sources)


def _idle(machine: Machine, sources: Mapping[str, str]) -> Section:
    figures = []
    if machine.idle.governor:
        source = sources.get("idle.governor", "")
        figures.append(Figure("governor", machine.idle.governor, source))
    for index, state in enumerate(machine.idle.state):
        figures.append(Figure(state.name, _state(state), _all_at(f"idle.state[{index}]", sources)))
    return Section(
        "Idle states", sources.get("idle.state", sources.get("idle", "")), tuple(figures)
    )


def _state(state: IdleState) -> str:
    figures = state.model_dump(mode="json", exclude_defaults=True, exclude={"name"})
    return ", ".join(key if value is True else f"{key} {value}" for key, value in figures.items())


def _all_at(path: str, sources: Mapping[str, str]) -> str:
    """Return everything said in a table, once."""
    said = {
        source: None for key, source in sources.items() if key == path or key.startswith(f"{path}.")
    }
    return "; ".join(said)


def brief(value: object) -> str:
    """Write a figure in a few words; what the drawing shows in full is only counted."""
    match value:
        case Mapping():
            return ", ".join(f"{key} {brief(inner)}" for key, inner in value.items())
        case [{"mhz": _}, *_] as points:
            return _points(points)
        case [Mapping(), *_]:
            return "; ".join(brief(inner) for inner in value)
        case [str(), _, _, *_]:
            return f"{len(value)}: {value[0]} {value[1]} ... {value[-1]}"
        case [[*_], *_]:
            return f"{len(value)} x {len(value)}"
        case [*_]:
            return " ".join(str(inner) for inner in value)
    return str(value)


def _points(opp: Sequence[Any]) -> str:
    """Write operating points: `533 999 MHz, 29 70 mW`."""
    columns = {"MHz": "mhz", "mW": "power_mw"}
    return ", ".join(
        f"{' '.join(f'{point[key]:g}' for point in opp)} {unit}"
        for unit, key in columns.items()
        if all(key in point for point in opp)
    )
