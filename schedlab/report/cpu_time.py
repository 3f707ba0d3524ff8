"""Where the CPUs' time went in simulated runs: by what the kernel was entered for, by function."""

from collections.abc import Sequence

from schedlab.models.outcome import CPU_TIME, ENTRIES, FUNCTIONS
from schedlab.record import RunRecord
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit

_NOTES = (
    "Busy: part of all CPUs' time that was not idle. All others are parts of the busy time: user"
    " mode, and the kernel by what it was entered for (a switch counts with the entry that led to"
    " it, idle is the idle loop's own code); they add up to 100 %.",
    "Behind them some functions of the scheduler with all they call, interrupts too; they are"
    " inside of the entries, and one may be inside of another: newidle_balance in pick_next_task,"
    " update_sd_lb_stats in load_balance.",
)


def cpu_time(report: Report) -> Exhibit | None:
    """Give the table, a row for each benchmark and variant; None where nothing was simulated."""
    rows = [
        (case.info.label, variant.name, *shares)
        for case in report.cases
        for variant in report.plan.variant
        if (shares := _shares(by_variant(case.runs, variant.name)))
    ]
    if not rows:
        return None
    headings = ("Benchmark", "Variant", "Busy (%)", "user", *ENTRIES, *FUNCTIONS)
    return Exhibit("CPU time", _NOTES, headings, tuple(rows), names=2)


def _shares(runs: Sequence[RunRecord]) -> list[str]:
    def spent(what: str) -> float:
        return sum(run.counters.get(f"{CPU_TIME}:{what}:ns", 0.0) for run in runs)

    user, idle = spent("user"), spent("idle")
    kernel = [spent(entry) for entry in ENTRIES]
    busy = user + sum(kernel)
    if not busy:
        return []
    parts = [user, *kernel, *(spent(function) for function in FUNCTIONS)]
    return [_percent(busy / (busy + idle)), *(_percent(part / busy) for part in parts)]


def _percent(part: float) -> str:
    return f"{100 * part:.2f}"
