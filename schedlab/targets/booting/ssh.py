"""A host that ssh reaches, booted by grub, by kexec or by a command of the user's."""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from schedlab.base.errors import HostError, SystemLost, UsageError
from schedlab.base.system import LocalSystem, SshSystem, System
from schedlab.kernels.progress import Watch
from schedlab.plan.plan import Plan
from schedlab.plan.reboot import RELEASES, Reboot
from schedlab.plan.targets import SSH, known
from schedlab.settings.kinds.boot import Boot
from schedlab.settings.variant import Variant
from schedlab.targets.booting import Seen, Usual, Wanted, seen_on
from schedlab.targets.choice import find_target
from schedlab.targets.guest.kernel import find_kernel
from schedlab.targets.target import Target

RELEASE = "Kernel release"
LINE = "Kernel command line"
"""The rows of the platform table that a variant's `boot` may ask the lab for."""

_GRUB = "/boot/grub/grub.cfg"
_ENTRY = re.compile(
    r"""^\s*(submenu|menuentry)\s+(?:'([^']*)'|"([^"]*)")(?:.*?\$menuentry_id_option\s+'([^']*)')?"""
)
_COMMAND_SECONDS = 120


def machine(plan: Plan, watch: Watch) -> "SshMachine":
    """Return the machine of a plan."""
    return SshMachine(known(plan.target)[1], plan.reboot or Reboot(), watch)


def wanted(variant: Variant) -> Wanted:
    """Return how a host is to be booted for a variant.

    Raises:
        UsageError: it asks for what booting does not decide, or for no release.
    """
    rows = Boot.of(variant)
    release, line = rows.get(RELEASE, ""), rows.get(LINE, "")
    if release and not re.match(RELEASES, release):
        raise UsageError(f"variant {variant.name}: boot: '{release}' is not a kernel's release.")
    if other := sorted(rows.keys() - {RELEASE, LINE}):
        raise UsageError(
            f"variant {variant.name}: boot: the lab cannot boot a machine into {other[0]}, only"
            f" into '{RELEASE}' and '{LINE}'.\n  Boot it yourself, and use `schedlab merge`."
        )
    return Wanted(variant.name, release, tuple(line.split()))


def grub_entry(configuration: str, release: str) -> str:
    """Return the entry of grub's menu that boots a release, as grub-reboot takes it.

    Raises:
        HostError: there is none.
    """
    path: list[str] = []
    found: list[str] = []
    for line in configuration.splitlines():
        if entry := _ENTRY.match(line):
            kind, single, double, identity = entry.groups()
            title = single or double or ""
            name = identity or title
            if kind == "submenu":
                path.append(name)
            elif f"Linux {release}" in (title, title.rpartition(", with ")[2]):
                return ">".join([*path, name])
            elif title.rpartition(", with ")[1]:
                found.append(title.rpartition(", with ")[2].removeprefix("Linux "))
        elif line == "}":
            path = []
    known = ", ".join(name for name in dict.fromkeys(found) if "recovery" not in name)
    raise HostError(
        f"grub's menu has no entry for kernel {release}; it has: {known or 'none'}."
        "\n  Install its package there, or name another release."
    )


