"""One plan of every workload, for this host and for the simulator, and both results side by side.

Each load runs twice, as in any A/A run: on a host the two differ by its noise, simulated they are
the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks.load import counter
from schedlab.lab.accuracy.markdown import table_row
from schedlab.lab.accuracy.sides import plan_of_side
from schedlab.lab.accuracy.single import QUIET, SUITE
from schedlab.plan.plan import Plan, find_suite
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo, Store

_COUNTERS = {
    "switches/op": "context-switches",
    "wakeups/op": "sched:sched_wakeup",
    "migrations/op": "cpu-migrations",
}
"""The columns of counts, and what is counted."""


def workloads() -> Mapping[str, list[str]]:
    """Return the labels of the suite's cases, by their workload."""
    found: dict[str, list[str]] = {}
    for entry in find_suite(SUITE)[0].benchmark:
        workload = str(entry.params["load"]).partition(" ")[0]
        found.setdefault(workload, []).append(entry.label or entry.name)
    return found


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of some workloads' cases; UsageError for an unknown workload."""
    known = workloads()
    for name in names:
        if name not in known:
            raise UsageError(
                f"--only: no workload '{name}'.{nearest(name, known)}"
                f"\n  There are: {', '.join(known)}."
            )
    return tuple(label for name in names for label in known[name])


def plan_of_loads(target: str, kernel: str | None = None, only: tuple[str, ...] = ()) -> Plan:
    """Return the plan for a target."""
    title, counters = "Every workload, on a host and simulated", tuple(_COUNTERS.values())
    return plan_of_side(title, SUITE, target, kernel, only, counters=counters)


@dataclass(frozen=True)
class Measured:
    """The runs of a load on one target."""

    case: CaseInfo
    runs: Sequence[RunRecord]

    @property
    def good(self) -> list[RunRecord]:
        """Return those that ended well."""
        return [run for run in self.runs if run.status == "ok"]

    @property
    def failure(self) -> str:
        """Return why there is no figure; empty if there is one."""
        return "" if self.good else next((run.error for run in self.runs), "was not run")

    @property
    def figure(self) -> float:
        """Return what the load itself reported, on average."""
        [metric] = self.case.metrics
        return fmean(run.metrics[metric.name] for run in self.good)

    def per_operation(self, name: str) -> float | None:
        """Return a count by the operations of its run, on average; None where it is not known."""
        per = str(self.case.params["per"])
        counts = [
            run.counters[name] / (run.counters[counter(per)] if not per.isdigit() else int(per))
            for run in self.good
            if name in run.counters
        ]
        return fmean(counts) if counts else None

    @property
    def others(self) -> float:
        """Return what others had of the CPUs meanwhile, at most."""
        return max((run.busy_during or 0.0 for run in self.runs), default=0.0)


@dataclass(frozen=True)
class Compared:
    """A load on the host and simulated."""

    native: Measured
    simulated: Measured

    @property
    def speed(self) -> float:
        """Return the simulated speed over the real one; 1 is right, 2 is twice too fast."""
        ratio = self.simulated.figure / self.native.figure
        return ratio if self.native.case.params["better"] == "higher" else 1 / ratio


def compared(host: Store, simulated: Store) -> Iterator[Compared]:
    """Yield the loads of two results in the order of the suite."""
    theirs = {case.label: case for case in simulated.cases}
    for case in host.cases:
        if case.label in theirs:
            yield Compared(_measured(host, case), _measured(simulated, theirs[case.label]))


def _measured(store: Store, case: CaseInfo) -> Measured:
    return Measured(case, [run for run in store.records() if run.key.case == case.label])


def table(found: Sequence[Compared]) -> str:
    """Return the comparison as a Markdown table, host / simulated in each cell of counts."""
    head = ("workload", "figure", "here", "simulated", "speed ratio", *_COUNTERS, "others")
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    lines += [table_row(_cells(item)) for item in found]
    return "\n".join(lines) + "\n"


def _cells(item: Compared) -> list[str]:
    params = item.native.case.params
    on = f" on CPU {params['cpus']}" if "cpus" in params else ""
    begin = [f"`{params['load']}`{on}", str(params["figure"])]
    if failure := item.native.failure or item.simulated.failure:
        return [*begin, *[""] * (2 + len(_COUNTERS)), failure, ""]
    both = (item.native, item.simulated)
    begin += [f"{each.figure:.4g}" for each in both]
    counts = [
        " / ".join(_written(each.per_operation(name)) for each in both)
        for name in _COUNTERS.values()
    ]
    return [*begin, f"{item.speed:.2f}", *counts, f"{item.native.others:.0%}"]


def _written(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def disturbed(found: Sequence[Compared]) -> str:
    """Return a warning where others had too much of the host meanwhile; else nothing."""
    worst = max((item.native.others for item in found), default=0.0)
    if worst <= QUIET:
        return ""
    return (
        f"**This host was not quiet**: others had up to {worst:.0%} of its CPUs (last column)."
        " Its speeds are too low.\n"
    )
