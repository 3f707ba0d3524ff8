"""A guest's files: an initramfs of this host's own programs and the libraries they need."""

import re
import stat
from pathlib import Path

from schedlab.base.errors import HostError
from schedlab.kernels.process import output

_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")
_ENTRY = b"070701"
_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "root", "etc", "bin")
_CONSOLE = "dev/console"
_CONSOLE_DEVICE = (5, 1)


class Initramfs:
    """Files by their place in the guest, written as a cpio archive ("newc")."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}

    def add(self, file: Path, at: str = "") -> None:
        """Add a file, at its own place if no other is given."""
        self._files.setdefault((at or str(file)).lstrip("/"), file)

    def add_program(self, program: Path, at: str = "") -> None:
        """Add a program, with the libraries the loader wants for it at their own places.

        Raises:
            HostError: a library it wants is not there.
        """
        self.add(program, at)
        _, printed = output(["ldd", str(program)])
        if "not found" in printed:
            missing = [line.split()[0] for line in printed.splitlines() if "not found" in line]
            raise HostError(f"{program}: its library {missing[0]} is not installed here.")
        for library in _LIBRARY.findall(printed):
            self.add(Path(library))

    def write(self, file: Path) -> None:
        """Write the archive."""
        folders = set(_FOLDERS)
        for name in self._files:
            folders.update(str(parent) for parent in Path(name).parents)
        with file.open("wb") as archive:
            inode = 1
            for folder in sorted(folders - {"."}):
                archive.write(_header(inode, folder, stat.S_IFDIR | 0o755, 0))
                inode += 1
            console = stat.S_IFCHR | 0o600
            archive.write(_header(inode, _CONSOLE, console, 0, device=_CONSOLE_DEVICE))
            for name, source in self._files.items():
                inode += 1
                content = source.read_bytes()
                mode = stat.S_IFREG | stat.S_IMODE(source.stat().st_mode)
                archive.write(_header(inode, name, mode, len(content)))
                archive.write(content + b"\0" * (-len(content) % 4))
            archive.write(_header(0, "TRAILER!!!", 0, 0))


def _header(inode: int, name: str, mode: int, size: int, device: tuple[int, int] = (0, 0)) -> bytes:
    fields = (inode, mode, 0, 0, 1, 0, size, 0, 0, *device, len(name) + 1, 0)
    header = _ENTRY + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return header + b"\0" * (-len(header) % 4)