class SshMachine:
    """A host that ssh reaches."""

    def __init__(self, which: str, reboot: Reboot, watch: Watch) -> None:
        """Take its name for ssh, and how it is booted."""
        self.name = SSH.target(which)
        self._which = which
        self._reboot = reboot
        self._watch = watch
        self._usual = Usual()

    def check(self, wanted: Sequence[Wanted], usual: Usual | None = None) -> Usual:
        """Look for what boots it, and for the kernels; return how it is usually booted.

        Raises:
            UsageError: it is the lab's own machine, grub cannot give a kernel options, or a
                variant without a release would get the kernel of another.
            HostError: a kernel or a program is not there.
        """
        system = SshSystem(self._which)
        asked = {option for each in wanted for option in each.options}
        seen = seen_on(system)
        if seen.boot_id == LocalSystem().boot_id():
            raise UsageError(
                f"{self.name} is the machine this lab runs on, and a reboot would end the lab;"
                " start the series on another one."
            )
        unused = self._reboot.images.keys() - {each.release for each in wanted}
        if unused:
            raise UsageError(
                f"reboot.images: no variant has the boot '{RELEASE}' = '{min(unused)}'."
            )
        options = tuple(word for word in seen.line.split() if word not in asked)
        self._usual = usual or Usual(release=seen.release, options=options)
        if self._reboot.reboot_command:
            return self._usual
        if not system.is_root():
            raise HostError(f"{self.name}: only root boots it: --target ssh:root@{self._which}.")
        if self._reboot.by == "grub" and asked:
            raise UsageError(
                f"reboot: grub boots a kernel with the options it is configured for; for"
                f" {' '.join(sorted(asked))} use by = 'kexec' or a reboot_command."
            )
        tool = {"grub": "grub-reboot", "kexec": "kexec"}[self._reboot.by]
        if not system.which(tool):
            package = {"grub": "grub2-common", "kexec": "kexec-tools"}[self._reboot.by]
            raise HostError(
                f"{self.name}: {tool} is not installed.\n  Install there: apt-get install {package}"
            )
        named = {each.release: each.variant for each in wanted}
        if self._reboot.by == "kexec" and "" in named and self._usual.release in named:
            raise UsageError(
                f"variant {named['']}: boot: by kexec, a variant without '{RELEASE}' boots the"
                f" kernel with which the series began, and that is {self._usual.release} of"
                f" variant {named[self._usual.release]}; name its release."
            )
        for each in wanted:
            self._prepare(system, each, dry=True)
        return self._usual

    def seen(self) -> Seen:
        """Connect again, and look."""
        return seen_on(SshSystem(self._which))

    def boot(self, wanted: Wanted) -> None:
        """Boot it once: the default entry stays as it is.

        Raises:
            HostError: another lab runs there.
        """
        system = SshSystem(self._which)
        with ExitStack() as stack:
            stack.enter_context(suppress(SystemLost))  # releasing the lock of one that goes down
            stack.enter_context(system.held())
            self._ask(system, wanted)

    def _ask(self, system: SshSystem, wanted: Wanted) -> None:
        if self._reboot.reboot_command:
            _call(
                "reboot_command",
                self._reboot.reboot_command,
                SCHEDLAB_HOST=self._which,
                SCHEDLAB_VARIANT=wanted.variant,
                SCHEDLAB_KERNEL=wanted.release,
                SCHEDLAB_OPTIONS=" ".join(wanted.options),
            )
            return
        now = self._prepare(system, wanted)
        # Some time after the answer, in a session that does not end with this line.
        script = f"sleep 1; {now}"
        with suppress(SystemLost):
            system.run(f"setsid sh -c {shlex.quote(script)} >/dev/null 2>&1 &")

    def power(self) -> bool:
        """Call the user's command, if there is one."""
        if not self._reboot.power_command:
            return False
        _call("power_command", self._reboot.power_command, SCHEDLAB_HOST=self._which)
        return True

    def target(self) -> Target:
        """Return the host as a target."""
        return find_target(self.name, watch=self._watch)

    def _prepare(self, system: SshSystem, wanted: Wanted, dry: bool = False) -> str:
        """Choose the kernel of the next boot; return the command that begins it."""
        if self._reboot.by == "grub":
            if wanted.release:
                entry = grub_entry(_text(system, _GRUB), wanted.release)
                if not dry:
                    _do(system, "grub-reboot", entry)
            return "systemctl reboot || reboot"
        release = wanted.release or self._usual.release
        initrd = f"/boot/initrd.img-{release}"
        if release in self._reboot.images:
            image = find_kernel(self._reboot.images[release], self._watch).file
            kernel = str(image) if dry else system.copy_there(image)
            initrd = f"/boot/initrd.img-{self._usual.release}"
        else:
            kernel = f"/boot/vmlinuz-{release}"
            if not system.exists(kernel):
                raise HostError(
                    f"{self.name}: {kernel} is not there; install that kernel's package, or name"
                    " its image in [reboot]."
                )
        line = " ".join(self._usual.options + wanted.options)
        argv = ["kexec", "-l", kernel, f"--command-line={line}"]
        if system.exists(initrd):
            argv.append(f"--initrd={initrd}")
        if not dry:
            _do(system, *argv)
        return "systemctl kexec || kexec -e"


def _text(system: System, path: str) -> str:
    try:
        return system.read(path)
    except OSError as error:
        raise HostError(f"{path} cannot be read there: {error.strerror}") from error


def _do(system: System, *argv: str) -> None:
    done = system.capture(argv)
    if done.returncode:
        raise HostError(f"{shlex.join(argv)} ended with {done.returncode}: {_last_line(done)}")


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr or done.stdout).strip().rpartition("\n")[2]


def _call(key: str, command: str, **env: str) -> None:
    """Call a command of the user's, here; HostError where it fails.

    What it leaves in the background, such as an emulator, may keep its output open.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as words:
        try:
            done = subprocess.run(
                command,
                shell=True,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                timeout=_COMMAND_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"{key}: did not end within {_COMMAND_SECONDS} s: {command}") from None
        if done.returncode:
            words.seek(0)
            said = words.read().strip().rpartition("\n")[2] or command
            raise HostError(f"{key}: ended with {done.returncode}: {said}")
