"""What a lab that was killed left changed."""

from collections.abc import Iterator

from schedlab.base.errors import SchedlabError
from schedlab.base.system import System
from schedlab.doctor.finding import Finding
from schedlab.settings.journal import hosts_left_behind, left_behind


def check(system: System) -> Iterator[Finding]:
    """Look for the journal of a lab that did not end by itself."""
    for host in hosts_left_behind(system):
        yield _warning(f"a lab on ssh:{host} was killed, or still runs")
    try:
        changed = left_behind(system)
    except SchedlabError as error:
        changed = str(error)
    if changed is None:
        yield Finding("left over", "ok", "no earlier lab left anything changed here")
    else:
        yield _warning(f"a lab was killed, or still runs: {changed}")


def _warning(what: str) -> Finding:
    return Finding(
        "left over",
        "warning",
        what,
        "until then results have these settings, whatever their variants say, and what the lab"
        " started may still run",
        "schedlab doctor --restore",
    )
