"""The machine we stand on, or a copy of another one's /proc and /sys under a folder."""

import os
import shutil
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from schedlab.base.system import process
from schedlab.base.system.inside import followed
from schedlab.base.system.lock import HostLock
from schedlab.base.system.process import Child, Exit, Launch
from schedlab.base.system.system import ROOT_STATE, System, natural

_ROOT = Path("/")


class LocalSystem(System):
    """Files below `root` and the programs of this machine."""

    def __init__(self, root: Path = _ROOT) -> None:
        """Take files from below `root`; the programs are always this machine's."""
        self.root = root
        self._spared: frozenset[int] = frozenset()
        """Processes that outlive a run: servers and companions."""

    def path(self, path: str) -> Path:
        """Return the real place of a file; links in a copy of a machine stay in the copy."""
        name = path.lstrip("/")
        return self.root / name if self.root == _ROOT else followed(self.root, name, self.root)

    def exact(self, path: str) -> str:
        """Return a file's text as it is."""
        return self.path(path).read_bytes().decode(errors="surrogateescape")

    def write(self, path: str, text: str) -> None:
        """Write a kernel file in one call, without creating it; OSError as the kernel says it."""
        descriptor = os.open(self.path(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, f"{text}\n".encode(errors="surrogateescape"))
        finally:
            os.close(descriptor)

    def settable(self, folder: str) -> dict[str, str]:
        """Return the exact text of each file below a folder that may be read and written."""
        texts: dict[str, str] = {}
        folders = [self.path(folder)]
        device = folders[0].stat().st_dev if self.exists(folder) else None
        for here in folders:
            with suppress(OSError):
                for place in sorted(here.iterdir()):
                    status = place.lstat()
                    if stat.S_ISDIR(status.st_mode) and status.st_dev == device:
                        folders.append(place)
                    elif stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IWUSR:
                        path = f"/{place.relative_to(self.root)}"
                        with suppress(OSError):
                            texts[path] = self.exact(path)
        return texts

    def writable(self, path: str) -> bool:
        """Return whether a kernel file really opens for writing; permission bits do not say it."""
        try:
            os.close(os.open(self.path(path), os.O_WRONLY))
        except OSError:
            return False
        return True

    def make_folder(self, path: str) -> None:
        """Make a folder of the kernel's; OSError as the kernel says it."""
        self.path(path).mkdir()

    def remove_folder(self, path: str) -> None:
        """Remove one; OSError as the kernel says it."""
        self.path(path).rmdir()

    def exists(self, path: str) -> bool:
        """Return whether a file or folder is there."""
        try:
            return self.path(path).exists()
        except OSError:
            return False

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match, in natural order (cpu2 before cpu10)."""
        found = self.root.glob(pattern.lstrip("/"))
        return sorted((f"/{path.relative_to(self.root)}" for path in found), key=natural)

    def which(self, tool: str) -> str | None:
        """Return the place of a program, or None where it is not installed."""
        return shutil.which(tool)

    def search(self, folder: str) -> None:
        """Find the programs of this folder as well, last."""
        path = os.environ.get("PATH", os.defpath)
        if folder not in path.split(os.pathsep):
            os.environ["PATH"] = f"{path}{os.pathsep}{folder}"

    def add_to_path(self, folder: Path) -> None:
        """Find programs in this folder as well, last."""
        self.search(str(folder))

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a short program and return its output; FileNotFoundError where there is none."""
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
        """Run a program to its end or time limit; nothing of it survives but what runs beside."""
        return process.run(launch, self._spared)

    @contextmanager
    def beside(self, launch: Launch) -> Iterator[Child]:
        """Keep a program running inside a `with` block."""
        before = self._spared
        with process.child_of(launch, before) as child:
            self._spared = before | {child.pid}
            try:
                yield child
            finally:
                self._spared = before

    def beside_cpu_seconds(self) -> float:
        """Return the CPU time that what runs beside has used."""
        return process.cpu_seconds(self._spared)

    def place(self, file: Path) -> str:
        """Return the file itself."""
        return str(file.absolute())

    def lasting(self, folder: Path) -> str:
        """Return the folder itself."""
        return str(folder.absolute())

    def free_bytes(self, folder: Path) -> int | None:
        """Return what is free in the folder's file system."""
        try:
            there = os.statvfs(folder)
        except OSError:
            return None
        return there.f_bavail * there.f_frsize

    def pause(self, seconds: float) -> None:
        """Wait a while, so that the machine comes to rest."""
        time.sleep(seconds)

    def listens(self, port: int, address: str = "127.0.0.1") -> bool:
        """Return whether a program takes TCP connections to a port."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asking:
            asking.settimeout(0.5)
            return asking.connect_ex((address, port)) == 0

    def clock_offset(self) -> float:
        """Return what the wall clock is ahead of the monotonic one."""
        return time.time() - time.monotonic()

    def is_root(self) -> bool:
        """Return whether we may do as root does."""
        return os.geteuid() == 0

    def state_folder(self) -> Path:
        """Return the folder where the lab remembers what it changed on this host."""
        if self.is_root():
            return self.path(ROOT_STATE)
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(home) / "schedlab"

    def held(self) -> AbstractContextManager[None]:
        """Take the host's lock; an emulated host has its own."""
        return HostLock(self.state_folder(), None if self.is_root() else self.path(ROOT_STATE))

    def end_all(self) -> None:
        """End every descendant of ours."""
        process.end_descendants()

    def end_tagged(self, tag: str) -> int:
        """Kill every process that carries `tag`, and count them."""
        return len(process.end_tagged(tag))
