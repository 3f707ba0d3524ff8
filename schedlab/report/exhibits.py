"""The exhibits of a report, in the order they are shown."""

from schedlab.report.beside import beside
from schedlab.report.beside_counts import beside_counts
from schedlab.report.completion import completion
from schedlab.report.content import Report
from schedlab.report.cpu_time import cpu_time
from schedlab.report.curve import curve_tables
from schedlab.report.exhibit import Exhibit
from schedlab.report.sensitivity import sensitivity
from schedlab.report.sweeps import sweep_tables


def exhibits(report: Report) -> list[Exhibit]:
    """Return those a report has."""
    kinds = (completion, beside, beside_counts, sensitivity, cpu_time)
    sweeps = [*sweep_tables(report), *curve_tables(report)]
    return [*sweeps, *(found for kind in kinds if (found := kind(report)))]
