"""Simulated runs on a cluster of dask.distributed: calls go out, what they wrote comes back.

Nothing has to be shared: a worker gets the simulator once, by its content, and with each call the
machine, the scenario and what lies beside it. A call whose worker is lost is done by another.
"""

import hashlib
import platform
import uuid
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import Client, KilledWorker, Worker, WorkerPlugin, get_worker
from distributed import Future as DaskFuture

from schedlab.base.errors import HostError
from schedlab.base.system.inside import inside
from schedlab.targets.sim_program import Call, Ended, Processes
from schedlab.targets.simulators import Finished, now

_CONNECT_SECONDS = 15
_PROGRAMS = "schedlab-programs"
"""The folder of simulators, in that of a worker."""

Sent = DaskFuture["_Done"]

_running: dict[str, Processes] = {}
"""On a worker: the simulators of each lab."""


class ClusterSimulators:
    """All the workers of a cluster, as many as there are at the time."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler, and check that its workers can simulate.

        Raises:
            HostError: nobody answers, or a worker cannot.
        """
        self._address = address
        self._lab = uuid.uuid4().hex
        self._programs: dict[Path, str] = {}
        self._sent: set[Sent] = set()
        try:
            self._client = Client(
                address, timeout=_CONNECT_SECONDS, set_as_default=False, name="schedlab"
            )
        except (OSError, ValueError) as error:
            raise HostError(
                f"--cluster {address}: no scheduler answers there: {error}."
                "\n  Start one with `dask scheduler`; it prints its address."
            ) from error
        self._check_workers()

    @property
    def at_a_time(self) -> int:
        """How many calls the workers of now do at a time."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def start(self, call: Call, limit: float) -> Future[Finished]:
        """Send a call out; its result is in its folder before it counts as ended."""
        folder = call.result.parent
        files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        files[call.machine.name] = call.machine.read_bytes()
        ours: Future[Finished] = Future()
        theirs = self._client.submit(
            simulate,
            *(self._lab, self._program(call.program), call, files, limit),
            key=f"schedlab-{uuid.uuid4().hex}",
            pure=False,
        )
        self._sent.add(theirs)

        def arrived(_: Sent) -> None:
            self._sent.discard(theirs)
            if not ours.set_running_or_notify_cancel():
                return
            try:
                ours.set_result(self._brought(call, theirs))
            except BaseException as error:
                ours.set_exception(error)

        theirs.add_done_callback(arrived)
        return ours

    def close(self) -> None:
        """Take back what has not ended, and end the simulators that do it."""
        try:
            if self._sent:
                self._client.cancel(list(self._sent))
                self._client.run(stop, self._lab)
        except (OSError, TimeoutError):
            pass  # the cluster is gone, and what it did with it
        finally:
            self._client.close()

    def _check_workers(self) -> None:
        try:
            there = self._client.run(architecture)
        except Exception as error:  # what a worker cannot import comes back as a text
            raise HostError(
                f"--cluster {self._address}: a worker cannot simulate: {error}."
                "\n  Install the same schedlab for the Python of every worker."
            ) from error
        if not there:
            raise HostError(
                f"--cluster {self._address}: the scheduler has no worker."
                f"\n  Start some: `dask worker {self._address} --nthreads 1 --nworkers auto`."
            )
        for worker, machine in there.items():
            if machine != architecture():
                raise HostError(
                    f"--cluster {self._address}: worker {worker} is a {machine}, the simulator is"
                    f" built here for {architecture()}."
                )

    def _program(self, path: Path) -> str:
        """Copy a simulator to every worker, later ones too; return its name there."""
        if path not in self._programs:
            content = path.read_bytes()
            name = f"schedsim-{hashlib.sha256(content).hexdigest()[:16]}"
            self._client.register_plugin(_Program(name, content))
            self._programs[path] = name
        return self._programs[path]

    def _brought(self, call: Call, theirs: Sent) -> Finished:
        """Write what came back into the call's folder."""
        try:
            done = theirs.result()
        except KilledWorker:
            words = "schedsim: each worker that simulated it was lost; it may want more memory"
            done = _Done(now(), Ended(-9, 0.0, words), None)
        except BaseException as error:
            why = (
                "the scheduler was lost" if theirs.cancelled() else f"a run did not return: {error}"
            )
            raise HostError(
                f"--cluster {self._address}: {why}."
                "\n  The runs so far are kept; `schedlab run --resume DIR` goes on."
            ) from error
        call.errors.write_text(done.ended.words)
        if done.result is not None:
            call.result.write_bytes(done.result)
        finished = Finished(call.argv, done.started, done.ended)
        finished.write(call)
        return finished


@dataclass(frozen=True)
class _Done:
    """What a worker sends back."""

    started: str
    ended: Ended
    result: bytes | None


class _Program(WorkerPlugin):
    """A simulator that every worker keeps in its folder."""

    idempotent = True

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self._content = content

    def setup(self, worker: Worker) -> None:
        place = _programs(worker) / self.name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(self._content)
        place.chmod(0o755)


def simulate(lab: str, program: str, call: Call, files: dict[str, bytes], limit: float) -> _Done:
    """On a worker: carry out a call in a folder of its own."""
    worker = get_worker()
    with TemporaryDirectory(dir=worker.local_directory) as name:
        folder = Path(name)
        for file, content in files.items():
            inside(folder, file, f"a call of lab {lab}").write_bytes(content)
        here = replace(
            call,
            program=inside(_programs(worker), program, f"a call of lab {lab}"),
            machine=folder / call.machine.name,
            scenario=folder / call.scenario.name,
            result=folder / call.result.name,
        )
        started = now()
        ended = _running.setdefault(lab, Processes()).run(here.argv, here.errors, limit)
        return _Done(started, ended, here.result.read_bytes() if here.result.exists() else None)


def stop(lab: str) -> None:
    """On a worker: end what it simulates for a lab."""
    if processes := _running.get(lab):
        processes.stop()


def architecture() -> str:
    """On a worker: return what programs it can run, and that it has schedlab."""
    return platform.machine()


def _programs(worker: Worker) -> Path:
    return Path(worker.local_directory) / _PROGRAMS
