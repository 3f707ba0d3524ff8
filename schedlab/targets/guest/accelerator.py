"""KVM where it really boots a guest, else QEMU's software emulation."""

import os
from dataclasses import dataclass
from pathlib import Path

from schedlab.kernels.cache import cache_folder, write_whole

_KVM = Path("/dev/kvm")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Accelerator:
    """What runs a guest's code, and on which model of a CPU."""

    name: str
    options: tuple[str, ...]
    caveat: str = ""
    """What it does to results."""

    @property
    def title(self) -> str:
        """Name it, with what it does to results."""
        return f"{self.name}: {self.caveat}" if self.caveat else self.name


KVM = Accelerator("KVM", ("-accel", "kvm", "-cpu", "host,l3-cache=on"))
EMULATION = Accelerator(
    "software emulation (QEMU TCG)",
    # Of the models TCG knows, one that shows SMT siblings.
    ("-accel", "tcg,thread=multi", "-cpu", "Nehalem"),
    "counts and decisions are real, times are not",
)


def candidates() -> list[Accelerator]:
    """Return the accelerators to try, the best first."""
    usable = os.access(_KVM, os.R_OK | os.W_OK) and not _gave_up()
    return [KVM, EMULATION] if usable else [EMULATION]


def give_up_kvm() -> None:
    """Remember until this host's next boot that KVM boots no guest, though it is there."""
    write_whole(_mark(), _BOOT_ID.read_text())


def _gave_up() -> bool:
    return _mark().is_file() and _mark().read_text() == _BOOT_ID.read_text()


def _mark() -> Path:
    return cache_folder() / "vm" / "kvm-boots-nothing"
