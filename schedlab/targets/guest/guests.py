"""The guests of a plan: one for each kernel and boot options, one of them at work at a time."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import SystemLost
from schedlab.kernels.progress import Watch
from schedlab.targets.guest.guest import Boot, Guest, check_tools, start, write_initramfs
from schedlab.targets.guest.kernel import Kernel
from schedlab.targets.guest.shape import Shape


@dataclass(frozen=True)
class Booted:
    """What tells guests of one machine apart."""

    kernel: Kernel
    options: str = ""

    @property
    def title(self) -> str:
        """Return what is booted."""
        return f"{self.kernel.title}{f' with {self.options}' if self.options else ''}"


class Guests:
    """Boots guests when they are first needed; all but the one at work stand still."""

    def __init__(
        self, shape: Shape, programs: Sequence[str], files: Mapping[str, Path], watch: Watch
    ) -> None:
        """Take what all guests have: the machine's shape, programs of this host's, files."""
        self._shape = shape
        self._programs = programs
        self._files = files
        self._watch = watch
        self._guests: dict[Booted, Guest] = {}
        self._at_work: Guest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def at_work(self, what: Booted) -> Guest:
        """Return the guest of a kernel and options, going, and stop the one that was at work.

        Raises:
            SchedlabError: it cannot be booted.
        """
        guest = self._guests.get(what)
        if guest is None or guest is not self._at_work:
            self._rest()
            if guest is None:
                guest = self._boot(what)
            else:
                guest.cont()
            self._at_work = guest
        return guest

    def forget(self, what: Booted) -> None:
        """End a guest; it is booted again when it is needed."""
        guest = self._guests.pop(what, None)
        if guest:
            if guest is self._at_work:
                self._at_work = None
            guest.close()

    def close(self) -> None:
        """End every guest."""
        for what in list(self._guests):
            self.forget(what)
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def _rest(self) -> None:
        if self._at_work:
            with suppress(SystemLost):  # it is found out when it is needed
                self._at_work.stop()
            self._at_work = None

    def _boot(self, what: Booted) -> Guest:
        check_tools()
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="schedlab-vm-")
        initramfs = Path(self._folder.name) / "initramfs"
        if not initramfs.exists():
            write_initramfs(self._programs, self._files, initramfs, self._watch)
        with self._watch.task(f"booting {what.title}") as step:
            step(0.0, f"{self._shape.cpus} CPUs")
            guest = start(Boot(what.kernel, what.options, self._shape, initramfs))
        self._guests[what] = guest
        return guest
