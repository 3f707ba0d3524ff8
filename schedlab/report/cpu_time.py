"""Where the CPUs' time went in simulated runs: by what the kernel was entered for, by function."""

from collections.abc import Sequence

from schedlab.counters.simulated import CPU_TIME, ENTRIES, FUNCTIONS
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit
from schedlab.result.record import RunRecord

_NOTES = (
    "Busy: part of all CPUs' time that was not idle. All others are parts of the busy time: user"
    " mode, and the kernel by what it was entered for (a switch counts with the entry that led to"
    " it, idle is the idle loop's own code); they add up to 100 %.",
    "Behind them some functions of the scheduler with all they call, interrupts too; they are"
    " inside of the entries, and one may be inside of another: newidle_balance in pick_next_task,"
    " update_sd_lb_stats in load_balance.",
)


def cpu_time(report: Report) -> Exhibit | None:
    """Return the table, a row for each benchmark and variant; None without its counters."""
    rows = [
        (case.info.label, variant.name, *shares)
        for case in report.cases
        for variant in report.plan.variant
        if (shares := _shares(by_variant(case.runs, variant.name)))
    ]
    if not rows:
        return None
    headings = ("Benchmark", "Variant", "Busy (%)", "user", *ENTRIES, *FUNCTIONS)
    return Exhibit("CPU time", _NOTES, headings, tuple(rows), names=2, of_counters=True)


def _shares(runs: Sequence[RunRecord]) -> list[str]:
    """Return the cells; none where a plan's choice of counters left out a part of the whole."""
    counters = [run.counters for run in runs if run.counters]
    whole = [_name(what) for what in ("user", "idle", *ENTRIES)]
    if not counters or not all(name in counted for counted in counters for name in whole):
        return []
    user, idle, *kernel = (sum(counted[name] for counted in counters) for name in whole)
    busy = user + sum(kernel)
    if not busy:
        return []
    functions = (
        sum(counted.get(_name(function), 0.0) for counted in counters) for function in FUNCTIONS
    )
    parts = [user, *kernel, *functions]
    return [_percent(busy / (busy + idle)), *(_percent(part / busy) for part in parts)]


def _name(what: str) -> str:
    return f"{CPU_TIME}:{what}:ns"


def _percent(part: float) -> str:
    return f"{100 * part:.2f}"
