"""A running guest: QEMU with a kernel, our files and a shell to speak to."""

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.base.errors import SystemLost
from schedlab.base.system import RemoteSystem
from schedlab.base.system.installed import need_programs
from schedlab.base.system.shell import Answer, Shell
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.debian import package_file
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.targets.guest.accelerator import KVM, Accelerator, candidates, give_up_kvm
from schedlab.targets.guest.initramfs import Initramfs
from schedlab.targets.guest.kernel import Kernel
from schedlab.targets.guest.monitor import Monitor
from schedlab.targets.guest.shape import Shape

QEMU = "qemu-system-x86_64"
_NEEDED = {QEMU: "qemu-system-x86", "setpriv": "util-linux", "ldd": "libc-bin"}
_BUSYBOX = "busybox"
_BUSYBOX_PACKAGE = "busybox-static"
_OPTIONS = "console=ttyS0 quiet panic=-1 mitigations=off"
_UP_SECONDS = 40.0
_UP_SECONDS_EACH_CPU = 0.75
"""A guest that is not up by then hangs; emulated, 8 CPUs need 4 to 14, and 252 need 160."""
_KVM_UP_SECONDS = 20.0
_TRIES = 4
"""Boots until one succeeds: emulated guests panic or hang now and then before their first process.
Seen is a CPU that executes the trap of an instruction the kernel is just patching (QEMU 7.2)."""
_QUOTED_LINES = 12
_TELLING = re.compile(r"Kernel panic|BUG:|Oops|WARNING:|lockup|stall")
"""Where the kernel begins to say what is wrong."""
_CONTROL = re.compile(r"\x1b(\[[\d;?=]*[A-Za-z]|.)|[^\x20-\x7e]")


@dataclass(frozen=True)
class Boot:
    """All that a guest is booted from."""

    kernel: Kernel
    options: str
    """Beside our own, for the kernel's command line."""
    shape: Shape
    initramfs: Path


class Guest(RemoteSystem):
    """A booted guest. It ends with `close`, and with this process however that ends."""

    def __init__(self, boot: Boot, accelerator: Accelerator) -> None:
        """Boot; SystemLost where the guest does not come up."""
        self.accelerator = accelerator
        self._interrupted: BaseException | None = None
        self._files = tempfile.TemporaryDirectory(prefix="schedlab-guest-")
        folder = Path(self._files.name)
        self._words = (folder / "qemu", folder / "console")
        monitor = folder / "monitor"
        argv = [
            # QEMU does not outlive us, even if we are killed.
            *("setpriv", "--pdeathsig", "KILL", QEMU, *accelerator.options),
            *("-no-reboot", "-nodefaults", "-display", "none", *boot.shape.options()),
            *("-serial", f"file:{self._words[1]}", "-serial", "stdio"),
            *("-qmp", f"unix:{monitor},server=on,wait=off"),
            *("-kernel", str(boot.kernel.file), "-initrd", str(boot.initramfs)),
            *("-append", f"{_OPTIONS} {boot.options}".strip()),
        ]
        began = time.monotonic()
        with self._words[0].open("wb") as words:
            self._qemu = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,
            )
        shell = Shell(self._qemu, "the guest")
        super().__init__(shell, folder / "state", "/tmp/schedlab")
        self._monitor: Monitor | None = None
        try:
            shell.await_ready(_patience(boot.shape, accelerator))
            self._monitor = Monitor(monitor)
        except (SystemLost, OSError) as error:
            said = self._said()
            self.close()
            raise SystemLost(f"the guest did not start.{said}") from error
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - began

    def run(self, script: str, seconds: float | None = None) -> Answer:
        """Run commands in the guest; one that does not answer is killed, and its console quoted.

        Raises:
            SystemLost: it did not answer, now or before.
        """
        if self._interrupted:
            raise self._interrupted
        try:
            if self.alive:
                return super().run(script, seconds)
        except SystemLost:
            pass
        except BaseException as stopped:
            # What the shell answers next is not what is asked next; and there is nothing to keep.
            self._interrupted = stopped
            self._kill()
            raise
        said = self._said()
        self._kill()
        raise SystemLost(f"the guest panicked or hangs, and was killed.{said}")

    @property
    def alive(self) -> bool:
        """Return whether it can still be spoken to."""
        return self._qemu.poll() is None

    @property
    def pid(self) -> int:
        """Return QEMU's process id."""
        return self._qemu.pid

    def stop(self) -> None:
        """Pause the guest and its time."""
        if self._monitor:
            self._monitor.stop()

    def cont(self) -> None:
        """Resume the guest."""
        if self._monitor:
            self._monitor.cont()

    def clock_offset(self) -> float:
        """Return none: nobody sets a guest's clock."""
        return 0.0

    def close(self) -> None:
        """End the guest and forget its files."""
        self._kill()
        if self._monitor:
            self._monitor.close()
            self._monitor = None
        for pipe in (self._qemu.stdin, self._qemu.stdout):
            if pipe:
                pipe.close()
        self._files.cleanup()

    def _kill(self) -> None:
        if self._qemu.poll() is None:
            self._qemu.send_signal(signal.SIGKILL)
            self._qemu.wait()

    def _said(self) -> str:
        """Return the end of what QEMU and the guest's console said."""
        printed = []
        for file in self._words:
            if file.is_file():
                text = file.read_text(errors="replace").splitlines()
                printed += [line for raw in text if (line := _CONTROL.sub("", raw).strip())]
        if not printed:
            return " Its console is empty."
        telling = next((i for i, line in enumerate(printed) if _TELLING.search(line)), None)
        if telling is None:
            return "\n  Its console ends:\n    " + "\n    ".join(printed[-_QUOTED_LINES:])
        return "\n  Its console:\n    " + "\n    ".join(printed[telling:][:_QUOTED_LINES])


def start(boot: Boot) -> Guest:
    """Boot a guest with the best accelerator that boots it; a failed boot is tried again.

    Raises:
        SystemLost: none does; with the console's last words.
    """
    for accelerator in candidates():
        tries = 1 if accelerator is KVM else _TRIES
        for _ in range(tries):
            try:
                guest = Guest(boot, accelerator)
            except SystemLost as error:
                lost = error
                continue
            return guest
        if accelerator is KVM:
            give_up_kvm()
    raise lost


def check_tools() -> None:
    """Refuse early where no guest can be booted; HostError if a tool is missing."""
    need_programs(_NEEDED, "a guest")


def write_initramfs(
    programs: Sequence[str], files: Mapping[str, Path], to: Path, watch: Watch
) -> None:
    """Write a guest's files: busybox, the first process, programs of this host's, and files."""
    archive = Initramfs()
    archive.add(busybox(watch), "/bin/busybox")
    archive.add(data_folder("guest") / "init", "/init")
    archive.add(Path("/etc/os-release"))
    for program in programs:
        if place := shutil.which(program):
            archive.add_program(Path(place).resolve(), place)
    for place, file in files.items():
        archive.add_program(file, place)
    archive.write(to)


def busybox(watch: Watch) -> Path:
    """Return a busybox that needs no library: this host's, or Debian's downloaded."""
    here = shutil.which(_BUSYBOX)
    if here and "not a dynamic executable" in output(["ldd", here])[1]:
        return Path(here)
    return package_file(_BUSYBOX_PACKAGE, "bin/busybox", cache_folder() / "debian", watch)


def _patience(shape: Shape, accelerator: Accelerator) -> float:
    if accelerator is KVM:
        return _KVM_UP_SECONDS
    return _UP_SECONDS + _UP_SECONDS_EACH_CPU * shape.cpus
