"""Completion times of a benchmark's tasks, in the shape of the misfit series."""

from statistics import fmean

from schedlab.benchmarks.exhibits import ROUND, TASK
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit
from schedlab.result.record import RunRecord

_NOTES = (
    "Longest: of the longest running task of each run, the average and the maximum; where a run"
    " has several rounds, of its rounds, and the mean of all runs."
    " Single run: every task of the first block's run, or of its first round, the quickest first.",
)


def completion(report: Report) -> Exhibit | None:
    """Return a row for each variant of each benchmark whose runs have each task's time."""
    rows = [
        (case.info.label, variant.name, *_row(runs))
        for case in report.cases
        for variant in report.plan.variant
        if (runs := [run for run in by_variant(case.runs, variant.name) if _times(run)])
    ]
    if not rows:
        return None
    headings = ("Benchmark", "Variant", "Runs", "Longest, average (s)", "Longest, maximum (s)")
    return Exhibit("Completion times", _NOTES, (*headings, "Single run (s)"), tuple(rows), names=2)


def _times(run: RunRecord) -> list[float]:
    return sorted(_all(run, TASK))


def _all(run: RunRecord, kind: str) -> list[float]:
    return [time for name, time in run.metrics.items() if name.startswith(kind)]


def _row(runs: list[RunRecord]) -> tuple[str, ...]:
    longest = [_all(run, ROUND) or [max(_times(run))] for run in runs]
    average = fmean(fmean(rounds) for rounds in longest)
    single = ", ".join(f"{time:.4f}" for time in _times(runs[0]))
    return (str(len(runs)), f"{average:.4f}", f"{_maximum(longest):.4f}", single)


def _maximum(longest: list[list[float]]) -> float:
    """Return the longest of all runs; of runs of several rounds, the mean of their longest."""
    highest = [max(rounds) for rounds in longest]
    return max(highest) if all(len(rounds) == 1 for rounds in longest) else fmean(highest)
