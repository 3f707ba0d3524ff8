"""The exhibits of a report, in the order they are shown."""

from schedlab.report.beside import beside
from schedlab.report.content import Report
from schedlab.report.cpu_time import cpu_time
from schedlab.report.curve import curve_table
from schedlab.report.exhibit import Exhibit


def exhibits(report: Report) -> list[Exhibit]:
    """Give those a report has."""
    return [found for found in (curve_table(report), beside(report), cpu_time(report)) if found]
