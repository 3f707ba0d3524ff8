"""The one cause of a changed result that a summary names, in plain words."""

from schedlab.benchmarks.energy import ENERGIES
from schedlab.judging.analysis import CounterOutcome, Outcome
from schedlab.report.content import Report
from schedlab.report.decided import leading
from schedlab.report.why import points_of, weightiest
from schedlab.report.wording import number

_MOST = 0.5
"""A part of a change from which on it is the main one."""
_NONE = "No single cause stands out."
_PLAIN = {
    "waiting runnable while a CPU was idle": "waiting for a CPU although another one was idle",
    "waiting runnable while no CPU was idle": "waiting for a CPU while all were busy",
}
_TAKEN = {"busy": "busy CPUs", "idle": "idle CPUs", "cluster": "what CPUs share"}
"""The counters `energy:...:joules`, and what takes that energy."""


def cause(report: Report, outcome: Outcome) -> str:
    """Return the sentence: what took the time or the energy, else what went along with it."""
    if outcome.metric in ENERGIES:
        return _of_energy(report, outcome) or _NONE
    return _of_time(report, outcome) or _of_counters(report, outcome) or _NONE


def _of_time(report: Report, outcome: Outcome) -> str:
    found = weightiest(report, outcome)
    if not found:
        return ""
    part, of_change = found
    more = "more" if part.contribution > 0 else "less"
    what = f"tasks spent {more} time on {_PLAIN.get(part.words, part.words)}"
    size = f"{points_of(part.contribution)} % of all their time before"
    return f"{'Mainly' if of_change >= _MOST else 'Among other things'}, {what} ({size})."


def _of_energy(report: Report, outcome: Outcome) -> str:
    counted = {
        counter.counter: counter
        for case in report.cases
        if case.info == outcome.case
        for counter in case.counters_in(outcome.variant)
    }
    moved = {
        what: _change(counted[name])
        for part, what in _TAKEN.items()
        if (name := f"energy:{part}:joules") in counted
    }
    most = max(moved, key=lambda what: abs(moved[what][1] - moved[what][0]), default="")
    if not most:
        return ""
    base, other = moved[most]
    more = "more" if other > base else "less"
    return f"Mainly, {most} took {more}: {number(base, 3)} -> {number(other, 3)} J a run."


def _change(counter: CounterOutcome) -> tuple[float, float]:
    return counter.verdict.base_mean or 0.0, counter.verdict.other_mean or 0.0


def _of_counters(report: Report, outcome: Outcome) -> str:
    line = leading(report, outcome)
    return f"What changed with it: {line}." if line else ""
