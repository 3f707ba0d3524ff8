"""The host target: real benchmarks on the machine we stand on, variants switched at run time."""

import shlex
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from schedlab.base.duration import seconds
from schedlab.base.errors import (
    HostError,
    IncompleteRun,
    KnobError,
    RestoreError,
    UsageError,
    writing,
)
from schedlab.base.system import Exit, Launch, LocalSystem, Running, System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.process import TAG
from schedlab.benchmarks import Case, Command, Output
from schedlab.benchmarks.server import ONE_MACHINE, without_wrapper
from schedlab.benchmarks.tool import find_programs
from schedlab.counters.choice import CounterChoice, choose
from schedlab.counters.group import Unavailable
from schedlab.counters.sched_trace import SchedTrace, tasks_of
from schedlab.kernels.native import OWN
from schedlab.kernels.progress import Watch
from schedlab.machine.here import describe
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import HOST
from schedlab.result.record import RunRecord
from schedlab.settings.journal import restore_journal
from schedlab.settings.kinds import check_place
from schedlab.settings.scratch import Scratch
from schedlab.settings.setting import Around
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import Variant
from schedlab.targets.alike import check_alike
from schedlab.targets.client import Asked, Client
from schedlab.targets.companion import accompanied, at_port, serving
from schedlab.targets.data import ServedData
from schedlab.targets.last_words import last_words
from schedlab.targets.notices import busy_notice, notes, served
from schedlab.targets.platform import platform_table
from schedlab.targets.server_group import ServerGroups
from schedlab.targets.stage import Stage, full_disk_said
from schedlab.targets.target import Order, Session, folder_name
from schedlab.targets.watching import Watched, counted_by_perf

_MOST_OUTPUT = 4 << 20
"""Bytes of a tool's output that are looked at; a tool run wild does not fill our memory."""

_SWITCHES = "switches.data"
"""The file of a run in which perf records all switches, where they are asked for."""


