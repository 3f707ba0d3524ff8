"""How a plan's machine is booted, where the lab boots it."""

from typing import Literal

from schedlab.base.validation import Data
from schedlab.plan.duration import SomeTime


class Reboot(Data):
    """The table `[reboot]` of a plan."""

    by: Literal["grub", "kexec"] = "grub"
    """What boots an installed kernel once."""
    reboot_command: str = ""
    """A shell command of this host's that boots the machine, in place of either."""
    power_command: str = ""
    """A shell command of this host's for a machine that does not come back."""
    limit: SomeTime = "10min"
    """The longest a boot may take."""
