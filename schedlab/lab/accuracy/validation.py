"""The simulator held against this host, or against a kernel in a guest.

Loads are one plan, run on this host and simulated. What stands apart from plans: `--changes`
compares single tasks in control groups under settings that each task has for itself, which no
variant of a plan can give; it also alternates the two sides of each pair by itself. A guest is
compared decision by decision, and no figure of it is judged.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.base.errors import KnobError, UsageError
from schedlab.base.system import LocalSystem, RemoteSystem, System
from schedlab.base.system.interrupt import stoppable
from schedlab.base.system.system import legible
from schedlab.base.words import listing
from schedlab.doctor.kernel import foreign_parameters
from schedlab.kernels.built import Build
from schedlab.kernels.cache import write_whole
from schedlab.kernels.native import schedlab_load
from schedlab.kernels.progress import Watch
from schedlab.lab.accuracy import applications
from schedlab.lab.accuracy.changes import CHANGES, Compared, summary
from schedlab.lab.accuracy.changes import table as change_table
from schedlab.lab.accuracy.here import calibrated
from schedlab.lab.accuracy.journal import Journal
from schedlab.lab.accuracy.kernel import (
    VERBOSE,
    Kernel,
    aspects,
    counts,
    guest_domains,
    kernel_cases,
    simulated_domains,
)
from schedlab.lab.accuracy.loads import compared, disturbed, plan_of_loads, table
from schedlab.lab.accuracy.operations import (
    ROUNDS,
    Recorder,
    compare,
    of_guest,
    of_simulator,
    script,
    tasks,
    unseen,
)
from schedlab.lab.accuracy.pairs import SETTLED, Groups, Here, There, case_of
from schedlab.lab.accuracy.pairs import compare as compare_changes
from schedlab.lab.accuracy.real_time import real_time
from schedlab.lab.accuracy.single import held, load_case
from schedlab.lab.kept import brought_to_its_end
from schedlab.lab.result import Lab, check_any_good
from schedlab.lab.simulate import simulator_of
from schedlab.lab.tracing import Recording, record_run
from schedlab.lab.watcher import UNWATCHED
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.standin import completed
from schedlab.plan.plan import Plan
from schedlab.plan.targets import HOST, SIM, VM
from schedlab.result.store import Store
from schedlab.settings.kinds import check_place
from schedlab.settings.kinds.kernel import Kernel as KernelSetting
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.sched_debug import FEATURES
from schedlab.settings.switchboard import variant_knobs
from schedlab.settings.variant import Variant
from schedlab.targets.host import HostTarget
from schedlab.targets.sim import SimTarget
from schedlab.targets.simulated.scenario import settings
from schedlab.targets.vm import VmTarget

Say = Callable[[str], None]
PlanOf = Callable[[str, str | None, tuple[str, ...]], Plan]
"""Returns a plan for a target, a kernel that is simulated, and the cases that are wanted."""


@dataclass(frozen=True)
class Simulator:
    """A machine, and the build that simulates it."""

    machine: Machine
    which: str
    """The machine's name or file."""
    build: Build