class HostTarget:
    """This host, or an emulated one."""

    kind = HOST
    name = HOST.name

    def __init__(
        self, system: System, watch: Watch | None = None, client: Client | None = None
    ) -> None:
        """Take the system to run on, and the one the load comes from if that is another."""
        self._system = system
        self._watch = watch or Watch()
        self._client = client
        self._machine: Machine | None = None

    def load_from(self, asked: Asked) -> None:
        """Generate the load of benchmarks on another machine."""
        self._client = Client(asked, self._system, self._watch)

    def machine(self) -> Machine:
        """Describe this host from sysfs, read once."""
        if self._machine is None:
            self._machine = describe(self._system).machine
        return self._machine

    def environment(self, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
        """Return the platform table, with the tools' versions."""
        commands = [self.command(case) for case in cases]
        servers = [program for command in commands for program in command.served_by]
        if self._client:
            there = self._client.platform(commands)
            return platform_table(self._system, self.machine(), servers) | there
        programs = [program for c in commands for program in (c.tool, *c.served_by)]
        return platform_table(self._system, self.machine(), programs)

    def command(self, case: Case) -> Command:
        """Choose the first of a case's commands whose programs are all there, else the last.

        Raises:
            UsageError: there is a client, and none of the commands has a part for it.
        """
        find_programs(self._system, (case.benchmark.tool, *case.benchmark.tools))
        commands = list(case.commands)
        if self._client:
            divided = [command for command in commands if command.has_client]
            self._client.check_command(case.label, (divided or commands)[0])
            commands = divided
        return next(filter(partial(self._finds, case), commands), commands[-1])

    def _finds(self, case: Case, command: Command) -> bool:
        """Return whether all programs of a command are where they are to run."""
        if self._client:
            here = all(map(self._system.which, command.server_programs))
            return here and self._client.finds(case, command)
        return all(map(self._system.which, command.programs))

    def _usual(self, case: Case) -> Command:
        """Return the command as it is run where the usual port is free."""
        ends = self._client.ends if self._client else ONE_MACHINE
        return self.command(case).usual(ends)

    def shown(self, case: Case) -> str:
        """Return the command line."""
        return shlex.join(self._usual(case).argv)

    def preview(self, order: Order) -> list[str]:
        """Return the knobs that a run would write and the command that it would call."""
        switchboard = Switchboard(self._system, [order.variant])
        lines = [
            f"write {value} to {knob.path} (now {knob.read(self._system)})"
            for knob, value in switchboard.wanted(order.variant)
        ]
        around = order.variant.around
        lines += [f"beside it: {shlex.join(companion.command)}" for companion in around.beside]
        command = self._usual(order.case)
        if command.server:
            lines.append(f"server: {shlex.join(command.server.argv)}")
        lines += [f"first: {shlex.join(argv)}" for argv in command.setup]
        lines += [f"afterwards: {shlex.join(argv)}" for argv in command.teardown]
        lines += [f"on {self._client.name}:"] if self._client else []
        return [*lines, _shown(around, command.argv)]

    @contextmanager
    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> Iterator[Session]:
        """Check tools, knobs and counters; hold the host; put everything back at the end."""
        here = plan.here(self.environment(plan, cases))
        plan = plan.model_copy(update={"variant": tuple(here)})
        commands = {case.label: self.command(case) for case in cases}
        if self._client:
            servers = {label: c.server_programs for label, c in commands.items()}
            loads = {label: c.load_programs for label, c in commands.items()}
            _check_tools(self._system, cases, servers)
            _check_tools(self._client.system, cases, loads, f" on {self._client.name}")
        else:
            _check_own(self._system, commands)
            _check_tools(self._system, cases, {label: c.programs for label, c in commands.items()})
        for command in commands.values():
            command.check()
        _check_variants(self._system, plan)
        tag = uuid.uuid4().hex
        client = self._client.open(plan, cases, tag) if self._client else nullcontext()
        with self._system.held(), client as reached:
            notices = [f"before the start: {line}" for line in restore_journal(self._system)]
            switchboard = Switchboard(self._system, plan.variant)
            try:
                scratch_names = [name for c in commands.values() for name in c.scratch]
                switchboard.journal.scratch = Scratch.of(scratch, scratch_names)
                groups = ServerGroups(self._system, tag, plan.variant)
                switchboard.journal.groups = groups.places
                switchboard.begin(tag)
                _check_faces(plan, switchboard)
                counters = choose(self._system, plan.counters)
                if reached and counters.trace:
                    raise UsageError("task-time: it follows the load, which is on the client.")
                if counters.trace and not plan.blocks.warmup:
                    raise UsageError(
                        f"{counters.trace.name}: it is recorded in warm-up blocks, which are not"
                        " judged, and there are none; see --warmup."
                    )
                notices += [f"not counted: {line}" for line in counters.missing]
                cpus = self.machine().nr_cpus
                notices += notes(cases, commands)
                notices += served(plan.variant, commands)
                if any(command.server for command in commands.values()):
                    groups.check()
                    notices += groups.notices
                notices += busy_notice(self._system, cpus)
                session = HostSession(
                    *(self._system, plan, commands, switchboard, counters, tag, notices, cpus),
                    *(scratch, self._watch, reached, groups),
                )
                for command in commands.values():
                    if command.server:
                        session.data.check(command.server)
                try:
                    yield session
                finally:
                    with uninterrupted():
                        session.data.remove()
            finally:
                with uninterrupted():
                    self._system.end_all()
                    switchboard.end()


def system(which: str = "") -> LocalSystem:
    """Return the system of this host."""
    return LocalSystem()


def named(
    which: str, machine: str | None, variants: Sequence[Variant], watch: Watch | None
) -> HostTarget:
    """Return this host as a target."""
    return HostTarget(system(which), watch)


class HostSession:
    """The host made ready for one plan."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        commands: Mapping[str, Command],
        switchboard: Switchboard,
        counters: CounterChoice,
        tag: str,
        notices: list[str],
        cpus: int,
        scratch: Path,
        watch: Watch,
        client: Client | None,
        groups: ServerGroups,
    ) -> None:
        """Take what `HostTarget.open` has checked."""
        self.notices = notices
        self._client = client
        self._system = system
        self._plan = plan
        self._commands = commands
        self._switchboard = switchboard
        self._counters = counters
        self._env = {TAG: tag}
        self._cpus = cpus
        self.data = ServedData(system, scratch, self._env, self._beside, watch)
        self._result = scratch
        self._groups = groups

    def run(self, order: Order, raw: Path) -> RunRecord:
        """Set the variant, run the benchmark, count, read the result, put the host back."""
        if self._client:
            self._client.ready()
        key = order.key
        self._result = raw.parent
        folder = raw / folder_name(f"{order.position:05d}", key)
        if folder.exists():
            shutil.rmtree(folder)  # left by a run that was cut off and never recorded
        _make_folder(folder)
        command = self._commands[key.case]
        around = order.variant.around
        record = RunRecord(
            key=key,
            position=order.position,
            seed=order.seed,
            command=_shown(around, command.argv),
            started=datetime.now(UTC).astimezone().isoformat(timespec="milliseconds"),
            raw=str(folder.relative_to(raw.parent)),
        )
        try:
            self.data.load(command)
            kept = command
            ends = self._client.ends if self._client else ONE_MACHINE
            command = at_port(self._system, command, folder, ends)
            record.command = _shown(around, command.argv)
            with (
                self._switchboard.applied(order.variant) as record.settings,
                accompanied(self._system, around.beside, folder, self._env),
                _furnished(command, folder) as place,
                full_disk_said(self._system, folder),
            ):
                here = Stage(self._system, folder, place)
                self.data.copy(kept, here)
                with (
                    self._group(command, order.variant) as group,
                    serving(
                        *(self._system, command.server, folder, place, self._env), group=group
                    ) as server,
                    self._load_from(command, here) as stage,
                    self._torn_down(command, stage),
                ):
                    for i, argv in enumerate(command.setup):
                        self._beside(argv, f"setup{i}", "setting up", command, stage)
                    self._measure(order, command, record, here, stage, server)
        except RestoreError:
            raise
        except (IncompleteRun, KnobError, HostError, Unavailable) as error:
            record.status = "failed"
            record.error = str(error)
            record.metrics = {}
        self.notices += sorted(self._switchboard.foreign)
        if self._client:
            self.notices += self._client.notices
            self._client.notices.clear()
        return record

    def _group(self, command: Command, variant: Variant) -> AbstractContextManager[str]:
        """Return what makes the cgroup of a run's server."""
        return self._groups.made(variant.name) if command.server else nullcontext("")

    @contextmanager
    def _load_from(self, command: Command, here: Stage) -> Iterator[Stage]:
        """Yield where the load of a run is started: beside its server, or on the client."""
        if not self._client:
            yield here
            return
        folder = here.folder / "client"
        _make_folder(folder)
        with self._client.reached(), _furnished(command, folder) as place:
            yield Stage(self._client.system, folder, place)

    @contextmanager
    def _torn_down(self, command: Command, stage: Stage) -> Iterator[None]:
        """Run what goes after a run, when a `with` block ends, however it does.

        Raises:
            IncompleteRun: that failed; what had failed before is named first.
        """
        failed: list[str] = []
        try:
            yield
        except IncompleteRun as error:
            failed.append(str(error))
        finally:
            with uninterrupted():
                for i, argv in enumerate(command.teardown):
                    try:
                        self._beside(argv, f"teardown{i}", "tearing down", command, stage)
                    except (IncompleteRun, HostError) as error:
                        failed.append(str(error))
        if failed:
            raise IncompleteRun("; ".join(failed))

    def _beside(
        self,
        argv: tuple[str, ...],
        name: str,
        what: str,
        command: Command,
        stage: Stage,
    ) -> None:
        """Run a program before or after the benchmark's; its output lies beside that one's."""
        output = stage.folder / name
        exit_ = stage.system.execute(
            Launch(
                argv,
                stdout=output.with_suffix(".stdout.txt"),
                stderr=output.with_suffix(".stderr.txt"),
                env=self._env,
                timeout=self._limit(command),
                folder=stage.place,
                most_output=command.most_output,
            )
        )
        if how := _went_wrong(exit_, command):
            said = last_words(_text(output.with_suffix(".stderr.txt")), lines=1)
            shown = shlex.join(without_wrapper(argv))[:200]
            raise IncompleteRun(
                f"{what}: {shown} {how}{f': {said[:200]}' if said else ''};"
                f" its output is in {self._named(output)}.*"
            )

    def _named(self, output: Path) -> Path:
        """Return the place of an output in the result's folder, or its whole path elsewhere."""
        inside = output.is_relative_to(self._result)
        return output.relative_to(self._result) if inside else output

    def _limit(self, command: Command) -> float:
        """Return the seconds a program may take."""
        return command.timeout or seconds(self._plan.blocks.timeout)

    def _measure(
        self,
        order: Order,
        command: Command,
        record: RunRecord,
        here: Stage,
        stage: Stage,
        server: Running | None,
    ) -> None:
        # What it costs falls on the run, so it is for runs that are not judged.
        trace = self._counters.trace if order.key.warmup else None
        served = tasks_of(self._system, server.pid) if trace and server else {}
        watched = Watched(self._system, self._cpus, self._counters)
        there = self._client and self._client.watched()
        self._system.pause(seconds(self._plan.blocks.settle))
        watched.begin()
        if there:
            there.begin()
            with counted_by_perf(self._system, self._counters.perf, here.folder, self._env):
                exit_ = self._execute(order.variant.around, command, stage, None)
            there.end(exit_.cpu_seconds)
            watched.end(0.0)
        else:
            exit_ = self._execute(order.variant.around, command, stage, trace)
            watched.end(exit_.cpu_seconds)
        record.busy_before, record.busy_during = watched.busy_before, watched.busy_during
        record.seconds, record.exit_status = exit_.seconds, exit_.status
        record.cpu_seconds = exit_.cpu_seconds + watched.beside
        if exit_.timed_out:
            limit = f"{command.timeout:g} s" if command.timeout else self._plan.blocks.timeout
            raise IncompleteRun(f"did not end within {limit}; it and all it started were killed")
        if exit_.printed_too_much:
            raise IncompleteRun(
                f"printed more than {(command.most_output or 0) >> 20} MiB; it and all it started"
                " were killed, and the rest of its output is cut off"
            )
        watched.check_clock()
        output = Output(
            _text(stage.folder / "stdout.txt"),
            _text(stage.folder / "stderr.txt"),
            exit_.status,
            stage.folder,
        )
        values, caveats = order.case.measure(command, output)
        record.counters |= watched.counts(here.folder / "perf.csv")
        if self._client and there:
            there.check_clock()
            record.counters |= self._client.counts(there, stage.folder / "perf.csv")
        if trace:
            file, program = self._system.place(here.folder / _SWITCHES), command.argv[0]
            record.counters |= trace.read(self._system, file, program, served)
        record.counters |= order.case.benchmark.count(output)
        record.metrics = {metric.name: value for metric, value in values.items()}
        record.caveats = caveats
        if exit_.left_behind:
            count = exit_.left_behind
            what = "a process" if count == 1 else f"{count} processes"
            record.caveats.append(f"left {what} running; killed")

    def _execute(
        self, around: Around, command: Command, stage: Stage, trace: SchedTrace | None
    ) -> Exit:
        counters = self._client.counters if self._client else self._counters
        argv = around.prefix + command.argv
        if trace:
            argv = trace.wrap(argv, stage.system.place(stage.folder / _SWITCHES))
        if counters.perf:
            argv = counters.perf.wrap(argv, stage.system.place(stage.folder / "perf.csv"))
        return stage.system.execute(
            Launch(
                argv,
                stdout=stage.folder / "stdout.txt",
                stderr=stage.folder / "stderr.txt",
                env={**around.env, **self._env},
                timeout=self._limit(command),
                folder=stage.place,
                most_output=command.most_output,
            )
        )


def _went_wrong(exit_: Exit, command: Command) -> str:
    """Return how a program ended that does not count; empty if all is well."""
    if exit_.timed_out:
        return "did not end in time"
    if exit_.printed_too_much:
        return f"printed more than {(command.most_output or 0) >> 20} MiB"
    return f"ended with {exit_.status}" if exit_.status else ""


def _make_folder(folder: Path) -> None:
    """Make a folder of a run; HostError where that fails."""
    with writing(folder):
        folder.mkdir(parents=True)


@contextmanager
def _furnished(command: Command, folder: Path) -> Iterator[Path | None]:
    """Put a command's files and folders into the run's; return where it is to run, if not here."""
    for enclosure in command.enclosures:
        enclosure.put(folder)
    try:
        for name in command.scratch:
            _make_folder(folder / name)
        yield folder if command.in_folder else None
    finally:
        with uninterrupted():
            for name in command.scratch:
                shutil.rmtree(folder / name, ignore_errors=True)
            for file in (file for pattern in command.passing for file in folder.glob(pattern)):
                file.unlink(missing_ok=True)


def _shown(around: Around, argv: tuple[str, ...]) -> str:
    env = [f"{name}={shlex.quote(value)}" for name, value in around.env.items()]
    return " ".join([*env, shlex.join(around.prefix + argv)])


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_OUTPUT).decode(errors="replace")
    except OSError as error:
        raise IncompleteRun(f"{path.name} cannot be read: {error.strerror}") from error


