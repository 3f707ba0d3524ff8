"""How a plan's machine is booted, where the lab boots it."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from schedlab.base.validation import Data
from schedlab.plan.duration import SomeTime
from schedlab.settings.text import Filled

RELEASES = r"^[\w.+~-]+$"
"""What a kernel's release may be, as it goes into commands and the names of files."""


class Reboot(Data):
    """The table `[reboot]` of a plan."""

    by: Literal["grub", "kexec"] = "grub"
    """What boots an installed kernel once."""
    images: dict[Annotated[str, Field(pattern=RELEASES)], Filled] = {}
    """Kernels that are not installed there, by release: each is named as behind `vm:`."""
    reboot_command: str = ""
    """A shell command of this host's that boots the machine, in place of either."""
    power_command: str = ""
    """A shell command of this host's for a machine that does not come back."""
    limit: SomeTime = "10min"
    """The longest a boot may take."""

    @model_validator(mode="after")
    def _fits(self) -> "Reboot":
        if self.images and (self.by != "kexec" or self.reboot_command):
            raise ValueError("images: only kexec boots them; use by = 'kexec'")
        return self
