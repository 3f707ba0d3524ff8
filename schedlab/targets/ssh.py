"""The target of a host that ssh reaches: the same runs as here, and a line that can be lost."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType

from schedlab.base.errors import HostError, SystemLost
from schedlab.base.system import SshSystem
from schedlab.base.system.ssh import reconnect
from schedlab.benchmarks import Case
from schedlab.kernels.progress import Watch
from schedlab.plan.plan import Plan
from schedlab.plan.targets import SSH
from schedlab.result.record import RunRecord
from schedlab.settings.variant import Variant
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Order, Session

_MOST_LOSSES = 3
"""A run during which the connection is lost so often is recorded as failed."""


class SshTarget(HostTarget):
    """A remote host."""

    kind = SSH

    def __init__(self, system: SshSystem, watch: Watch | None = None) -> None:
        super().__init__(system, watch)
        self.name = system.name
        self._remote = system

    @contextmanager
    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> Iterator["SshSession"]:
        """Make the host ready, after every new connection."""
        there = HostTarget(self._remote, self._watch, self._client)
        opened = partial(there.open, plan, cases, scratch)
        with SshSession(self._remote, opened, self._watch) as session:
            yield session


def system(which: str) -> SshSystem:
    """Return the system of a host that ssh reaches."""
    return SshSystem(which)


def named(
    which: str, machine: str | None, variants: Sequence[Variant], watch: Watch | None
) -> SshTarget:
    """Return a remote host as a target."""
    return SshTarget(system(which), watch)


class SshSession:
    """A remote host made ready for one plan."""

    def __init__(
        self,
        system: SshSystem,
        opened: Callable[[], AbstractContextManager[Session]],
        watch: Watch,
    ) -> None:
        """Take the host and what makes it ready."""
        self.notices: list[str] = []
        self._system = system
        self._opened = opened
        self._watch = watch
        self._boot = system.boot_id()
        self._stack = ExitStack()

    def __enter__(self) -> "SshSession":
        """Make the host ready."""
        self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the host in order.

        Raises:
            SystemLost: it cannot be reached; it is put in order when it next is.
        """
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            if not self._system.alive:
                raise SystemLost(
                    f"{self._system.name}: the connection was lost before the host was restored;"
                    " the runs so far are kept.\n  `schedlab doctor --restore`, or the next plan"
                    " there, undoes what was left."
                )

    def _begin(self) -> None:
        """Make the host ready; what an earlier line left there is undone from the journal."""
        try:
            self._session = self._stack.enter_context(self._opened())
        except SystemLost:
            raise
        except HostError as error:
            raise type(error)(f"{self._system.name}: {error}") from error
        self._take_notices(self._session.notices)

    def run(self, order: Order, raw: Path) -> RunRecord:
        """Make one run; one during which the connection was lost is made again.

        Raises:
            SystemLost: the host did not come back.
            HostError: it came back booted anew.
        """
        for _ in range(_MOST_LOSSES):
            noticed = len(self._session.notices)
            record = self._session.run(order, raw)
            self._take_notices(self._session.notices[noticed:])
            if self._system.alive:
                break
            self._go_on(order)
        return record

    def _go_on(self, order: Order) -> None:
        """Wait for the host, and make it ready again."""
        with suppress(SystemLost):
            self._stack.close()
        began = time.monotonic()
        with self._watch.task(f"{self._system.name}: connection lost, waiting for it"):
            reconnect(self._system)
        if self._system.boot_id() != self._boot:
            raise HostError(
                f"{self._system.name}: was rebooted; its settings are those of a fresh boot."
                "\n  The runs so far are kept; `schedlab run --resume` goes on."
            )
        self._begin()
        self.notices.append(
            f"{order.key.case} [{order.key.variant}], run {order.position}: the connection was lost"
            f" for {time.monotonic() - began:.0f} s; the run was done again"
        )

    def _take_notices(self, fresh: list[str]) -> None:
        self.notices += [line for line in fresh if line not in self.notices]
