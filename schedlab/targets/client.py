"""The machine a plan's load comes from, where that is not the machine that serves."""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from schedlab.base.errors import HostError, IncompleteRun, SystemLost, UsageError
from schedlab.base.system import SshSystem, System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.ssh import reconnect
from schedlab.benchmarks import Case, Command
from schedlab.benchmarks.server import Ends
from schedlab.benchmarks.tool import find_programs
from schedlab.counters.choice import CounterChoice, choose
from schedlab.counters.group import Counts
from schedlab.counters.meaning import CLIENT, CLIENT_OTHERS
from schedlab.counters.sched_trace import SchedTrace
from schedlab.kernels.progress import Watch
from schedlab.machine.here import describe
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import SSH, split
from schedlab.settings.journal import restore_journal
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import Variant
from schedlab.targets.platform import platform_table
from schedlab.targets.watching import Watched

ROW = "Client: "
"""How the rows of a platform table begin that are of this machine."""
_SOURCE = re.compile(r"\bsrc (\d+\.\d+\.\d+\.\d+)")
_ANY = "0.0.0.0"
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")


@dataclass(frozen=True)
class Asked:
    """Which machine a plan wants its load from, and where that finds the server."""

    name: str
    """`ssh:HOST`."""
    address: str = ""
    """The server's as the plan gives it."""


def asked_by(plan: Plan) -> Asked | None:
    """Return which client a plan asks for, if it does."""
    return Asked(plan.client, plan.server_address) if plan.client else None


