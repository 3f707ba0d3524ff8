"""The kernel a guest boots: Debian's package, a file of the user's, or a boot image of ours."""

import re
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import UsageError
from schedlab.kernels.boot_image import ImageBuilder
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.debian import newest_package, package_file
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Shelf

_SERIES = re.compile(r"\d+\.\d+")
_PACKAGE = "linux-image-"
_CLOUD = r"^linux-image-{}[-.][0-9.+a-z-]*cloud-amd64$"
"""Debian's small kernels for virtual machines, of a series."""


@dataclass(frozen=True)
class Kernel:
    """A kernel QEMU can boot."""

    file: Path
    title: str


def find_kernel(which: str, watch: Watch) -> Kernel:
    """Return the kernel `vm:WHICH` names: a series, a package, a file, or a build.

    Raises:
        SchedlabError: there is none.
    """
    if _SERIES.fullmatch(which):
        return _debian(newest_package(_CLOUD.format(which.replace(".", r"\."))), watch)
    if which.startswith(_PACKAGE):
        return _debian(which, watch)
    if "/" in which or Path(which).is_file():
        file = Path(which).expanduser().absolute()
        if not file.is_file():
            raise UsageError(f"vm:{which}: there is no such kernel image.")
        return Kernel(file, str(file))
    return built_kernel(which, watch)


def built_kernel(name: str, watch: Watch) -> Kernel:
    """Return the boot image of what `schedlab kernel` knows by this name."""
    image = ImageBuilder(Shelf(), watch).get(name)
    return Kernel(image.file, image.title)


def _debian(package: str, watch: Watch) -> Kernel:
    file = package_file(package, "boot/vmlinuz-*", cache_folder() / "debian", watch)
    return Kernel(file, f"Debian {file.parents[1].name}")
