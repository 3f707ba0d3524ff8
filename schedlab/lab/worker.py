"""A plan run by a process of its own and watched from ours, as a sweep has hosts work together.

What a lab does to a host is its process's business: signals, children, control groups. So plans
that run on hosts at the same time have a process each. It reads what to do on standard input and
writes what it does on standard output, both pickled by this very version of schedlab.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schedlab.base.errors import SchedlabError
from schedlab.base.system.process import dying_with_us
from schedlab.judging.analysis import Outcome
from schedlab.kernels.progress import Step
from schedlab.lab.forecast import Forecast
from schedlab.lab.pace import Pace
from schedlab.lab.result import Lab, finish, reopen, run_plan
from schedlab.lab.runner import Progress
from schedlab.lab.watcher import Watcher
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord


@dataclass(frozen=True)
class Task:
    """What a process is to do."""

    plan: Plan | None
    """None: go on with the result in the folder."""
    folder: Path
    invocation: str


class Workers:
    """The processes that run plans; any thread may start one and wait for it."""

    def __init__(self, watcher: Watcher) -> None:
        """Take their watcher; no two threads call it at the same time."""
        self._watcher = watcher
        self._stopped = False
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def run(self, name: str, task: Task) -> bool:
        """Run a plan to its end; return whether its result is whole."""
        with self._lock:
            if self._stopped:
                return False
            process = subprocess.Popen(
                [
                    *dying_with_us(signal.SIGTERM),
                    *(sys.executable, "-c", f"from {__name__} import work; work()"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours to pass on
            )
            self._running.add(process)
        with process:
            assert process.stdin
            assert process.stdout
            with suppress(BrokenPipeError):  # its status says why
                pickle.dump(task, process.stdin)
                process.stdin.close()
            error = self._follow(name, process.stdout)
        with self._lock:
            self._running.discard(process)
            if error is None:
                error = f"its process ended with status {process.returncode}"
            if error and not self._stopped:
                self._watcher.say(f"{name}: {error}")
        return not error

    def stop(self) -> None:
        """End all of them as Ctrl-C would, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()

    def _follow(self, name: str, said: IO[bytes]) -> str | None:
        """Forward what a process does; return what went wrong in the end, None if nothing did."""
        with _Relay(name, self._watcher) as relay:
            while True:
                try:
                    method, arguments = pickle.load(said)
                except (EOFError, pickle.UnpicklingError):
                    return None
                if method == _END:
                    [error] = arguments
                    return str(error)
                with self._lock:
                    getattr(relay, method)(*arguments)


_END = "end"


class _Relay:
    """Calls a watcher as a process says that its own was called."""

    def __init__(self, name: str, watcher: Watcher) -> None:
        self._name = name
        self._watcher = watcher
        self._steps: list[tuple[ExitStack, Step]] = []

    def __enter__(self) -> "_Relay":
        return self

    def __exit__(self, *_: object) -> None:
        while self._steps:
            self.task_done()

    def say(self, text: str) -> None:
        self._watcher.say(f"{self._name}: {text}")

    def task_begun(self, what: str) -> None:
        stack = ExitStack()
        self._steps.append(
            (stack, stack.enter_context(self._watcher.task(f"{self._name}: {what}")))
        )

    def task_step(self, share: float, text: str) -> None:
        self._steps[-1][1](share, text)

    def task_done(self) -> None:
        self._steps.pop()[0].close()

    def progress(self, plan: Plan, forecast: Forecast) -> None:
        self._forecast = forecast
        self._progress = self._watcher.progress(plan, forecast, self._name)

    def progressed(self, pace: Pace, method: str, *arguments: object) -> None:
        self._forecast.pace = pace
        getattr(self._progress, method)(*arguments)


def work() -> None:
    """Run the plan that standard input names, and report on it on standard output."""
    with os.fdopen(os.dup(1), "wb") as said:
        os.dup2(2, 1)  # what a library prints is not ours
        sender = _Sender(said)
        try:
            task: Task = pickle.load(sys.stdin.buffer)
            lab = Lab(watcher=sender, invocation=task.invocation)
            if task.plan:
                run_plan(task.plan, task.folder, lab).close()
            else:
                finish(reopen(task.folder, lab), lab).close()
        except SchedlabError as error:
            sender.send(_END, str(error))
        else:
            sender.send(_END, "")


class _Sender(Watcher):
    """Sends what it is called with to the process that started ours."""

    def __init__(self, said: IO[bytes]) -> None:
        self._said = said

    def send(self, method: str, *arguments: object) -> None:
        """Send a call."""
        with suppress(BrokenPipeError):  # who started us has died, and we are ended as well
            pickle.dump((method, arguments), self._said)
            self._said.flush()

    def say(self, text: str) -> None:
        """Send a line."""
        self.send("say", text)

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        """Send that a long step begins, how far it is, and its end."""
        self.send("task_begun", what)
        try:
            yield lambda share, text: self.send("task_step", share, text)
        finally:
            self.send("task_done")

    def progress(self, plan: Plan, forecast: Forecast, name: str) -> Progress:
        """Send that a plan is run; return what sends how."""
        self.send("progress", plan, forecast)
        return _SentProgress(self, forecast)


class _SentProgress(Progress):
    """Sends each call, and how long runs take by what is known then."""

    def __init__(self, sender: _Sender, forecast: Forecast) -> None:
        self._sender = sender
        self._forecast = forecast

    def _send(self, method: str, *arguments: object) -> None:
        self._sender.send("progressed", self._forecast.pace, method, *arguments)

    def begin(self) -> None:
        self._send("begin")

    def block(self, block: int, cases: Sequence[str]) -> None:
        self._send("block", block, cases)

    def start(self, key: RunKey) -> None:
        self._send("start", key)

    def done(self, record: RunRecord) -> None:
        self._send("done", record)

    def look(self, blocks_done: int, outcomes: Sequence[Outcome], settled: set[str]) -> None:
        self._send("look", blocks_done, outcomes, settled)

    def give_up(self, case: str, why: str) -> None:
        self._send("give_up", case, why)

    def end(self, why: str) -> None:
        self._send("end", why)
