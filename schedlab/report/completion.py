"""Completion times of a benchmark's tasks, in the shape of the misfit series."""

from schedlab.record import RunRecord
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit

_TASK = "task_"
_NOTES = (
    "Longest: of the longest running task of each run, the average and the maximum."
    " Single run: every task of the first block's run, the quickest first.",
)


def completion(report: Report) -> Exhibit | None:
    """Give a row for each variant of each benchmark whose runs tell each task's time."""
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
    return sorted(time for name, time in run.metrics.items() if name.startswith(_TASK))


def _row(runs: list[RunRecord]) -> tuple[str, ...]:
    longest = [max(_times(run)) for run in runs]
    single = ", ".join(f"{time:.4f}" for time in _times(runs[0]))
    average = sum(longest) / len(longest)
    return (str(len(runs)), f"{average:.4f}", f"{max(longest):.4f}", single)
