"""Calling the simulator: one process a run, which does not outlive us, and its words on failure."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.base.errors import IncompleteRun
from schedlab.base.system.process import dying_with_us, ended_within

_USAGE = 2
_BOUND = 4
_GRACE_SECONDS = 30.0
"""The simulator ends itself at its limit; this much later it is ended."""
_SANITIZER = re.compile(r"^SUMMARY: (AddressSanitizer: .*)$", re.MULTILINE)
"""The kind of fault, the line and the function, in a simulator that AddressSanitizer watches."""
_ACCESS = re.compile(r"^(?:READ|WRITE) of size \d+", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    """One call of the simulator: the build, its files, the seed."""

    program: Path
    machine: Path
    scenario: Path
    result: Path
    seed: int
    more: tuple[str, ...] = ()

    @property
    def errors(self) -> Path:
        """Return the file of what it writes on standard error."""
        return self.result.with_name("stderr.txt")

    @property
    def argv(self) -> tuple[str, ...]:
        """Return the command line."""
        return (
            *(str(self.program), "--machine", str(self.machine)),
            *("--scenario", str(self.scenario), "--out", str(self.result)),
            *("--seed", str(self.seed), *self.more),
        )


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    status: int
    seconds: float
    words: str
    """What it wrote on standard error."""


class Processes:
    """The simulators that run now, so that all can be ended at once."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Begin with none; take variables that they have beside ours."""
        self.stopped = False
        self._environment = dict(environment or {})
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(
        self, argv: Sequence[str], errors: Path, limit: float, printed: Path | None = None
    ) -> Ended:
        """Run a simulator to its end; what it writes goes to files."""
        began = time.monotonic()
        with errors.open("wb") as file, (printed or Path(os.devnull)).open("wb") as out:
            process = subprocess.Popen(
                [*dying_with_us(signal.SIGKILL), *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=file,
                start_new_session=True,
                env={**os.environ, **self._environment},
            )
        self._running.add(process)
        try:
            if self.stopped:
                _kill(process)
            if not ended_within(process, limit + _GRACE_SECONDS):
                _kill(process)
                process.wait()
        finally:
            self._running.discard(process)
        words = errors.read_text(errors="replace")
        return Ended(process.returncode, time.monotonic() - began, words)

    def stop(self) -> None:
        """End all that run, and any that begins from now on."""
        self.stopped = True
        for process in list(self._running):
            _kill(process)


def read_result(ended: Ended, result: Path) -> dict[str, Any]:
    """Return the result of a call.

    Raises:
        IncompleteRun: it failed, in the simulator's words: what, and when and where in
            simulated time.
    """
    if ended.status == 0:
        try:
            content: dict[str, Any] = json.loads(result.read_bytes())
        except (OSError, ValueError) as error:
            raise IncompleteRun(f"the simulator left no readable result: {error}") from error
        return content
    raise IncompleteRun(failure(ended))


def failure(ended: Ended) -> str:
    """Return in one line why a call failed."""
    said = [line for line in ended.words.splitlines() if line.startswith("schedsim: ")]
    where = [line.strip() for line in ended.words.splitlines() if "simulated time " in line]
    if said:
        place = f" ({where[0]})" if where and where[0] not in said[0] else ""
        return said[0].removeprefix("schedsim: ") + place
    if found := _SANITIZER.search(ended.words):
        access = _ACCESS.search(ended.words)
        return found[1] + (f" ({access[0]})" if access else "")
    if ended.status == _BOUND:
        return "the workload does not end: the bound on simulated time was reached"
    if ended.status < 0:
        return f"signal {-ended.status} ended the simulator"
    last = ended.words.strip().splitlines()[-1:] or ["without a word"]
    return f"the simulator ended with status {ended.status}: {last[0]}"


def is_usage(ended: Ended) -> bool:
    """Return whether the simulator refused its input."""
    return ended.status == _USAGE


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