@dataclass(frozen=True)
class Validation:
    """Which simulator is held against what is real."""

    machine: str | None = None
    """The machine's name or file; None: this host is described and measured first."""
    kernel: str | None = None
    """The simulator's kernel."""
    watch: Watch = UNWATCHED

    def of_loads(self, folder: Path, only: tuple[str, ...], lab: Lab) -> str:
        """Return a table of how fast loads are here and simulated.

        Args:
            folder: where results are kept; what is there of this host, machine and simulator is
                not run again.
            only: the labels of some loads; none: all.
            lab: how plans are run.
        """
        apart = Groups().enclosure()
        with self._both(folder, "", plan_of_loads, only, lab, apart) as (there, here, ours):
            found = list(compared(here, ours))
        words = (
            "In each pair the first is this host. Speed ratio: simulated over real, 1 is right."
            f"\n{disturbed(found)}\n{table(found)}"
        )
        return self._headed(there, words)

    def of_applications(
        self, folder: Path, only: tuple[str, ...], lab: Lab, *, as_real_time: bool = False
    ) -> str:
        """Return a table of what applications reach here and their models simulated; as of_loads.

        `only` names benchmarks of the suite, or their labels. Here they can be real-time tasks;
        UsageError without the right to that.
        """
        plan = applications.plan_of_applications
        prefix = "applications-real-time-" if as_real_time else "applications-"
        # A group of version 1 may not have real-time tasks.
        apart = real_time() if as_real_time else Groups().enclosure()
        with self._both(folder, prefix, plan, only, lab, apart) as (there, here, ours):
            found = list(applications.compared(here, ours))
        return self._headed(there, f"\n{applications.table(found, there.machine.nr_cpus)}")

    @contextmanager
    def _both(
        self,
        folder: Path,
        prefix: str,
        plan: PlanOf,
        only: tuple[str, ...],
        lab: Lab,
        apart: AbstractContextManager[None],
    ) -> Iterator[tuple[Simulator, Store, Store]]:
        """Yield the simulator, and a plan's results on this host, set apart so, and simulated."""
        host = plan(HOST.target(""), None, only)
        with ExitStack() as stack:
            with stoppable():  # what is built is not set apart
                self._build()
            with apart:
                with stoppable():
                    there = self._this_host(folder, lab.watcher.say)
                program = schedlab_load().parent.name
                here = brought_to_its_end(folder, f"{prefix}host", host, lab, program)
            stack.enter_context(closing(here))
            simulated = plan(SIM.target(there.which), self.kernel, only)
            described = there.machine.to_toml({}, "")
            ours = brought_to_its_end(folder, f"{prefix}simulated", simulated, lab, described)
            stack.enter_context(closing(ours))
            check_any_good(here)
            check_any_good(ours)
            yield there, here, ours

    def of_changes(self, folder: Path, say: Say) -> str:
        """Return a table of what changes do here and simulated; `say` takes each step's words.

        What is measured is kept in the folder until all is, so that the same call goes on.
        """
        groups = Groups()
        with stoppable(), groups.enclosure():
            simulator = self._this_host(folder, say)
            about = f"drawn {simulator.build.key} {simulator.machine.to_toml({}, '')}"
            journal = Journal(folder / "changes.jsonl", about)
            made = list(self._compared(simulator, groups, journal, say))
        journal.end()
        return self._headed(simulator, f"{summary(made)}\n{change_table(made)}")

    def _compared(
        self, simulator: Simulator, groups: Groups, journal: Journal, say: Say
    ) -> Iterator[Compared]:
        setups = (setup for change in CHANGES for setup in change.setups)
        cases = list({case.label: case for case in map(case_of, setups)}.values())
        variant = Variant(name="simulated", kernel=self.kernel)
        target = SimTarget(simulator.which, self.watch)
        with (
            held(HostTarget(LocalSystem()), cases, counters=(), settle=SETTLED) as here,
            held(target, cases, counters=(), exact=False, variant=variant) as there,
        ):
            yield from compare_changes(Here(here, groups), There(there), CHANGES, journal, say)

    def of_guest(self, booted: str, variant: Variant, say: Say) -> bool:
        """Compare the simulator with a kernel in a guest; return whether all is identical.

        Domains, features and placement decisions are compared, and counts shown; `say` takes the
        lines.

        Raises:
            UsageError: the variant sets what a guest or the simulator does not have.
            KnobError: the guest does not take a setting.
        """
        if KernelSetting.of(variant):
            raise UsageError("--target names the kernel, and --kernel the simulator's.")
        if Scx.of(variant):  # its groups are made in the guest
            check_place(variant.model_copy(update={"cgroup": None, "scx_subs": {}}), VM.name)
            return self._of_scheduler(booted, variant, say)
        check_place(variant, VM.name)
        settings(variant)
        verbose = variant.model_copy(
            update={"cmdline": f"{variant.boot_options} {VERBOSE}".strip()}
        )
        there = VmTarget(booted, self.machine, [verbose], self.watch)
        with stoppable(), closing(there.guests):
            guest = there.guest(verbose)
            machine = completed(describe(guest)).machine
            build = simulator_of(self.kernel or booted, self.machine or "", self.watch)
            _turn(guest, variant)
            say(
                f"{there.booted(variant).title}\nagainst the simulator of Linux {build.release}"
                f" ({build.config}), on {machine.nr_cpus} CPUs as in {self.machine}"
            )
            identical = True
            simulated_as = variant.model_copy(update={"kernel": self.kernel or booted})
            with (
                real_kernel(guest) as real,
                simulated_kernel(machine, simulated_as, self.watch) as simulated,
            ):
                for aspect in aspects(real, simulated):
                    say(aspect.verdict)
                    for line in aspect.remarks:
                        say(f"  {line}")
                    for line in aspect.differences:
                        identical = False
                        say(f"  {line}")
                for line in counts(real.bench, simulated.bench):
                    say(line)
        return identical

    def _of_scheduler(self, booted: str, variant: Variant, say: Say) -> bool:
        """Compare a sched_ext scheduler's operations and their calls; return whether all agree."""
        scheduler, text = Scx.of(variant) or "", script()
        there = VmTarget(booted, self.machine, [variant], self.watch, tree=self.kernel)
        recorder = Recorder(there, variant)
        with stoppable(), closing(there.guests), TemporaryDirectory() as name:
            guest = there.guest(variant)
            machine = completed(describe(guest)).machine
            folder = Path(name)
            described, load, trace = (
                folder / "machine.toml",
                folder / "script.json",
                folder / "trace",
            )
            described.write_text(machine.to_toml({}, ""), encoding="utf-8")
            load.write_text(text, encoding="utf-8")
            simulated_as = variant.model_copy(update={"kernel": self.kernel or booted})
            target = SimTarget(str(described), self.watch)
            case = load_case("rt-app", {"file": str(load)}, "script")
            recording = Recording(trace, events="scx_*")
            record_run(target, case, simulated_as, recording)
            say(
                f"{there.booted(variant).title} with scx_{scheduler} against the simulator with"
                f" scx={scheduler}, on {machine.nr_cpus} CPUs as in {self.machine}"
            )
            recorded = list(recorder.record(guest, text))
            theirs = [of_guest(lines, tasks(text)) for lines in recorded]
            if left_out := unseen(recorded[0]):
                say(f"not recorded, as the guest's kernel refuses it: {listing(sorted(left_out))}")
            with trace.open(encoding="utf-8") as lines:
                ours = of_simulator(lines, tasks(text), left_out)
        identical = True
        for each in compare(theirs, ours):
            say(
                f"{each.task}: {each.steps} steps, identical in {each.rounds} of the guest's"
                f" {ROUNDS} rounds"
            )
            for line in each.differences:
                identical = False
                say(f"  {line}")
        return identical

    def _headed(self, there: Simulator, words: str) -> str:
        """Return a comparison under a line on what was compared."""
        host, build = LocalSystem(), there.build
        parameters = "".join(f", booted with {word}" for word in foreign_parameters(host))
        return (
            f"{there.machine.title or there.machine.name}, Linux {host.kernel_release()}"
            f"{parameters} against the scheduler of Linux {build.release} ({build.config}),"
            f" {date.today()}.\n{words}"
        )

    def _build(self) -> Build:
        return simulator_of(self.kernel, self.machine or "smp4", self.watch)

    def _this_host(self, folder: Path, say: Say) -> Simulator:
        """Return this host as described, or as an earlier comparison measured it, or now."""
        build = self._build()
        if self.machine:
            return Simulator(find_machine(self.machine), self.machine, build)
        kept = folder / _measured(LocalSystem(), build)
        if not kept.exists():
            measured = calibrated(LocalSystem(), self.kernel, say, self.watch)
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(kept, measured.to_toml())
        return Simulator(find_machine(str(kept)), str(kept), build)