class Client:
    """A machine that ssh reaches and that runs the load of a plan's benchmarks."""

    def __init__(self, asked: Asked, target: System, watch: Watch) -> None:
        """Connect to it.

        Raises:
            UsageError: it is not a host that ssh reaches.
            SystemLost: it cannot be reached.
        """
        kind, which = split(asked.name)
        if kind is not SSH or not which:
            raise UsageError(f"client: {asked.name} is not {SSH.syntax}.")
        self.name = asked.name
        self._asked = asked
        self._target = target
        self._watch = watch
        self.system = SshSystem(which, part="client")
        self._boot = self.system.boot_id()
        self._target_boot = target.boot_id()
        self._stack = ExitStack()
        self.notices: list[str] = []

    @cached_property
    def machine(self) -> Machine:
        """Describe it from its sysfs, read once."""
        return describe(self.system).machine

    @cached_property
    def ends(self) -> Ends:
        """Return the address it finds the server at, and its own on the way there.

        Raises:
            HostError: there is no way, or the server's machine has no such address.
        """
        server = self._asked.address or self._server_seen()
        if not _ADDRESS.fullmatch(server):
            raise HostError(
                f"{self.name}: the server's address is not known ('{server[:80]}' is not one of"
                " IPv4).\n  Give it in the plan: server_address = '192.0.2.1'."
            )
        ask = ("ip", "-4", "route", "get", server)
        there, here = self.system.capture(ask), self._target.capture(ask)
        if not here.stdout.startswith("local ") or server == _ANY:
            raise HostError(
                f"{self.name} sees this machine as {server}, which is not an address of it.\n  Give"
                " the address at which it reaches the server in the plan: server_address ="
                " '192.0.2.1'."
            )
        if there.stdout.startswith("local ") and _network(self.system) != _network(self._target):
            raise HostError(
                f"{self.name} has the address {server} itself, so its load would ask a server of"
                " its own.\n  Give an address that only the server's machine has in the plan:"
                " server_address = '192.0.2.1'."
            )
        source = _SOURCE.search(there.stdout)
        if not source:
            said = there.stderr.strip().partition("\n")[0][:200]
            raise HostError(f"{self.name} has no way to the server's address {server}: {said}")
        return Ends(server, source[1])

    def _server_seen(self) -> str:
        """Return the address of the server's machine that one end of a line by ssh has."""
        if isinstance(self._target, SshSystem):
            asked, word = self._target, 2
        else:
            asked, word = self.system, 0
        words = asked.run('echo "$SSH_CONNECTION"').out.decode(errors="replace").split()
        return words[word] if len(words) > word else ""

    def check_command(self, label: str, command: Command) -> None:
        """Refuse a benchmark that has no part which could run here."""
        if not command.has_client:
            raise UsageError(
                f"client: {label} ({command.tool}) has no load that could come from another"
                " machine; leave it out with --only, or leave out the client."
            )

    def platform(self, commands: Iterable[Command]) -> dict[str, str]:
        """Return its rows of the platform table."""
        rows = platform_table(self.system, self.machine, [command.tool for command in commands])
        return {f"{ROW}{row}": value for row, value in rows.items()}

    def finds(self, case: Case, command: Command) -> bool:
        """Return whether it has all that a command's load needs."""
        find_programs(self.system, (case.benchmark.tool, *case.benchmark.tools))
        return all(map(self.system.which, command.load_programs))

    @contextmanager
    def open(self, plan: Plan, cases: Iterable[Case], tag: str) -> Iterator["Client"]:
        """Hold the machine for a plan; end what was started there in the end.

        Raises:
            UsageError: the plan asks for what has no meaning with a client.
            HostError: another lab is there.
            SystemLost: it was lost, and could not be put in order.
        """
        _check_variants(plan.variant)
        if bound := [case.label for case in cases if case.is_bound]:
            raise UsageError(f"cpus: {', '.join(bound)}: with a client, bind the server yourself.")
        self._hold()
        board: Switchboard | None = None
        try:
            self.notices += [
                f"{self.name}: before the start: {x}" for x in restore_journal(self.system)
            ]
            board = Switchboard(self.system, [])
            board.begin(tag)
            self.counters = self._counters(plan)
            yield self
            with uninterrupted():
                self.system.end_all()
                board.end()
        except BaseException:
            with uninterrupted(), suppress(SystemLost):
                self.system.end_all()
                if board:
                    board.end()
            raise
        finally:
            with uninterrupted(), suppress(SystemLost):
                self._stack.close()

    @property
    def _shared(self) -> bool:
        """Whether it is the server's machine under another name."""
        return self._boot == self._target_boot

    def _hold(self) -> None:
        if self._shared:
            line = f"{self.name} is the machine of the server: both share its CPUs"
            self.notices += [] if line in self.notices else [line]
        else:
            self._stack.enter_context(self.system.held())

    def _counters(self, plan: Plan) -> CounterChoice:
        names = plan.counters
        if names != "all":
            names = tuple(name for name in names if name != SchedTrace.name)
        found = choose(self.system, names)
        self.notices += [f"{self.name}: not counted: {line}" for line in found.missing]
        return found

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Fail the run when the connection is lost inside a `with` block."""
        try:
            yield
        except SystemLost as error:
            if self.system.alive:
                raise
            raise IncompleteRun(f"the client was lost: {error}") from error

    def ready(self) -> None:
        """Check that it is there, as it was; wait for it if it is not.

        Raises:
            SystemLost: it did not come back.
        """
        if self.system.alive:
            return
        began = time.monotonic()
        with suppress(SystemLost):
            self._stack.close()
        with self._watch.task(f"{self.name}: connection lost, waiting for it"):
            reconnect(self.system)
        away = f"{self.name}: the connection was lost for {time.monotonic() - began:.0f} s"
        if (boot := self.system.boot_id()) != self._boot:
            away += "; it was booted anew"
            self._boot = boot
        self.notices.append(away)
        self._hold()

    def watched(self) -> Watched:
        """Begin to watch it before a run."""
        return Watched(self.system, self.machine.nr_cpus, self.counters)

    def counts(self, watched: Watched, perf_report: Path) -> Counts:
        """Return what was counted on it during a run, and other work, by the counters' names."""
        counted = {f"{CLIENT}{name}": n for name, n in watched.counts(perf_report).items()}
        # The servers on the same machine do not count as other work.
        others = {} if self._shared else {CLIENT_OTHERS: watched.busy_during}
        return counted | others


def _check_variants(variants: Iterable[Variant]) -> None:
    """Refuse what goes with the load's command: only the server's machine is changed."""
    for variant in variants:
        if variant.around.prefix or variant.around.env:
            raise UsageError(
                f"variant {variant.name}: prefix and env go with the load, which is on the client;"
                " only the machine of the server is changed."
            )


def _network(system: System) -> str:
    """Return what tells networks apart: two systems of one machine may have the same one."""
    ask = "cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/net"
    return system.capture(("sh", "-c", ask)).stdout
