"""A guest: it begins anew for each boot."""

from collections.abc import Sequence

from schedlab.base.errors import UsageError
from schedlab.kernels.progress import Watch
from schedlab.plan.plan import Plan
from schedlab.plan.targets import known
from schedlab.settings.kinds.cmdline import Cmdline
from schedlab.settings.variant import Variant
from schedlab.targets.booting import Seen, Usual, Wanted, seen_on
from schedlab.targets.target import Target
from schedlab.targets.vm import VmTarget


def machine(plan: Plan, watch: Watch) -> "GuestMachine":
    """Return the guest of a plan.

    Raises:
        UsageError: the plan says how a machine is rebooted.
    """
    if plan.reboot:
        raise UsageError("reboot: a guest is started for each boot; leave out the table [reboot].")
    return GuestMachine(plan, watch)


def wanted(variant: Variant) -> Wanted:
    """Return how a guest is to be booted for a variant."""
    return Wanted(variant.name, options=tuple(Cmdline.of(variant).split()))


class GuestMachine:
    """A guest of QEMU: booting it is to begin a new one."""

    def __init__(self, plan: Plan, watch: Watch) -> None:
        self.name = plan.target
        self._plan = plan
        self._watch = watch
        self._variant = plan.baseline
        self._target: VmTarget | None = None
        self._last: Seen | None = None
        """How the guest was booted that was looked at last; its runs end it."""

    def check(self, wanted: Sequence[Wanted], usual: Usual | None = None) -> Usual:
        """Refuse nothing: a kernel that is not there is found when it is booted."""
        return Usual()

    def seen(self) -> Seen:
        """Look into the guest, which is booted for that when a boot was asked for."""
        if self._last is None:
            self._last = seen_on(self._here().guest(self._variant))
        return self._last

    def boot(self, wanted: Wanted) -> None:
        """End the guest; the next is booted when it is looked at."""
        if self._target:
            self._target.guests.close()
        self._target = self._last = None
        self._variant = next(v for v in self._plan.variant if v.name == wanted.variant)

    def power(self) -> bool:
        """Return False: a guest has no power switch."""
        return False

    def target(self) -> Target:
        """Return the guest as a target."""
        return self._here()

    def _here(self) -> VmTarget:
        if self._target is None:
            _, which = known(self._plan.target)
            self._target = VmTarget(which, self._plan.machine, (self._variant,), self._watch)
        return self._target
