"""Which counters a run takes along: groups by name, or single events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from schedlab.base.errors import UsageError, nearest
from schedlab.base.system import System
from schedlab.counters import all_groups, event_groups, snapshot_groups
from schedlab.counters.group import SnapshotGroup, Unavailable
from schedlab.counters.perf_stat import PerfStat, is_event, probe
from schedlab.counters.sched_trace import SchedTrace


@dataclass(frozen=True)
class CounterChoice:
    """The counters that work on this host, and why the others do not."""

    snapshots: tuple[SnapshotGroup, ...]
    perf: PerfStat | None
    trace: SchedTrace | None
    missing: tuple[str, ...]
    """One line for each counter asked for that this host cannot give."""


def check_names(names: Iterable[str] | Literal["all"], simulated: bool = False) -> None:
    """Refuse names that are neither a group nor look like a perf event.

    Of a simulated run, only the simulator knows the counters with a colon in their names.

    Raises:
        UsageError: with the nearest names.
    """
    groups = all_groups()
    if names == "all":
        return
    for name in names:
        if simulated and ":" in name:
            continue
        if name not in groups and not (is_event(name) and (":" in name or "-" in name)):
            raise UsageError(
                f"counters: none is called '{name}'.{nearest(name, groups)}"
                f"\n  Groups: {', '.join(groups)}; or a perf event such as sched:sched_wakeup."
            )


def choose(system: System, names: Sequence[str] | Literal["all"]) -> CounterChoice:
    """Find out which of the requested counters this host has."""
    usual = (name for name, group in all_groups().items() if group.by_default)
    wanted = tuple(usual if names == "all" else dict.fromkeys(names))
    check_names(wanted)
    known, counted_by_perf = snapshot_groups(), event_groups()
    missing: list[str] = []
    snapshots = []
    trace = None
    events: list[str] = []
    for name in wanted:
        if name in counted_by_perf:
            events.extend(counted_by_perf[name].events)
            continue
        if name not in known and name != SchedTrace.name:
            events.append(name)
            continue
        try:
            if name in known:
                known[name].read(system)
                snapshots.append(known[name])
            else:
                SchedTrace().check(system)
                trace = SchedTrace()
        except Unavailable as error:
            missing.append(f"{name}: {error}")
    refused = probe(system, tuple(dict.fromkeys(events)))
    missing += _folded(refused)
    counted = tuple(event for event in dict.fromkeys(events) if event not in refused)
    perf = PerfStat(counted) if counted else None
    return CounterChoice(tuple(snapshots), perf, trace, tuple(missing))


def _folded(refused: dict[str, str]) -> list[str]:
    """Return one line for all events refused for the same reason."""
    by_reason: dict[str, list[str]] = {}
    for event, reason in refused.items():
        by_reason.setdefault(reason, []).append(event)
    return [f"{', '.join(events)}: {reason}" for reason, events in by_reason.items()]
