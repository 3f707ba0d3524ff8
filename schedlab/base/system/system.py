"""What the lab asks of an operating system: files, programs, and what one lab holds of it."""

import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from schedlab.base.system.process import Exit, Launch

ROOT_STATE = "/var/lib/schedlab"
"""Where root's labs keep their lock and their journal."""


class Running(Protocol):
    """A program that runs beside others."""

    @property
    def pid(self) -> int:
        """Return its process id."""

    def running(self) -> bool:
        """Return whether the program itself still runs."""


class System(ABC):
    """A machine with Linux: this one, or another that we reach."""

    @abstractmethod
    def exact(self, path: str) -> str:
        """Return a file's text as it is, bytes that are not text escaped; OSError as the kernel."""

    def read(self, path: str) -> str:
        """Return a file's text without surrounding blanks; OSError as the kernel says it."""
        return legible(self.exact(path)).strip()

    def read_or(self, path: str, default: str) -> str:
        """Return a file's text, or `default` where it cannot be read."""
        try:
            return self.read(path)
        except OSError:
            return default

    @abstractmethod
    def write(self, path: str, text: str) -> None:
        """Write a kernel file in one call, without creating it; OSError as the kernel says it."""

    @abstractmethod
    def settable(self, folder: str) -> dict[str, str]:
        """Return the exact text of each file below a folder that may be read and written.

        Folders of other file systems are left out: to enter them may mount them.
        """

    @abstractmethod
    def writable(self, path: str) -> bool:
        """Return whether a kernel file really opens for writing; permission bits do not say it."""

    @abstractmethod
    def make_folder(self, path: str) -> None:
        """Make a folder of the kernel's, such as a cgroup; OSError as the kernel says it."""

    @abstractmethod
    def remove_folder(self, path: str) -> None:
        """Remove one; OSError as the kernel says it."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether a file or folder is there."""

    @abstractmethod
    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match, in natural order (cpu2 before cpu10)."""

    def snapshot(self, paths: Sequence[str]) -> "System":
        """Return a system to read much of what is below some paths from."""
        return self

    @abstractmethod
    def which(self, tool: str) -> str | None:
        """Return the place of a program, or None where it is not installed."""

    @abstractmethod
    def search(self, folder: str) -> None:
        """Find the programs of this folder of the machine as well, last."""

    @abstractmethod
    def add_to_path(self, folder: Path) -> None:
        """Find the programs of this folder of ours as well, last."""

    @abstractmethod
    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a short program and return its output; FileNotFoundError where there is none."""

    @abstractmethod
    def execute(self, launch: Launch) -> Exit:
        """Run a program to its end or time limit; of what it started nothing survives."""

    @abstractmethod
    def beside(self, launch: Launch) -> AbstractContextManager[Running]:
        """Keep a program running inside a `with` block, beside what is executed there."""

    @abstractmethod
    def beside_cpu_seconds(self) -> float:
        """Return the CPU time that what runs beside, with all it started, has used."""

    @abstractmethod
    def place(self, file: Path) -> str:
        """Return the place where a program writes what is to lie in this file of a run's folder."""

    @abstractmethod
    def lasting(self, folder: Path) -> str:
        """Return the place of a folder of the result's that stays while the system is held."""

    @abstractmethod
    def free_bytes(self, folder: Path) -> int | None:
        """Return what is free where a run of that folder writes; None where it cannot be told."""

    @abstractmethod
    def pause(self, seconds: float) -> None:
        """Wait a while, so that the machine comes to rest."""

    @abstractmethod
    def clock_offset(self) -> float:
        """Return by how many seconds the wall clock is ahead of a clock that nobody sets."""

    @abstractmethod
    def is_root(self) -> bool:
        """Return whether we may do as root does."""

    @abstractmethod
    def state_folder(self) -> Path:
        """Return the folder, here, where the lab remembers what it changed on the system."""

    @abstractmethod
    def held(self) -> AbstractContextManager[None]:
        """Lock the system for this lab inside a `with` block; HostError if another lab has it."""

    @abstractmethod
    def end_all(self) -> None:
        """End every program started here that still runs."""

    @abstractmethod
    def end_tagged(self, tag: str) -> int:
        """Kill what a lab with this tag left running, and count it."""

    @abstractmethod
    def listens(self, port: int, address: str = "127.0.0.1") -> bool:
        """Return whether a program waits for TCP connections to a port of an address of ours."""

    def boot_id(self) -> str:
        """Return an identifier of this boot."""
        return self.read_or("/proc/sys/kernel/random/boot_id", "unknown")

    def kernel_release(self) -> str:
        """Return the running kernel's release."""
        return self.read_or("/proc/sys/kernel/osrelease", os.uname().release)


def legible(text: str) -> str:
    """Return text of exact() for people: bytes that are not text are shown as a mark."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def natural(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts cpu2 before cpu10, however many digits there are."""
    key: list[tuple[int, str]] = []
    for place, part in enumerate(re.split(r"([0-9]+)", path)):
        digits = part.lstrip("0")
        key.append((len(digits), digits) if place % 2 else (0, part))
    return key
