"""One simulated run, recorded event by event."""

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.base.system.interrupt import stoppable
from schedlab.benchmarks import Case
from schedlab.result.record import RunKey, RunRecord
from schedlab.settings.variant import Variant
from schedlab.targets.sim import SimTarget
from schedlab.targets.target import Order


@dataclass(frozen=True)
class Recording:
    """What of a run is recorded, and where it goes."""

    output: Path
    format: Literal["ftrace", "perfetto"] = "ftrace"
    events: str | None = None
    """Names of tracepoints, or patterns such as `sched:*`, with commas between them."""
    cpus: str | None = None
    """A list such as `0-3,8`."""
    tasks: str | None = None
    """A pattern of the tasks' names."""
    begin: float | None = None
    """Simulated seconds, as is the end."""
    end: float | None = None
    ring: int | None = None
    """Only so many events are kept, the last ones."""

    def options(self, present: Sequence[int]) -> tuple[str, ...]:
        """Return the simulator's options, on a machine of these CPUs.

        Raises:
            UsageError: it could hold nothing.
        """
        if self.cpus:
            try:
                beyond = set(parse_cpulist(self.cpus)) - set(present)
            except ValueError as error:
                raise UsageError(f"--cpus: {error}") from None
            if beyond:
                raise UsageError(
                    f"--cpus: {format_cpulist(beyond)} is not within {format_cpulist(present)}."
                )
        if self.end is not None and self.end <= (self.begin or 0.0):
            raise UsageError(f"--to {self.end:g}: the trace would end before it begins.")
        given = {
            "trace": str(self.output.absolute()),
            "trace-format": self.format,
            "trace-events": self.events,
            "trace-cpus": self.cpus,
            "trace-tasks": self.tasks,
            "trace-from": self.begin,
            "trace-to": self.end,
            "trace-ring": self.ring,
        }
        chosen = [(f"--{name}", str(value)) for name, value in given.items() if value is not None]
        return tuple(word for pair in chosen for word in pair)


def record_run(
    target: SimTarget,
    case: Case,
    variant: Variant,
    recording: Recording,
    seed: int = 1,
    timeout: float = 600.0,
) -> RunRecord:
    """Simulate one run and record what the scheduler does; return the run.

    Raises:
        UsageError: the simulator cannot run or record that.
        IncompleteRun: the run failed.
    """
    options = recording.options(parse_cpulist(target.machine().cpus))
    with tempfile.TemporaryDirectory() as folder:
        record = single_run(target, case, variant, Path(folder), seed, timeout, options)
    if record.status == "failed":
        # The simulator's own options for traces are called as ours, behind a word.
        raise IncompleteRun(f"{case.label} failed: {record.error.replace('--trace-', '--')}")
    return record


def single_run(
    target: SimTarget,
    case: Case,
    variant: Variant,
    folder: Path,
    seed: int = 1,
    timeout: float = 600.0,
    options: tuple[str, ...] = (),
) -> RunRecord:
    """Simulate one run, whose files stay in a folder; return the run, which may have failed.

    Raises:
        UsageError: the simulator cannot run that.
    """
    order = Order(RunKey(case.label, variant.name, 0), case, variant, seed, position=0)
    with stoppable(), closing(target.session([case], [variant], timeout)) as session:
        session.begin([variant], folder)
        return session.run(order, folder, options)
