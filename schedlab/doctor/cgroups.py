"""The limits of our own cgroup and of those above it, in both versions of cgroups."""

from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.base.system import System
from schedlab.settings.groups import mounts


@dataclass(frozen=True)
class Limit:
    """A limit and the folder it was found in."""

    folder: str
    value: str


def tightest(system: System, controller: str, v2: str, v1: str) -> Limit | None:
    """Return the smallest limit on the way up from our cgroup, None where nothing limits.

    Args:
        system: where to read.
        controller: the controller's name in version 1.
        v2: the limit's file name in version 2.
        v1: its file name in version 1.
    """
    found = [
        Limit(folder, value)
        for folder, name in _places(system, controller, v2, v1)
        if (value := system.read_or(f"{folder}/{name}", "")) and not _unlimited(value)
    ]
    return min(found, key=lambda limit: _size(limit.value), default=None)


def own_group(system: System) -> str | None:
    """Return the folder of our group of version 2; None where it is not to be seen."""
    mount = mounts(system)[0]
    for line in system.read_or("/proc/self/cgroup", "").splitlines():
        number, _, rest = line.partition(":")
        path = rest.partition(":")[2].strip("/")
        if number == "0" and mount and ".." not in path.split("/"):
            return f"{mount}/{path}".rstrip("/")
    return None


def _places(system: System, controller: str, v2: str, v1: str) -> Iterator[tuple[str, str]]:
    version_2, version_1 = mounts(system, controller)
    for line in system.read_or("/proc/self/cgroup", "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and version_2:
            yield from ((folder, v2) for folder in _upwards(version_2, path))
        elif controller in controllers.split(",") and version_1:
            yield from ((folder, v1) for folder in _upwards(version_1, path))


def _upwards(mount: str, path: str) -> Iterator[str]:
    """Yield our folder and all above it; a path from outside the container leads to the mount."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for depth in range(len(parts), -1, -1):
        yield "/".join([mount, *parts[:depth]])


def _unlimited(value: str) -> bool:
    return value.split()[0] in ("max", "-1")


def _size(value: str) -> float:
    """Return what a limit comes to: `50000 100000` is half a CPU, `512` are 512 tasks."""
    numbers = [float(word) for word in value.split() if word.lstrip("-").isdecimal()]
    return numbers[0] / numbers[1] if len(numbers) > 1 and numbers[1] else numbers[0]
