"""The kernel to boot: Debian's package, a file of the user's, or a boot image of ours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.data import is_path
from schedlab.base.errors import UsageError
from schedlab.base.system.system import natural
from schedlab.kernels import KernelError
from schedlab.kernels.boot_image import ImageBuilder
from schedlab.kernels.cache import cache_folder
from schedlab.kernels.debian import given_file, matching_packages, package_file
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Shelf
from schedlab.settings.text import PACKAGE

_SERIES = re.compile(r"\d+\.\d+")
_PACKAGES = ("linux-image-", "linux-binary-")
_CLOUD = r"^linux-(image|binary)-{}[-.][0-9.+a-z-]*cloud-amd64$"
"""Debian's small kernels for virtual machines, of a series."""
_IMAGE = "**/vmlinuz*"
"""Where a package has its kernel."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be booted."""

    file: Path
    title: str


def find_kernel(which: str, watch: Watch) -> Kernel:
    """Return the kernel that is named as in `vm:WHICH`: a series, a package, a file, or a build.

    Raises:
        SchedlabError: there is none.
    """
    if _SERIES.fullmatch(which):
        found = matching_packages(_CLOUD.format(which.replace(".", r"\.")), watch)
        return _debian(newest(found), watch)
    if which.startswith(_PACKAGES) and not which.endswith(PACKAGE):
        return _debian(which, watch)
    if is_path(which, PACKAGE) or Path(which).is_file():
        file = Path(which).expanduser().absolute()
        if not file.is_file():
            raise UsageError(f"{which}: there is no such kernel image.")
        return _of_package(file) if file.suffix == PACKAGE else Kernel(file, str(file))
    return built_kernel(which, watch)


def newest(packages: Sequence[str]) -> str:
    """Return the newest of Debian's packages of kernels.

    Where a version has two, the kernel itself is in linux-binary, on which linux-image depends.
    """
    return max(packages, key=lambda name: (natural(name.split("-", 2)[2]), name < "linux-i"))


def built_kernel(name: str, watch: Watch) -> Kernel:
    """Return the boot image of what `schedlab kernel` knows by this name."""
    image = ImageBuilder(Shelf(), watch).get(name)
    return Kernel(image.file, image.title)


def variants_kernel(name: str, watch: Watch) -> Kernel:
    """Return the kernel that a variant names: a package, what we built, or Debian's of a series."""
    if name.startswith(_PACKAGES) or name.endswith(PACKAGE):
        return find_kernel(name, watch)
    try:
        return built_kernel(name, watch)
    except KernelError:
        if not _SERIES.fullmatch(name):
            raise
    return find_kernel(name, watch)


def kernel_config(kernel: Kernel, watch: Watch) -> dict[str, Path]:
    """Return the configuration of a kernel of Debian's by the place where programs look for it.

    Where linux-binary has the kernel, linux-base has its configuration. Nothing is returned for
    other kernels.

    Raises:
        SchedlabError: the package cannot be had.
    """
    folder = cache_folder() / "debian"
    if folder not in kernel.file.parents:
        return {}
    package = kernel.file.relative_to(folder).parts[0]
    found = sorted((folder / package).glob("boot/config-*"))
    if found:
        return {f"boot/{found[0].name}": found[0]}
    release = kernel.file.parent.name
    file = package_file(f"linux-base-{release}", "**/config", folder, watch)
    return {f"boot/config-{release}": file}


def _of_package(file: Path) -> Kernel:
    return Kernel(given_file(file, _IMAGE, cache_folder() / "given"), str(file))


def _debian(package: str, watch: Watch) -> Kernel:
    folder = cache_folder() / "debian"
    file = package_file(package, _IMAGE, folder, watch)
    return Kernel(file, f"Debian {file.relative_to(folder).parts[0]}")
