"""The target of a real kernel in QEMU: the same runs as on a host, in a guest."""

import re
import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path

from schedlab.base.errors import SystemLost, UsageError
from schedlab.benchmarks import Case, all_tools
from schedlab.kernels.native import OWN, PROGRAM, schedlab_load
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.kernels.scx_programs import ScxPrograms
from schedlab.kernels.shelf import Shelf
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import HOST, VM
from schedlab.result.record import RunRecord
from schedlab.settings.kinds import settings_in
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.variant import Variant
from schedlab.targets.alike import check_alike
from schedlab.targets.guest.guest import QEMU, Guest
from schedlab.targets.guest.guests import Booted, Guests
from schedlab.targets.guest.kernel import Kernel as GuestKernel
from schedlab.targets.guest.kernel import find_kernel, kernel_config, variants_kernel
from schedlab.targets.guest.shape import shape_of
from schedlab.targets.host import HostTarget
from schedlab.targets.scx_setup import set_up
from schedlab.targets.target import Order, Session


class VmTarget:
    """A kernel, booted on a described machine as far as QEMU can show it."""

    kind = VM

    def __init__(
        self,
        which: str,
        machine: str | None,
        variants: Sequence[Variant] = (),
        watch: Watch | None = None,
        tree: str | None = None,
        programs: Sequence[str] = (),
    ) -> None:
        """Take a kernel, a machine, and the variants there will be; nothing is booted yet.

        `tree` names its sources, where its own name does not; guests have these `programs` of this
        host's, beside those of the benchmarks.

        Raises:
            UsageError: no machine is named, or one that QEMU cannot show.
        """
        self.name = self.kind.target(which)
        self._tree = tree
        self.beside: dict[str, Path] = {}
        """More files of the guest, by their places there."""
        self._which = which
        self._programs = tuple(programs)
        if machine is None:
            raise UsageError(
                f"{self.name}: a guest needs a machine to show; name one with --machine;"
                " `schedlab machine list` shows all."
            )
        self.watch = watch or Watch()
        self._variants = tuple(variants) or (Variant(name="base"),)
        self._described = find_machine(machine)
        self._shape = shape_of(self._described)
        self._machine: Machine | None = None

    @cached_property
    def guests(self) -> Guests:
        """Return the guests; they end with this target."""
        tools = [tool for tool in all_tools() if tool.package and tool.in_guests]
        theirs = (name for tool in tools for names in tool.wanted for name in names)
        servers = [words[0] for each in self._variants for words in each.around.commands]
        data = (place for tool in tools for place in tool.files if Path(place).is_file())
        files = {place: Path(place) for place in data}
        files[f"/usr/local/bin/{PROGRAM}"] = schedlab_load()
        files |= self._schedulers() | self.beside
        programs = list(dict.fromkeys([*theirs, *OWN, *servers, *self._programs]))
        guests = Guests(self._shape, programs, files, self.watch)
        weakref.finalize(self, guests.close)
        return guests

    def _schedulers(self) -> dict[str, Path]:
        """Return the programs of the variants' sched_ext schedulers, built from the tree.

        With them comes the kernel's configuration, which they read while they are loaded.
        """
        files: dict[str, Path] = {}
        for variant in self._variants:
            scheduler = Scx.of(variant)
            if scheduler and not shutil.which(f"scx_{scheduler}"):
                programs = self.scx_programs(variant)
                files |= kernel_config(self.booted(variant).kernel, self.watch)
                files |= programs.files(scheduler, set_up(scheduler, self._described))
        return files

    def scx_programs(self, variant: Variant) -> ScxPrograms:
        """Return the programs of the tree's schedulers, for the kernel that a variant boots.

        Raises:
            KernelError: no such tree was added.
        """
        shelf, named = Shelf(), self._tree or Kernel.of(variant) or self._which
        known = shelf.recipe(named).base if named in shelf.names() else named
        return ScxPrograms(shelf.base(known), self.booted(variant).kernel.file, self.watch)

    def booted(self, variant: Variant) -> Booted:
        """Return what a variant boots."""
        named = Kernel.of(variant)
        kernel = variants_kernel(named, self.watch) if named else self._kernel
        return Booted(kernel, variant.boot_options)

    def guest(self, variant: Variant) -> Guest:
        """Return the running guest of a variant."""
        return self.guests.at_work(self.booted(variant))

    def machine(self) -> Machine:
        """Describe the machine as the first variant's guest sees it."""
        if self._machine is None:
            seen = describe(self.guest(self._variants[0])).machine
            _check_shown(self._described, seen)
            title = f"{self._described.title or self._described.name}, as QEMU shows it"
            self._machine = seen.model_copy(
                update={"name": f"vm-{self._described.name}", "title": title}
            )
        return self._machine

    def environment(self, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
        """Return the guest's platform table, and what it runs on."""
        machine = self.machine()
        guest = self.guest(plan.baseline)
        version = re.search(r"version (\S+)", output([QEMU, "--version"])[1])
        kernels = dict.fromkeys(self.booted(variant).title for variant in plan.variant)
        return {
            "Kind": f"a guest of QEMU {version[1] if version else ''}, {guest.accelerator.title}",
            "Machine": machine.title,
            "Kernels": "; ".join(kernels),
            **HostTarget(guest).environment(plan, cases),
        }

    def shown(self, case: Case) -> str:
        """Return the command line."""
        return HostTarget(self.guest(self._variants[0])).shown(case)

    def preview(self, order: Order) -> list[str]:
        """Return what a run would boot, write and call; its guest is booted for that."""
        plain = _plain(order.variant)
        preview = HostTarget(self.guest(order.variant)).preview(
            Order(order.key, order.case, plain, order.seed, order.position)
        )
        return [f"boot {self.booted(order.variant).title}", *preview]

    @contextmanager
    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> Iterator["VmSession"]:
        """Boot a guest for each kernel and options, and make each ready as a host is."""
        boots = {variant.name: self.booted(variant) for variant in plan.variant}
        if plan.aa:  # of others a guest's settings may differ where its boot does not
            check_alike(plan.aa, boots.items(), str)
        session = VmSession(self, plan, cases, scratch, boots)
        try:
            session.begin(self._notices(plan))
            yield session
        finally:
            session.close()
            self.guests.close()

    def _notices(self, plan: Plan) -> list[str]:
        notices = [f"the guest runs on {self.guest(plan.baseline).accelerator.title}"]
        if self._shape.not_shown:
            notices.append(
                f"of {self._described.name} QEMU shows: {'; '.join(self._shape.not_shown)}"
            )
        return notices

    @cached_property
    def _kernel(self) -> GuestKernel:
        return find_kernel(self._which, self.watch)


def named(
    which: str, machine: str | None, variants: Sequence[Variant], watch: Watch | None
) -> VmTarget:
    """Return a kernel to boot as a target."""
    return VmTarget(which, machine, variants, watch)


@contextmanager
def guest(
    which: str, machine: str | None, programs: Sequence[str], watch: Watch
) -> Iterator[Guest]:
    """Yield a booted guest that has these programs of this host's; it ends with the block."""
    target = VmTarget(which, machine, watch=watch, programs=programs)
    try:
        yield target.guest(Variant(name="base"))
    finally:
        target.guests.close()


class VmSession:
    """Guests made ready for one plan: each is a host of its own."""

    def __init__(
        self,
        target: VmTarget,
        plan: Plan,
        cases: list[Case],
        scratch: Path,
        boots: dict[str, Booted],
    ) -> None:
        """Take the plan and what each of its variants boots."""
        self.notices: list[str] = []
        self._target = target
        self._plan = plan
        self._cases = cases
        self._scratch = scratch
        self._boots = boots
        self._sessions: dict[Booted, Session] = {}
        self._open: dict[Booted, ExitStack] = {}

    def begin(self, notices: Sequence[str]) -> None:
        """Make every guest ready, so that what is wrong is found before the first run."""
        self.notices += notices
        for what in dict.fromkeys(self._boots.values()):
            try:
                self._session(what)
            except SystemLost as error:
                # An emulated guest hangs now and then; nothing has been measured in it yet.
                self.notices.append(f"{what.title} was booted again: {error}")
                self._target.guests.forget(what)
                self._session(what)

    def run(self, order: Order, raw: Path) -> RunRecord:
        """Make one run in its variant's guest; a lost guest is booted again for the next run."""
        what = self._boots[order.variant.name]
        session = self._session(what)
        noticed = len(session.notices)
        plain = Order(order.key, order.case, _plain(order.variant), order.seed, order.position)
        record = session.run(plain, raw)
        self.notices += session.notices[noticed:]
        if len(set(self._boots.values())) > 1:
            record.settings = {"booted": what.title, **record.settings}
        if not self._target.guests.at_work(what).alive:
            self._forget(what)
        return record

    def close(self) -> None:
        """Put every guest in order."""
        for what in list(self._open):
            self._forget(what)

    def _session(self, what: Booted) -> Session:
        guest = self._target.guests.at_work(what)
        if what not in self._sessions:
            variants = tuple(_plain(v) for v in self._plan.variant if self._boots[v.name] == what)
            plan = self._plan.model_copy(update={"variant": variants})
            stack = ExitStack()
            opened = HostTarget(guest, self._target.watch).open(plan, self._cases, self._scratch)
            self._sessions[what] = stack.enter_context(opened)
            self._open[what] = stack
            fresh = self._sessions[what].notices
            self.notices += [line for line in fresh if line not in self.notices]
        return self._sessions[what]

    def _forget(self, what: Booted) -> None:
        """Leave a guest, lost or not; what it was set to is gone with it."""
        del self._sessions[what]
        try:
            with suppress(SystemLost):
                self._open.pop(what).close()
        finally:
            self._target.guests.forget(what)


def _plain(variant: Variant) -> Variant:
    """Return what of a variant is switched in a booted guest."""
    booted = [kind for kind in settings_in(VM.place) if HOST.place not in kind.where]
    return variant.model_copy(update={kind.key: kind.default for kind in booted})


def _check_shown(asked: Machine, seen: Machine) -> None:
    """Refuse a guest whose kernel sees another number of things than were asked for."""
    for level in ("core", "llc", "node"):
        wanted = sorted(len(group) for group in asked.groups(level))
        found = sorted(len(group) for group in seen.groups(level))
        if wanted != found:
            raise SystemLost(
                f"the guest does not see the machine {asked.name}: it has"
                f" {len(found)} groups of CPUs at level {level}, not {len(wanted)}."
            )
