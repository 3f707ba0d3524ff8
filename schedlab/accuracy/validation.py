"""The simulator held against this host, or against a kernel in a guest."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from schedlab.accuracy.changes import CHANGES, summary
from schedlab.accuracy.changes import table as change_table
from schedlab.accuracy.comparison import Case, compare, disturbed, table
from schedlab.accuracy.here import calibrated
from schedlab.accuracy.journal import Journal
from schedlab.accuracy.kernel import VERBOSE, aspects, counts
from schedlab.accuracy.pairs import Groups, Here, There
from schedlab.accuracy.pairs import compare as compare_changes
from schedlab.accuracy.worlds import Native, Simulated
from schedlab.doctor.kernel import foreign_parameters
from schedlab.kernels.build import Build
from schedlab.kernels.progress import Watch
from schedlab.lab.simulate import simulator_of
from schedlab.lab.watcher import UNWATCHED
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.simulator import description
from schedlab.machine.standin import completed
from schedlab.settings.variant import Variant
from schedlab.system import LocalSystem
from schedlab.system.interrupt import stoppable
from schedlab.targets.vm import VmTarget

Say = Callable[[str], None]

_MEASURED = "machine.toml"
"""This host as it was measured, while a comparison is not whole."""


@dataclass(frozen=True)
class Simulator:
    """A machine, and the build that simulates it."""

    machine: Machine
    build: Build


@dataclass(frozen=True)
class Validation:
    """Which simulator is held against what is real."""

    machine: str | None = None
    """The machine's name or file; None: this host is described and measured first."""
    kernel: str | None = None
    """The simulator's kernel."""
    watch: Watch = UNWATCHED

    def of_loads(self, folder: Path, cases: Sequence[Case], say: Say) -> str:
        """Return a table of how fast loads are here and simulated.

        Args:
            folder: what is measured is kept there until all is, so that the same call goes on.
            cases: the loads.
            say: a function that takes a description of each step.
        """

        def compared(simulator: Simulator, _: Groups, journal: Journal) -> str:
            found = list(compare(Native(), _simulated(simulator), cases, say, journal))
            return (
                "In each pair the first is this host. Speed ratio: simulated over real, 1 is"
                f" right.\n{disturbed(found)}\n{table(found)}"
            )

        return self._of_this_host(folder, "loads.jsonl", say, compared)

    def of_changes(self, folder: Path, say: Say) -> str:
        """Return a table of what changes do here and simulated; arguments as of `of_loads`."""

        def compared(simulator: Simulator, groups: Groups, journal: Journal) -> str:
            there = There(_simulated(simulator))
            made = list(compare_changes(Here(Native(), groups), there, CHANGES, journal, say))
            return f"{summary(made)}\n{change_table(made)}"

        return self._of_this_host(folder, "changes.jsonl", say, compared)

    def of_guest(self, booted: str, say: Say) -> bool:
        """Hold the simulator against a kernel in a guest; return whether all is identical.

        Domains, features and placement decisions are compared, and counts shown; `say` takes the
        lines.
        """
        variant = Variant(name="base", cmdline=VERBOSE)
        there = VmTarget(booted, self.machine, [variant], self.watch)
        with stoppable(), closing(there.guests):
            guest = there.guest(variant)
            machine = completed(describe(guest)).machine
            build = simulator_of(self.kernel or booted, self.machine or "", self.watch)
            simulated = _simulated(Simulator(machine, build))
            say(
                f"{there.booted(variant).title}\nagainst the simulator of Linux {build.release}"
                f" ({build.config}), on {machine.nr_cpus} CPUs as in {self.machine}"
            )
            identical = True
            for aspect in aspects(guest, simulated):
                say(aspect.verdict)
                for line in aspect.differences:
                    identical = False
                    say(f"  {line}")
            for line in counts(guest, simulated):
                say(line)
        return identical

    def _of_this_host(
        self,
        folder: Path,
        journal_name: str,
        say: Say,
        compared: Callable[[Simulator, Groups, Journal], str],
    ) -> str:
        groups = Groups()
        with stoppable(), groups.enclosure():
            there = self._this_host(folder, say)
            about = f"{there.build.key} {there.machine.to_toml({}, '')}"
            journal = Journal(folder / journal_name, about)
            words = compared(there, groups, journal)
        host = LocalSystem()
        parameters = "".join(f", booted with {word}" for word in foreign_parameters(host))
        build = there.build
        journal.end()
        (folder / _MEASURED).unlink(missing_ok=True)
        return (
            f"{there.machine.title or there.machine.name}, Linux {host.kernel_release()}"
            f"{parameters} against the scheduler of Linux {build.release} ({build.config}),"
            f" {date.today()}.\n{words}"
        )

    def _this_host(self, folder: Path, say: Say) -> Simulator:
        """Return this host as described, or as an interrupted comparison measured it, or now."""
        build = simulator_of(self.kernel, self.machine or "smp4", self.watch)
        if self.machine:
            return Simulator(find_machine(self.machine), build)
        kept = folder / _MEASURED
        if not kept.exists():
            measured = calibrated(LocalSystem(), build.program, say)
            folder.mkdir(parents=True, exist_ok=True)
            kept.write_text(measured.to_toml(), encoding="utf-8")
        return Simulator(find_machine(str(kept)), build)


def _simulated(simulator: Simulator) -> Simulated:
    return Simulated(simulator.build.program, description(simulator.machine))