def _measured(host: System, build: Build) -> str:
    """Name the file of this host as it was measured: another one for another kernel or build."""
    described = describe(host).machine.without_memory().to_toml({}, "")
    about = f"{described} {host.kernel_release()} {build.key}"
    return f"machine-{hashlib.sha256(about.encode()).hexdigest()[:8]}.toml"


@contextmanager
def real_kernel(guest: RemoteSystem) -> Iterator[Kernel]:
    """Yield the kernel of a guest, held for runs."""
    with held(HostTarget(guest), kernel_cases()) as bench:
        yield Kernel(guest_domains(guest), guest.read(FEATURES).split(), bench)


@contextmanager
def simulated_kernel(machine: Machine, variant: Variant, watch: Watch) -> Iterator[Kernel]:
    """Yield a variant's kernel, simulated on a machine and held for runs."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "machine.toml"
        file.write_text(machine.to_toml({}, ""), encoding="utf-8")
        target = SimTarget(str(file), watch)
        with held(target, kernel_cases(), variant=variant) as bench:
            domains = simulated_domains(target.domains(variant).splitlines())
            yield Kernel(domains, target.features(variant), bench)


def _turn(guest: System, variant: Variant) -> None:
    """Turn a variant's knobs in a guest that nobody uses afterwards."""
    for knob, value in variant_knobs(guest, variant):
        before = knob.read(guest)
        knob.write(guest, value)
        found = knob.read(guest)
        if not knob.same(value, found, before):
            raise KnobError(f"{knob.path}: wrote {value}, read back {legible(found)}.")
