"""Tracepoints and software events, counted on all CPUs by `perf stat` around the command."""

import re
from pathlib import Path

from schedlab.base.system import System
from schedlab.counters.group import Counts, EventGroup, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic
from schedlab.counters.tracepoints import TRACEPOINTS as KERNEL_TRACEPOINTS

TRACEPOINTS = (
    "sched:sched_migrate_task",
    "sched:sched_stick_numa",
    "sched:sched_move_numa",
    "sched:sched_swap_numa",
    "migrate:mm_migrate_pages",
)
"""The five of the NUMA balancing report."""

MIGRATIONS = ("cpu-migrations",)


@counter_group(10)
class Tracepoints(EventGroup):
    """The tracepoints that every run counts."""

    name = "tracepoints"
    summary = f"{', '.join(TRACEPOINTS)} on all CPUs, by perf stat"
    events = TRACEPOINTS
    meanings = KERNEL_TRACEPOINTS


@counter_group(20)
class Migrations(EventGroup):
    """Migrations of all kinds."""

    name = "migrations"
    summary = "migrations of tasks between CPUs, by perf stat"
    events = MIGRATIONS
    meanings = (
        Meaning(
            "cpu-migrations",
            Topic.WAKEUP,
            "task moved to another CPU",
            "sched:sched_migrate_task",
        ),
    )


_EVENT = re.compile(
    r"[a-z0-9_]+(:[a-z0-9_]+)?|[a-z]+(-[a-z]+)+|[a-z0-9_]+/[a-z0-9_-]+/", re.IGNORECASE
)


class PerfStat:
    """One `perf stat` for all events of a run."""

    def __init__(self, events: tuple[str, ...]) -> None:
        self.events = events

    def wrap(self, argv: tuple[str, ...], report: str = "") -> tuple[str, ...]:
        """Return the command that counts while `argv` runs; it reports to a file, or stderr."""
        to = ("-o", report) if report else ()
        return ("perf", "stat", "-x,", *to, "-e", ",".join(self.events), "-a", "--", *argv)

    def read(self, report: Path) -> Counts:
        """Read a report; Unavailable if the report lacks an event, or perf could not count it."""
        try:
            text = report.read_text(errors="replace")
        except OSError as error:
            raise Unavailable(f"perf stat left no report: {error.strerror}") from error
        return self.parse(text)

    def parse(self, text: str) -> Counts:
        """Read a report's text."""
        counts = parse_report(text)
        for event in self.events:
            if event not in counts:
                raise Unavailable(f"perf stat did not count {event}")
        return counts


def is_event(name: str) -> bool:
    """Return whether a name can be a perf event: `sched:sched_wakeup`, `page-faults`, `pmu/x/`."""
    return _EVENT.fullmatch(name) is not None


def probe(system: System, events: tuple[str, ...]) -> dict[str, str]:
    """Find out, by trying, which events cannot be counted here: event -> why."""
    if system.which("perf") is None:
        return dict.fromkeys(events, "perf is not installed (Debian package linux-perf)")
    if not events or _refusal(system, events) is None:
        return {}
    reasons = {event: _refusal(system, (event,)) for event in events}
    return {event: reason for event, reason in reasons.items() if reason is not None}


def parse_report(text: str) -> Counts:
    """Read the lines `value,unit,event,...`; events not counted or not supported are left out."""
    counts: Counts = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and re.fullmatch(r"\d{1,20}(\.\d{1,20})?", fields[0]):
            # Without privilege perf counts user mode only, and says so in the name.
            counts[fields[2].removesuffix(":u")] = float(fields[0])
    return counts


def _refusal(system: System, events: tuple[str, ...]) -> str | None:
    try:
        done = system.capture(PerfStat(events).wrap(("true",)))
        if done.returncode != 0:
            return _reason(done.stderr)
        PerfStat(events).parse(done.stderr)
    except (OSError, Unavailable) as error:
        return str(error)
    if ":u," in done.stderr:
        return "an ordinary user counts its own user mode only (kernel.perf_event_paranoid)"
    return None


def _reason(stderr: str) -> str:
    """Return the most telling line of perf's complaint."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("Error:") or "No permission" in line:
            return line.removeprefix("Error:").strip() or "perf refused"
    return lines[0] if lines else "perf failed and printed nothing"
