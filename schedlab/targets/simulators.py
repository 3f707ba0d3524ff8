"""Where simulated runs are done, several at a time: on this computer, or on a cluster."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from schedlab.kernels.cache import disk_errors
from schedlab.targets.sim_program import Call, Ended, Processes


@dataclass(frozen=True)
class Finished:
    """A call that ended by itself, as its folder keeps it beside its result."""

    argv: tuple[str, ...]
    started: str
    ended: Ended

    def write(self, call: Call) -> None:
        """Keep it, so that a later lab takes it for done."""
        about = {"argv": self.argv, "started": self.started, **asdict(self.ended)}
        _kept_in(call).write_text(json.dumps(about, indent=1))

    @classmethod
    def read(cls, call: Call, scenario: str) -> "Finished | None":
        """Return what a call left in its folder, if it was this very call of this scenario."""
        try:
            about = json.loads(_kept_in(call).read_text())
            argv, started = tuple(about.pop("argv")), about.pop("started")
            if argv != call.argv or call.scenario.read_text() != scenario:
                return None
            return cls(argv, started, Ended(**about))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @staticmethod
    def forget(call: Call) -> None:
        """Remove what an earlier call left."""
        for file in (_kept_in(call), call.result, call.errors):
            file.unlink(missing_ok=True)


def _kept_in(call: Call) -> Path:
    return call.result.with_name("run.json")


class Simulators(Protocol):
    """Something that carries out calls whose files are in place."""

    @property
    def at_a_time(self) -> int:
        """How many calls can be under way."""

    def start(self, call: Call, limit: float) -> Future[Finished]:
        """Begin a call; once it has ended, its folder holds what it wrote.

        `limit` is the longest it may take, in seconds.
        """


def simulated(processes: Processes, call: Call, limit: float) -> Finished:
    """Carry out a call here, to its end."""
    with disk_errors("simulating", call.result.parent):
        started = now()
        finished = Finished(call.argv, started, processes.run(call.argv, call.errors, limit))
        if not processes.stopped:
            finished.write(call)
    return finished


def now() -> str:
    """Return the time as records have it."""
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


class LocalSimulators:
    """So many processes on this computer."""

    def __init__(self, at_a_time: int) -> None:
        self.at_a_time = at_a_time
        self._pool = ThreadPoolExecutor(at_a_time)
        self._processes = Processes()

    def start(self, call: Call, limit: float) -> Future[Finished]:
        """Begin a call when a processor is free."""
        return self._pool.submit(simulated, self._processes, call, limit)

    def close(self) -> None:
        """End every simulator that still runs, and begin no more."""
        self._processes.stop()
        self._pool.shutdown(cancel_futures=True)