def _check_own(system: System, commands: Mapping[str, Command]) -> None:
    """Build those of our own programs that commands need, and let a system find them."""
    for name in OWN.keys() & {command.tool for command in commands.values()}:
        if not system.which(name):
            system.add_to_path(OWN[name]().parent)


def _check_tools(
    system: System,
    cases: Sequence[Case],
    programs: Mapping[str, Sequence[str]],
    where: str = "",
) -> None:
    """Refuse a plan whose programs, by the labels of its cases, are not all there."""
    missing: dict[str, dict[str, None]] = {}
    packages: set[str] = set()
    for case in cases:
        for program in programs[case.label]:
            if system.which(program) is None:
                missing.setdefault(program, {})[case.sweep or case.label] = None
                packages.add(_package(case, program))
    if missing:
        lines = [f"{tool} is not installed{where}: {', '.join(by)}" for tool, by in missing.items()]
        known = sorted(filter(None, packages))
        advice = [f"Install{where}: apt-get install {' '.join(known)}"] if known else []
        if "" in packages:
            advice.append(
                "A program of your own: name it as ./PROGRAM or /PATH/PROGRAM, make it executable"
            )
        raise HostError(f"{'; '.join(lines)}.\n  {'; '.join(advice)}; or use --only for others.")


def _package(case: Case, program: str) -> str:
    """Return the Debian package of a program of a case; empty where the user has to see to it."""
    tools = (case.benchmark.tool, *case.benchmark.tools)
    known = (tool.package for tool in tools if (program,) in tool.wanted)
    return next(known, case.benchmark.tool.package)


def _check_variants(system: System, plan: Plan) -> None:
    """Refuse variants this host cannot even try."""
    for variant in plan.variant:
        check_place(variant, HOST.place)
        if TAG in variant.around.env:
            raise UsageError(f"variant {variant.name}: env: {TAG} is schedlab's own.")
        for command in variant.around.commands:
            if system.which(command[0]) is None:
                raise HostError(f"variant {variant.name}: {command[0]} is not installed.")


@dataclass(frozen=True)
class _Face:
    """All that makes a variant what it is on this host."""

    settings: dict[str, str]
    around: Around


def _check_faces(plan: Plan, switchboard: Switchboard) -> None:
    """Try every variant once; refuse those that differ in nothing, unless the plan is A/A."""

    def tried() -> Iterator[tuple[str, _Face]]:
        for variant in plan.variant:
            with switchboard.applied(variant) as settings:
                face = _Face(settings, variant.around)
            yield variant.name, face

    def shared(face: _Face) -> str:
        shown = ", ".join(f"{label} = {value}" for label, value in face.settings.items())
        return f" on this host{f' ({shown})' if shown else ''}"

    check_alike(plan.aa, tried(), shared)
