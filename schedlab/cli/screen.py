"""Printing what the library lays out: a screen in colour, the report of a result."""

import io

from rich.console import Console
from rich.text import Text

from schedlab.judging.analysis import Analysis
from schedlab.report import Detail, Report
from schedlab.report.screen import Screen
from schedlab.report.terminal import screen_of
from schedlab.result.store import Store


def show(screen: Screen, console: Console) -> None:
    """Print a screen as it is laid out."""
    for line in screen.lines:
        console.print(Text.assemble(*line), soft_wrap=True)


def print_report(
    store: Store, analysis: Analysis, console: Console, detail: Detail | None = None
) -> None:
    """Print the report as wide as the console is, in colour where it can."""
    if isinstance(console.file, io.TextIOWrapper):
        # A terminal that is not UTF-8 shows our signs as escapes, rather than not at all.
        console.file.reconfigure(errors="backslashreplace")
    show(screen_of(Report(store, analysis, detail), console.width), console)
