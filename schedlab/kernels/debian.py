"""Debian's kernel sources: the linux-source package, installed or downloaded by apt."""

import hashlib
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from schedlab.base.system.inside import followed, inside
from schedlab.base.system.system import natural
from schedlab.base.words import listing
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, full_disk
from schedlab.kernels.engine import OLDEST, Engine, is_series, is_taken
from schedlab.kernels.process import lines, output, plain_environment
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.suites import suites
from schedlab.kernels.tree import series_and_release
from schedlab.kernels.unpacking import is_unpacked, pour, unpacked

_SUITES = "apt"
"""The folder of the shelf with the lists of Debian's other suites."""
_OFFER = re.compile(r"^'[^']*' (\S+_(\S+)_\S+\.deb) (\d+)", re.M)
_PROGRESS = re.compile(r"^dlstatus:\d+:([\d.]+):")
_NUMBERED = re.compile(r"(.*-)[\d.]+")
"""The name of a package that has a number for each series."""
_INSTALLED_IN = Path("/usr/src")


@dataclass(frozen=True)
class _Package:
    """A package: its sources installed as a tarball, or offered for download."""

    name: str
    version: str
    tarball: Path | None = None
    file: str = ""
    size: int = 0
    options: tuple[str, ...] = ()
    """What makes apt find it."""


def debian_tree(series: str, name: str, engine: Engine, shelf: Shelf, watch: Watch) -> Base:
    """Get Debian's sources of a series; what is there already is not fetched again.

    Raises:
        KernelError: it is not a series, or too old, apt does not have it, or the disk is full.
    """
    if not is_series(series):
        raise KernelError(f"--debian {series}: not a series, such as 6.12.")
    if not is_taken(series):
        raise KernelError(f"--debian {series}: the simulator takes Linux {OLDEST} and newer.")
    package = _find(f"linux-source-{series}", shelf, watch)
    identity = f"{package.name}-{package.version}"
    folder = shelf.tree_folder(identity)
    parts = engine.unpacked(series)
    if is_unpacked(folder, parts):
        watch.say(f"{package.name} {package.version} is there already.")
    else:
        with unpacked(folder, parts, watch) as partial:
            if partial:
                _fetch(package, partial, parts, shelf.folder / "downloads", watch)
    makefile = (folder / "Makefile").read_text(encoding="utf-8", errors="replace")
    _, release = series_and_release(makefile, package.name)
    return Base(
        name=name,
        series=series,
        release=release,
        origin=f"Debian {package.name} {package.version}",
        tree=folder,
        identity=identity,
        reach=engine.reach,
    )


def unpack_whole(base: Base, folder: Path, shelf: Shelf, watch: Watch) -> None:
    """Unpack all of the package a base was unpacked from in part.

    Raises:
        KernelError: apt no longer has that version, or the disk is full.
    """
    if is_unpacked(folder, ()):
        return
    package = _find(f"linux-source-{base.series}", shelf, watch)
    if base.identity != f"{package.name}-{package.version}":
        raise KernelError(
            f"{base.name} is {base.origin}, and apt now has {package.version}."
            f"\n  `schedlab kernel add --debian {base.series} --name {base.name}` takes that."
        )
    with unpacked(folder, (), watch) as partial:
        if partial:
            _fetch(package, partial, (), shelf.folder / "downloads", watch)


def package_file(name: str, pattern: str, folder: Path, watch: Watch) -> Path:
    """Return the file of a package that matches, downloaded and unpacked in a folder if need be.

    Raises:
        KernelError: apt does not have the package, or it has no such file.
    """
    package = _offered(name, Shelf().folder / _SUITES, watch)
    name = f"{package.name}-{package.version}".replace(":", "_")
    what = f"apt's package {package.name}"
    kept = inside(folder, name, what)
    if not kept.is_dir():
        archive = _download(package, folder / "downloads", watch)
        try:
            _unpack_archive(archive, kept, package.name)
        finally:
            archive.unlink()
    return _first(kept, pattern, what)


