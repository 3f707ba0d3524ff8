"""Where the CPUs' time went in simulated runs: by what the kernel was entered for, by function."""

from collections.abc import Sequence

from schedlab.counters.simulated import CPU_TIME, ENTRIES, FUNCTIONS
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import NONE
from schedlab.result.record import RunRecord

_NOTES = (
    "Busy: part of all CPUs' time that was not idle. All others are parts of the busy time: user"
    " mode, and the kernel by what it was entered for (a switch counts with the entry that led to"
    " it, idle is the idle loop's own code); they add up to 100 %.",
    "Behind them some functions of the scheduler with all they call, interrupts too; they are"
    " inside of the entries, and one may be inside of another: newidle_balance in pick_next_task,"
    " update_sd_lb_stats in load_balance. What took no time in any variant has no row.",
)
_BUSY = "busy, of all"
_LEAST = 0.00005
"""What would be written as 0.00 % in all variants has no row."""


def cpu_time(report: Report) -> Exhibit | None:
    """Return the table, a row for each benchmark and part; None without its counters."""
    variants = report.plan.variant
    rows = []
    for case in report.cases:
        of = [_shares(by_variant(case.runs, variant.name)) for variant in variants]
        parts = dict.fromkeys(part for shares in of for part in shares)
        rows += [
            (case.info.label, part, *(_percent(shares.get(part)) for shares in of))
            for part in parts
            if any(shares.get(part, 0.0) >= _LEAST for shares in of)
        ]
    if not rows:
        return None
    headings = ("Benchmark", "Time in (%)", *(variant.name for variant in variants))
    return Exhibit("CPU time", _NOTES, headings, tuple(rows), names=2, of_counters=True)


def _shares(runs: Sequence[RunRecord]) -> dict[str, float]:
    """Return the parts; none where a plan's choice of counters left out a part of the whole."""
    counters = [run.counters for run in runs if run.counters]
    whole = [_name(what) for what in ("user", "idle", *ENTRIES)]
    if not counters or not all(name in counted for counted in counters for name in whole):
        return {}
    ns = {
        what: sum(counted.get(_name(what), 0.0) for counted in counters)
        for what in ("user", *ENTRIES, *FUNCTIONS)
    }
    idle = sum(counted[_name("idle")] for counted in counters)
    busy = ns["user"] + sum(ns[entry] for entry in ENTRIES)
    if not busy:
        return {}
    return {_BUSY: busy / (busy + idle), **{what: time / busy for what, time in ns.items()}}


def _name(what: str) -> str:
    return f"{CPU_TIME}:{what}:ns"


def _percent(part: float | None) -> str:
    return NONE if part is None else f"{100 * part:.2f}"
