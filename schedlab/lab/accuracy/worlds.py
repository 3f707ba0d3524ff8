"""One workload, run on this host or simulated, and what the scheduler did meanwhile."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab.base.errors import HostError
from schedlab.base.system import LocalSystem, RemoteSystem
from schedlab.benchmarks.benchmark import Output
from schedlab.benchmarks.stand_in import command, named_results
from schedlab.counters.perf_stat import parse_report
from schedlab.kernels.native import PROGRAM, schedlab_load
from schedlab.lab.simulate import simulate
from schedlab.settings.variant import Variant
from schedlab.targets.disturbance import BusyWindow
from schedlab.targets.simulated.scenario import settings

Options = Mapping[str, object]

QUIET = 0.05
"""What others may have of this host's CPUs while its speed is measured."""

_LIMIT_SECONDS = 600.0
_LONGEST = "600s"
_EVENTS = ("context-switches", "sched:sched_wakeup", "cpu-migrations")
"""What is counted: an outcome's switches, wakeups and migrations."""


@dataclass(frozen=True)
class Outcome:
    """What a workload reported, and what the scheduler did; None where nobody could count."""

    results: Mapping[str, float]
    switches: float | None = None
    wakeups: float | None = None
    migrations: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Kernel files by path, as a simulated machine has them."""
    others: float = 0.0
    """The share of the CPUs that others, a hypervisor among them, had meanwhile."""


class Native:
    """This host, by `schedlab-load`; counts and latencies by perf where it is allowed to."""

    def __init__(self) -> None:
        """Build the program where that has not been done."""
        self._program = str(schedlab_load())

    def run(self, workload: str, options: Options) -> Outcome:
        """Run it once for its results and counts."""
        return self.run_under((), workload, options)

    def run_under(self, words: Sequence[str], workload: str, options: Options) -> Outcome:
        """Run it once, with words before its command that change how it is run."""
        with TemporaryDirectory() as folder:
            counts = Path(folder) / "counts"
            before: list[str] = []
            if shutil.which("perf"):
                events = ",".join(_EVENTS)
                before = ["perf", "stat", "-x,", "-e", events, "-o", str(counts), "--"]
            window, own = BusyWindow(LocalSystem(), os.cpu_count() or 1), _own_seconds()
            said = self._call([*before, *words], workload, options)
            others = window.others_share(_own_seconds() - own) + window.stolen_share()
            counted = counts.read_text() if counts.exists() else ""
        return replace(_outcome(said, counted), others=others)

    def _call(self, before: list[str], workload: str, options: Options) -> str:
        argv = command(workload, options).argv
        return _output([*before, self._program, *argv[1:]])


class Simulated:
    """A described machine, by one build of the simulator."""

    def __init__(
        self, program: Path, machine: Mapping[str, Any], variant: Variant | None = None
    ) -> None:
        """Take the simulator, the machine as it reads it, and under what settings."""
        self._program = program
        self._machine = machine
        self._settings = settings(variant) if variant else {}

    def run(self, workload: str, options: Options) -> Outcome:
        """Simulate it, with seed 1."""
        return self.run_scenario(workload, {"workloads": [{"kind": workload, **options}]}, seed=1)

    def run_scenario(self, workload: str, scenario: Mapping[str, Any], seed: int) -> Outcome:
        """Simulate a scenario until its workload ends."""
        scenario = {
            "duration": _LONGEST,
            "settle": "100ms",
            **self._settings,
            **scenario,
            "end": {"when": "workloads_done", "max_simulated": _LONGEST},
        }
        result = simulate(self._program, self._machine, scenario, seed, _LIMIT_SECONDS)
        counters = result["counters"]
        prefix = f"{workload}."
        return Outcome(
            results={
                key.removeprefix(prefix): value
                for key, value in result["metrics"].items()
                if key.startswith(prefix)
            },
            switches=counters["switches:voluntary"] + counters["switches:involuntary"],
            wakeups=counters.get("sched:sched_wakeup", 0),
            migrations=counters.get("sched:sched_migrate_task", 0),
            settings=result["settings"],
        )

    def domains(self) -> list[str]:
        """Return the scheduling domains it builds, a line each."""
        with TemporaryDirectory() as folder:
            machine = Path(folder) / "machine"
            machine.write_text(json.dumps(self._machine))
            return _output(
                [str(self._program), "--machine", str(machine), "--print-domains"]
            ).splitlines()


class Far:
    """A system that a shell reaches, by its `schedlab-load`; counts by perf."""

    def __init__(self, system: RemoteSystem) -> None:
        """Take the system."""
        self._system = system

    def run(self, workload: str, options: Options) -> Outcome:
        """Run it once for its results and counts."""
        argv = ("perf", "stat", "-x,", "-e", ",".join(_EVENTS), "--")
        done = self._system.capture(
            (*argv, PROGRAM, *command(workload, options).argv[1:]), timeout=_LIMIT_SECONDS
        )
        if done.returncode:
            last = (done.stderr.strip() or "no word").splitlines()[-1]
            raise HostError(f"{PROGRAM} {workload}: exit status {done.returncode}: {last}")
        return _outcome(done.stdout, done.stderr)


def _own_seconds() -> float:
    """Return the CPU seconds of ourselves and of what we have run."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _output(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{argv[0]}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise HostError(f"{' '.join(argv[:6])} ...: exit status {done.returncode}: {last}")
    return done.stdout


def _outcome(said: str, counted: str) -> Outcome:
    """Read what a workload and perf stat wrote."""
    # For an ordinary user perf counts user mode only, in which none of these events happens.
    found = {} if ":u," in counted else parse_report(counted)
    switches, wakeups, migrations = (found.get(event) for event in _EVENTS)
    return Outcome(named_results(Output(said), PROGRAM), switches, wakeups, migrations)
