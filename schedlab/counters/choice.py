"""Which counters a run takes along: groups by name, or single events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from schedlab.base.errors import UsageError, nearest
from schedlab.counters.cpuidle import CpuidleGroup
from schedlab.counters.group import SnapshotGroup, Unavailable
from schedlab.counters.perf_stat import MIGRATIONS, TRACEPOINTS, PerfStat, is_event, probe
from schedlab.counters.procstat import ProcStatGroup
from schedlab.counters.schedstat import SchedstatGroup
from schedlab.system import System

SNAPSHOTS: dict[str, SnapshotGroup] = {
    group.name: group for group in (ProcStatGroup(), CpuidleGroup(), SchedstatGroup())
}
EVENT_GROUPS: dict[str, tuple[str, ...]] = {"tracepoints": TRACEPOINTS, "migrations": MIGRATIONS}
SUMMARIES: dict[str, str] = {
    "tracepoints": f"{', '.join(TRACEPOINTS)} on all CPUs, by perf stat",
    "migrations": "migrations of tasks between CPUs, by perf stat",
    **{group.name: group.summary for group in SNAPSHOTS.values()},
}


@dataclass(frozen=True)
class CounterChoice:
    """The counters that work on this host, and why the others do not."""

    snapshots: tuple[SnapshotGroup, ...]
    perf: PerfStat | None
    missing: tuple[str, ...]
    """One line for each counter asked for that this host cannot give."""


def check_names(names: Iterable[str]) -> None:
    """Refuse names that are neither a group nor look like a perf event.

    Raises:
        UsageError: with the nearest names.
    """
    for name in names:
        if name not in SUMMARIES and not (is_event(name) and (":" in name or "-" in name)):
            raise UsageError(
                f"counters: none is called '{name}'.{nearest(name, SUMMARIES)}"
                f"\n  Groups: {', '.join(SUMMARIES)}; or a perf event such as sched:sched_wakeup."
            )


def choose(system: System, names: Sequence[str] | Literal["all"]) -> CounterChoice:
    """Find out which of the counters asked for this host can give."""
    wanted = tuple(SUMMARIES) if names == "all" else tuple(dict.fromkeys(names))
    check_names(wanted)
    missing: list[str] = []
    snapshots = []
    events: list[str] = []
    for name in wanted:
        if name not in SNAPSHOTS:
            events.extend(EVENT_GROUPS.get(name, (name,)))
            continue
        try:
            SNAPSHOTS[name].read(system)
            snapshots.append(SNAPSHOTS[name])
        except Unavailable as error:
            missing.append(f"{name}: {error}")
    refused = probe(system, tuple(dict.fromkeys(events)))
    missing += _folded(refused)
    counted = tuple(event for event in dict.fromkeys(events) if event not in refused)
    return CounterChoice(tuple(snapshots), PerfStat(counted) if counted else None, tuple(missing))


def _folded(refused: dict[str, str]) -> list[str]:
    """Return one line for all events refused for the same reason."""
    by_reason: dict[str, list[str]] = {}
    for event, reason in refused.items():
        by_reason.setdefault(reason, []).append(event)
    return [f"{', '.join(events)}: {reason}" for reason, events in by_reason.items()]
