"""Applications at three loads each, on this host and simulated, side by side.

On the host Debian's programs run, simulated their models. Models are calibrated at the first load,
so its row says how well that was done, and the others how far the models hold. Other work on the
host makes throughput less, but not the CPU time that a request takes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError, nearest
from schedlab.benchmarks.metric import Metric
from schedlab.counters.simulated import CPU_TIME
from schedlab.lab.accuracy.markdown import table_row
from schedlab.lab.accuracy.sides import plan_of_side
from schedlab.plan.plan import Plan, find_suite
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo, Store

SUITE = "applications-loads"
_ROUNDS = 2
"""Of a pair of runs each: the cases of a round are interleaved."""
_IDLE = f"{CPU_TIME}:idle:ns"


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of benchmarks or sweeps of the suite; UsageError for one it does not have."""
    entries = find_suite(SUITE)[0].benchmark
    known = dict.fromkeys(name for entry in entries for name in (entry.name, entry.label or ""))
    for name in names:
        if name not in known:
            raise UsageError(
                f"--only: no application '{name}'.{nearest(name, known)}"
                f"\n  There are: {', '.join(filter(None, known))}."
            )
    return tuple(names)


def plan_of_applications(
    target: str, kernel: str | None = None, only: tuple[str, ...] = ()
) -> Plan:
    """Return the plan for a target."""
    return plan_of_side(
        "Applications, on a host and simulated",
        SUITE,
        target,
        kernel,
        only,
        rounds=_ROUNDS,
        counters=("procstat",),
    )


@dataclass(frozen=True)
class Compared:
    """An application at one load, on the host and simulated."""

    case: CaseInfo
    here: Sequence[RunRecord]
    simulated: Sequence[RunRecord]

    @property
    def others(self) -> float:
        """Return what others had of the host's CPUs meanwhile, at most."""
        return max((run.busy_during or 0.0 for run in self.here), default=0.0)

    @property
    def failure(self) -> str:
        """Return why there is nothing to compare; empty if there is."""
        for runs in (self.here, self.simulated):
            if not any(run.status == "ok" for run in runs):
                return next((run.error for run in runs), "was not run")
        return ""


def compared(host: Store, simulated: Store) -> Iterator[Compared]:
    """Yield the cases of two results in the order of the suite."""
    for case in host.cases:
        yield Compared(case, _runs(host, case.label), _runs(simulated, case.label))


def _runs(store: Store, label: str) -> list[RunRecord]:
    return [run for run in store.records() if run.key.case == label]


def table(found: Sequence[Compared], cpus: int) -> str:
    """Return rows for each case: its metrics, with the spread of the host's runs, and CPU time."""
    head = ("load", "metric", "here", "least to most", "simulated", "simulated / here", "others")
    lines = [table_row(head), table_row(["---", "---", *["---:"] * (len(head) - 2)])]
    for item in found:
        if item.failure:
            lines.append(table_row([item.case.label, "", "", "", "", item.failure, ""]))
            continue
        lines += [
            table_row(_cells(item, f"{metric.name}, {metric.unit}", *_both(item, metric)))
            for metric in item.case.metrics
        ]
        lines.append(table_row(_cells(item, *_cpu_time(item, cpus))))
    return "\n".join(lines) + "\n"


def _both(item: Compared, metric: Metric) -> tuple[list[float], float]:
    return _figures(item.here, metric), median(_figures(item.simulated, metric))


def _cpu_time(item: Compared, cpus: int) -> tuple[str, list[float], float]:
    """Return the CPU time of server and load, by operation; in a build by the build."""
    main, params = item.case.metrics[0], item.case.params
    by_time = main.unit == "s"

    def an_operation(run: RunRecord, busy: float, lasted: float | None) -> float:
        if by_time:
            return busy
        # Without a duration the load does so many.
        count = params.get("requests", params.get("frames"))
        operations = run.metrics[main.name] * lasted if lasted else float(str(count))
        return 1e6 * busy / operations

    lasts = seconds(str(params["time"])) if "time" in params else None
    here = [an_operation(run, run.cpu_seconds or 0.0, lasts) for run in _good(item.here)]
    ours = []
    for run in _good(item.simulated):
        spent = {name: ns / 1e9 for name, ns in run.counters.items() if name.startswith(CPU_TIME)}
        window = sum(spent.values()) / cpus
        ours.append(an_operation(run, sum(spent.values()) - spent[_IDLE], window))
    return ("CPU time, s" if by_time else "CPU time of an operation, us"), here, median(ours)


def _cells(item: Compared, what: str, here: list[float], ours: float) -> list[str]:
    return [
        item.case.label,
        what,
        f"{median(here):.4g}",
        f"{min(here):.4g} to {max(here):.4g}",
        f"{ours:.4g}",
        f"{ours / median(here):.2f}",
        f"{item.others:.0%}",
    ]


def _good(runs: Sequence[RunRecord]) -> list[RunRecord]:
    return [run for run in runs if run.status == "ok"]


def _figures(runs: Sequence[RunRecord], metric: Metric) -> list[float]:
    return [run.metrics[metric.name] for run in _good(runs)]
