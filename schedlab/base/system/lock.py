"""A lock that ends with its process, however that ends: flock on a file that only its owner opens.

An open file is enough to hold a lock on it, even one that may only be read: nobody but the owner
may open it, so nobody else can keep the owner waiting.
"""

import errno
import fcntl
import os
from pathlib import Path

from schedlab.base.errors import HostError
from schedlab.base.system.numbers import whole

LOCK = "lock"
"""The name of a host's lock in the folder of its state."""


class Taken(HostError):
    """The lock is another process's."""

    def __init__(self, pid: int | None) -> None:
        """Store the process that holds it, if that is known."""
        self.holder = f" (process {pid})" if pid else ""
        super().__init__(f"another schedlab{self.holder} holds the lock")


class FileLock:
    """Held from `take` to `release`, or inside a `with` block; programs we start do not hold it."""

    def __init__(self, file: Path, ours: bool = False) -> None:
        """Take the name of the file, and whether it is of no use if another user made it."""
        self._file = file
        self._ours = ours
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock.

        Raises:
            Taken: another process holds it.
            OSError: the file cannot be made or locked.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._file, flags, 0o600)
        try:
            if self._ours and os.fstat(descriptor).st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, "it belongs to another user; delete it")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except BlockingIOError:
            words = os.pread(descriptor, 32, 0).split()
            os.close(descriptor)
            raise Taken(int(words[0]) if words and words[0].isdigit() else None) from None
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Return the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class HostLock:
    """The lock of a host, held from entry to exit of a `with` block."""

    def __init__(self, folder: Path, of_root: Path | None = None) -> None:
        """Take the folder of the lock, and that of root's, which an ordinary user respects."""
        self._folder = folder
        self._of_root = of_root
        self._lock = FileLock(folder / LOCK, ours=True)

    def __enter__(self) -> None:
        """Take the lock; HostError if another lab runs on this host, or there can be no lock."""
        try:
            self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            if self._of_root and (pid := self._holder_of(self._of_root / LOCK)):
                raise Taken(pid)
            self._lock.take()
        except Taken as taken:
            raise busy("this host", taken.holder) from None
        except OSError as error:
            raise HostError(
                f"{self._folder / LOCK}: cannot be locked: {error.strerror}."
                "\n  The lab keeps its lock and its journal of changed knobs in this folder; make"
                " it writable."
            ) from error

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self._lock.release()

    @staticmethod
    def _holder_of(file: Path) -> int | None:
        try:
            descriptor = os.open(file, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            info = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
            about = dict(line.split(":", 1) for line in info.splitlines())
            mounts = Path("/proc/self/mountinfo").read_text()
            inode = int(about.get("ino") or os.fstat(descriptor).st_ino)
        finally:
            os.close(descriptor)
        mount = about["mnt_id"].strip()
        device = next(row.split()[2] for row in mounts.splitlines() if row.split()[0] == mount)
        return holder(Path("/proc/locks").read_text(), device, inode)


def holder(locks: str, device: str, inode: int) -> int | None:
    """Return the process that holds a file by flock, as /proc/locks shows it to everybody.

    Args:
        locks: the text of /proc/locks.
        device: of the file's mount, as /proc/self/mountinfo shows it. What stat() says is another
            one on overlayfs and in subvolumes of btrfs.
        inode: the file's.
    """
    major, minor = map(int, device.split(":"))
    file = f"{major:02x}:{minor:02x}:{inode}"
    rows = (line.split() for line in locks.splitlines())
    return next(
        (whole(row[4], "/proc/locks") for row in rows if row[1:2] == ["FLOCK"] and file in row[5:]),
        None,
    )


def busy(host: str, holder: str) -> HostError:
    """Return the refusal of a host on which another lab runs."""
    return HostError(
        f"another schedlab runs on {host}{holder}; two would measure each other."
        "\n  Wait for its end, or stop it with Ctrl-C: its results are kept."
    )
