"""Several results on one page: what was asked, how it came out, and the way to each report."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from schedlab.report import wording
from schedlab.report.content import Report
from schedlab.report.page import environment


def overview(reports: Sequence[Report], page: Path) -> str:
    """Give the page; its links are relative to where `page` will lie."""
    links = [
        os.path.relpath(report.store.folder / "report.html", page.parent) for report in reports
    ]
    titles = Counter(report.title for report in reports)
    headings = [
        report.title if titles[report.title] == 1 else f"{report.title}: {report.store.folder.name}"
        for report in reports
    ]
    templates = environment()
    templates.globals |= {"wording": wording}
    template = templates.get_template("overview.html.j2")
    return template.render(results=list(zip(reports, headings, links, strict=True)))