def given_file(archive: Path, pattern: str, folder: Path) -> Path:
    """Return the file of a package of the user's that matches, unpacked in a folder if need be.

    Raises:
        KernelError: it is not a package, or it has no such file.
    """
    with disk_errors(str(archive)), archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    kept = folder / f"{archive.stem}-{digest[:16]}"
    if not kept.is_dir():
        _unpack_archive(archive, kept, str(archive))
    return _first(kept, pattern, str(archive))


def _unpack_archive(archive: Path, kept: Path, what: str) -> None:
    """Unpack a package into a folder, whole or not at all."""
    partial = kept.with_name(f"{kept.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    status, printed = output(["dpkg-deb", "-x", str(archive), str(partial)])
    if status:
        raise KernelError(f"{what} cannot be unpacked: {printed.strip()}")
    partial.rename(kept)


def _first(kept: Path, pattern: str, what: str) -> Path:
    """Return the first file of an unpacked package that matches."""
    found = sorted(kept.glob(pattern))
    for file in found:
        followed(kept, str(file.relative_to(kept)), what)
    if not found:
        raise KernelError(f"{what} has no {pattern}.")
    return found[0]


def matching_packages(pattern: str, watch: Watch) -> list[str]:
    """Return the packages whose names match a regular expression: apt's, else another suite's.

    Raises:
        KernelError: there are none.
    """
    _check_tools()
    found = _search(pattern)
    for suite in () if found else suites(Shelf().folder / _SUITES):
        suite.read(watch)
        found = _search(pattern, suite.options)
        if found:
            break
    if not found:
        raise KernelError(
            f"apt knows no package {pattern}, and none of Debian's other suites has one."
            "\n  `apt-get update` (as root) reads the package lists."
        )
    return found


def _search(pattern: str, options: tuple[str, ...] = ()) -> list[str]:
    _, printed = output(["apt-cache", "search", "--names-only", *options, pattern])
    return [line.split()[0] for line in printed.splitlines() if line.strip()]


def _check_tools() -> None:
    for tool in ("dpkg-deb", "apt-get", "tar", "xz"):
        if shutil.which(tool) is None:
            raise KernelError(
                f"{tool} is not installed; Debian's packages need it."
                "\n  Elsewhere unpack a kernel tree; `schedlab kernel add --tree PATH` takes it."
            )


def _find(name: str, shelf: Shelf, watch: Watch) -> _Package:
    """Return the installed package, else the one apt offers, else that of another suite."""
    _check_tools()
    status, version = output(["dpkg-query", "-W", "-f", "${Version}\n", name])
    tarball = _INSTALLED_IN / f"{name}.tar.xz"
    if status == 0 and tarball.is_file():
        return _Package(name, version.strip(), tarball)
    return _offered(name, shelf.folder / _SUITES, watch)


def _elsewhere(name: str, folder: Path, watch: Watch) -> _Package | None:
    """Return the package of the first of Debian's suites that has it.

    Raises:
        KernelError: none has it, and the lists of some could not be read.
    """
    wrong = []
    for suite in suites(folder):
        problem = suite.read(watch)
        wrong += [problem] if problem else []
        found = _offer(name, suite.options)
        if found:
            watch.say(f"{name} {found.version} is in Debian {suite.name}.")
            return found
    if wrong:
        problems = "".join(f"\n  {problem}" for problem in wrong)
        raise KernelError(f"{name} was not found, and these lists could not be read:{problems}")
    return None


def _offer(name: str, options: tuple[str, ...] = ()) -> _Package | None:
    """Return the package apt would download with such options, if it knows one."""
    status, text = output(["apt-get", "download", "--print-uris", *options, name])
    offer = _OFFER.search(text)
    if status or not offer:
        return None
    return _Package(name, unquote(offer[2]), None, offer[1], int(offer[3]), options)


def _offered(name: str, folder: Path, watch: Watch) -> _Package:
    """Return the package apt would download, else that of another suite.

    Raises:
        KernelError: none has it.
    """
    found = _offer(name) or _elsewhere(name, folder, watch)
    if found is None:
        raise KernelError(
            f"{_nowhere(name, folder)}"
            "\n  Or unpack a kernel tree; `schedlab kernel add --tree PATH` takes it."
        )
    return found


def _nowhere(name: str, folder: Path) -> str:
    """Return that no list has a package, and which of its kind there are where some were read."""
    read = list(suites(folder))
    if not read:
        _, text = output(["apt-get", "download", "--print-uris", name])
        said = [line for line in text.splitlines() if line.startswith("E:")]
        return (
            f"apt does not offer {name}: {said[0][3:] if said else 'it knows no place to get it'}."
            "\n  `apt-get update` (as root) reads the package lists."
        )
    family = _NUMBERED.fullmatch(name)
    alike = {
        found
        for options in ((), *(suite.options for suite in read))
        for found in (_search(f"^{family[1]}[0-9.]+$", options) if family else ())
    }
    there = f"\n  There are: {', '.join(sorted(alike, key=natural))}." if alike else ""
    searched = listing([suite.name for suite in read])
    return f"{name}: neither apt's lists nor Debian's {searched} have it.{there}"


def _fetch(
    package: _Package, folder: Path, reach: Sequence[str], downloads: Path, watch: Watch
) -> None:
    archive = package.tarball or _download(package, downloads, watch)
    with watch.task(f"unpacking {package.name} {package.version}") as step:
        size = archive.stat().st_size
        for sent in _unpack(package, archive, folder, reach):
            step(sent / size, f"{sent >> 20} of {size >> 20} MB")
    if package.tarball is None:
        archive.unlink(missing_ok=True)


def _download(package: _Package, folder: Path, watch: Watch) -> Path:
    """Download the package, or the rest of it, with apt, which checks it against its lists."""
    folder.mkdir(parents=True, exist_ok=True)
    file = inside(folder, package.file, f"apt's package {package.name}")
    # Root's apt would fetch as a user of its own, who may not write here.
    argv = ["apt-get", "download", "-o", "APT::Status-Fd=1", "-o", "APT::Sandbox::User=root"]
    printed: list[str] = []
    with watch.task(f"downloading {package.name} ({package.size >> 20} MB)") as step:
        said = lines([*argv, *package.options, package.name], cwd=folder, env=plain_environment())
        with closing(said):
            for line in said:
                match = _PROGRESS.match(line)
                if match:
                    step(float(match[1]) / 100, "")
                else:
                    printed.append(line)
        if printed.pop() != "0" or not file.is_file():
            problems = " ".join(line for line in printed if line.startswith("E:"))
            if "space" in problems:
                raise KernelError(full_disk(f"downloading {package.name}"))
            raise KernelError(
                f"{package.name} could not be downloaded: {problems or 'apt-get failed'}"
                "\n  The same command goes on where this one ended."
            )
    return file


def _unpack(package: _Package, archive: Path, folder: Path, reach: Sequence[str]) -> Iterator[int]:
    """Unpack through pipes, so that only the parts wanted reach the disk; return bytes read."""
    wanted = [f"{package.name}/{part}" for part in reach] or [package.name]
    pipeline = [
        ["xz", "-d", "-c", "-T0"],
        ["tar", "-x", "-f", "-", "--strip-components=1", "-C", str(folder), *wanted],
    ]
    if package.tarball is None:
        member = f"./usr/src/{package.name}.tar.xz"
        outer = [["dpkg-deb", "--fsys-tarfile", "-"], ["tar", "-x", "-O", "-f", "-", member]]
        pipeline = outer + pipeline
    return pour(archive, pipeline)
