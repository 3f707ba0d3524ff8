"""The machine we stand on, or a copy of another one's /proc and /sys under a folder."""

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from schedlab.system import process
from schedlab.system.process import Child, Exit, Launch


class LocalSystem:
    """Files below `root` and the programs of this machine."""

    def __init__(self, root: Path = Path("/")) -> None:
        """Take files from below `root`; the programs are always this machine's."""
        self.root = root
        self.spared: frozenset[int] = frozenset()
        """Processes that outlive a run: servers and companions."""

    def path(self, path: str) -> Path:
        """Give the real place of a file."""
        return self.root / path.lstrip("/")

    def read(self, path: str) -> str:
        """Give a file's text without surrounding blanks; OSError as the kernel says it."""
        return self.path(path).read_text(errors="replace").strip()

    def read_or(self, path: str, default: str) -> str:
        """Give a file's text, or `default` where it cannot be read."""
        try:
            return self.read(path)
        except OSError:
            return default

    def write(self, path: str, text: str) -> None:
        """Write a kernel file in one call, without creating it; OSError as the kernel says it."""
        descriptor = os.open(self.path(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, f"{text}\n".encode())
        finally:
            os.close(descriptor)

    def writable(self, path: str) -> bool:
        """Tell whether a kernel file really opens for writing; permission bits do not say it."""
        try:
            os.close(os.open(self.path(path), os.O_WRONLY))
        except OSError:
            return False
        return True

    def exists(self, path: str) -> bool:
        """Tell whether a file or folder is there."""
        try:
            return self.path(path).exists()
        except OSError:
            return False

    def glob(self, pattern: str) -> list[str]:
        """Give the paths that match, in natural order (cpu2 before cpu10)."""
        found = self.root.glob(pattern.lstrip("/"))
        return sorted((f"/{path.relative_to(self.root)}" for path in found), key=_natural)

    def which(self, tool: str) -> str | None:
        """Give the place of a program, or None where it is not installed."""
        return shutil.which(tool)

    def add_to_path(self, folder: Path) -> None:
        """Find programs in this folder as well, last."""
        os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{folder}"

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a short program and give its output; FileNotFoundError where there is none."""
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            check=False,
        )

    def execute(self, launch: Launch) -> Exit:
        """Run a program to its end or time limit; nothing of it survives but `spared`."""
        return process.run(launch, self.spared)

    def start(self, launch: Launch) -> Child:
        """Start a program that is to run beside others."""
        return Child(launch)

    def spared_cpu_seconds(self) -> float:
        """Give the CPU time that servers and companions have used."""
        return process.cpu_seconds(self.spared)

    def pause(self, seconds: float) -> None:
        """Let the machine come to rest for a while."""
        time.sleep(seconds)

    def is_root(self) -> bool:
        """Tell whether we may do as root does."""
        return os.geteuid() == 0

    def state_folder(self) -> Path:
        """Give the folder where the lab remembers what it changed on this host."""
        if self.is_root():
            return self.path("/var/lib/schedlab")
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(home) / "schedlab"

    def kernel_release(self) -> str:
        """Give the running kernel's release."""
        return self.read_or("/proc/sys/kernel/osrelease", platform.release())


def _natural(path: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]
