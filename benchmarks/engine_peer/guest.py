"""A Debian kernel in QEMU's software emulation: its files, its first process, one boot a load.

Nothing is installed: packages are downloaded by apt as any user may, unpacked in the cache, and
an initramfs is written of busybox, the load and a first process that does what the kernel's
command line says.
"""

import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

QEMU = "qemu-system-x86_64"
IMAGE = {"6.12": "linux-image-6.12-cloud-amd64", "6.1": "linux-image-cloud-amd64"}
"""Debian's small kernels for virtual machines, by series."""

_BUSYBOX = "busybox-static"
_TOOLS = {QEMU: "qemu-system-x86", "apt-get": "apt", "dpkg-deb": "dpkg", "gcc": "gcc", "tar": "tar"}
_IMAGE_NAME = re.compile(r"^\s*Depends: (linux-image-\S+)$", re.M)
_VERSION = re.compile(r"guest kernel (\S+)$")
_END = re.compile(r"^end (\d+) (\d+)$")
_CONTROL = re.compile(r"\x1b(\[[\d;?=]*[A-Za-z]|.)")
_PANIC = "Kernel panic"
_TRIES = 4
"""Boots until one succeeds: some guests panic or hang before their first process. Seen is a CPU
that executes the trap of an instruction the kernel is just patching (a thread a CPU, QEMU 7.2)."""
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

_INIT = """#!/bin/busybox sh
# The guest's first process: what was booted, then the load so often, then the end.
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb echo "guest kernel $($bb uname -r)"
cd /sys/devices/system
$bb echo "shown $($bb cat cpu/online) $($bb cat cpu/cpu0/topology/core_cpus_list) \
$($bb cat cpu/cpu0/topology/package_cpus_list) $($bb cat node/online)"
run() { n=$1; shift; i=0; while [ $i -lt $n ]; do /bin/peer_load "$@"; i=$((i + 1)); done; }
for word in $($bb cat /proc/cmdline); do
	case $word in peer=*) run $($bb echo ${word#peer=} | $bb tr , ' ');; esac
done
$bb echo over
$bb poweroff -f
"""


class Skipped(Exception):
    """The peer cannot be measured here, and why."""


class _NotUp(Skipped):
    """The guest did not come as far as its load."""


@dataclass(frozen=True)
class Topology:
    """What -smp takes; a NUMA node a socket."""

    sockets: int
    cores: int
    threads: int

    @property
    def cpus(self) -> int:
        """Give the number of CPUs."""
        return self.sockets * self.cores * self.threads

    def options(self, megabytes: int) -> list[str]:
        """Give QEMU's options, memory divided among the nodes."""
        smp = f"{self.cpus},sockets={self.sockets},cores={self.cores},threads={self.threads}"
        options = ["-smp", smp, "-m", str(megabytes)]
        each = self.cpus // self.sockets
        for node in range(self.sockets):
            size = megabytes // self.sockets
            options += ["-object", f"memory-backend-ram,id=m{node},size={size}M"]
            cpus = f"cpus={node * each}-{node * each + each - 1}"
            options += ["-numa", f"node,nodeid={node},{cpus},memdev=m{node}"]
        return options


@dataclass(frozen=True)
class Files:
    """What a guest is booted from."""

    kernel: Path
    initramfs: Path
    load: Path
    package: str


@dataclass(frozen=True)
class Round:
    """A load, once through: by the guest's clock, by ours, and what QEMU used of our CPUs."""

    guest_s: float
    wall_s: float
    cpu_s: float
    switches: int


@dataclass(frozen=True)
class Boot:
    """One boot of a guest and the rounds of its load."""

    version: str
    shown: str
    """CPUs online, siblings and package of CPU 0, nodes: as the guest's sysfs has them."""
    boot_s: float
    rounds: tuple[Round, ...]
    failed: int = 0
    """Boots before this one that panicked or hung."""

    def median(self, what: str) -> float:
        """Give the median of a field over the rounds."""
        return statistics.median(float(getattr(one, what)) for one in self.rounds)


def check_tools() -> None:
    """Refuse early what cannot work.

    Raises:
        Skipped: a tool is missing.
    """
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            raise Skipped(f"{tool} is not installed (Debian: apt-get install {package})")


def qemu_version() -> str:
    """Name QEMU's version."""
    said = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\S+)", said)
    return found[1] if found else "of unknown version"


# ------------------------------------------------------------------ files


def prepare(series: str, cache: Path) -> Files:
    """Give the kernel, the load and the initramfs; what is in the cache is not fetched again.

    Raises:
        Skipped: apt does not have a package, or the load does not compile.
    """
    cache.mkdir(parents=True, exist_ok=True)
    said = subprocess.run(
        ["apt-cache", "depends", IMAGE[series]], capture_output=True, text=True, check=False
    )
    image = _IMAGE_NAME.search(said.stdout)
    if not image:
        raise Skipped(f"apt does not know {IMAGE[series]} (as root: apt-get update)")
    kernel = _unpacked(image[1], "boot/vmlinuz-*", cache)
    busybox = _unpacked(_BUSYBOX, "bin/busybox", cache)
    load = compile_load(cache)
    initramfs = cache / "initramfs"
    initramfs.write_bytes(
        _archive({"init": _INIT.encode()}, {"bin/busybox": busybox, "bin/peer_load": load})
    )
    return Files(kernel, initramfs, load, image[1])


def compile_load(cache: Path) -> Path:
    """Compile the load statically, so that it runs in the guest and here."""
    load = cache / "peer_load"
    source = Path(__file__).with_name("peer_load.c")
    done = subprocess.run(
        ["gcc", "-O2", "-Wall", "-Werror", "-static", "-pthread", "-o", str(load), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Skipped(f"peer_load.c does not compile: {done.stderr.strip().splitlines()[-1]}")
    return load


def _unpacked(package: str, pattern: str, cache: Path) -> Path:
    """Give a file of a package, downloaded if need be."""
    folder = cache / package
    if not list(folder.glob(pattern)):
        folder.mkdir(exist_ok=True)
        # Root's apt would fetch as a user of its own, who may not write here.
        argv = ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
        archives = list(folder.glob("*.deb"))
        if done.returncode or not archives:
            why = [line for line in done.stderr.splitlines() if line.startswith("E:")]
            raise Skipped(f"{package} could not be downloaded: {why[0] if why else 'apt failed'}")
        names = f"./{pattern}"
        with subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", str(archives[0])], stdout=subprocess.PIPE
        ) as tarball:
            subprocess.run(
                ["tar", "-x", "-C", str(folder), "--wildcards", names],
                stdin=tarball.stdout,
                capture_output=True,
                check=False,
            )
        archives[0].unlink()
    found = list(folder.glob(pattern))
    if not found:
        raise Skipped(f"{package} has no {pattern}")
    return found[0]


def _archive(texts: dict[str, bytes], files: dict[str, Path]) -> bytes:
    """Write an initramfs: cpio "newc", which is easier written than had of a tool."""
    entries = [(name, 0o040755, b"", 0) for name in ("bin", "dev", "proc", "sys")]
    entries.append(("dev/console", 0o020600, b"", 5))
    entries += [(name, 0o100755, data, 0) for name, data in texts.items()]
    entries += [(name, 0o100755, path.read_bytes(), 0) for name, path in files.items()]
    entries.append(("TRAILER!!!", 0, b"", 0))
    out = bytearray()
    for inode, (name, mode, data, major) in enumerate(entries, start=1):
        minor = 1 if major else 0
        fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields)
        out += name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


# ------------------------------------------------------------------ a boot


def boot(
    files: Files,
    topology: Topology,
    load: Sequence[object],
    rounds: int,
    limit: float,
    up_within: float,
) -> Boot:
    """Boot a guest and have it go through a load so many times; a failed boot is tried again.

    Raises:
        Skipped: the guest ended or was too slow; says how far it came.
    """
    deadline = time.monotonic() + limit
    failed = 0
    while True:
        try:
            done = _boot(files, topology, load, rounds, deadline, up_within)
        except _NotUp:
            failed += 1
            if failed == _TRIES or time.monotonic() > deadline:
                raise
        else:
            return replace(done, failed=failed)


def _boot(
    files: Files,
    topology: Topology,
    load: Sequence[object],
    rounds: int,
    deadline: float,
    up_within: float,
) -> Boot:
    words = ",".join(str(word) for word in (rounds, *load))
    argv = [
        *(QEMU, "-accel", "tcg,thread=multi", "-cpu", "Nehalem", "-no-reboot", "-nographic"),
        *("-nodefaults", "-serial", "stdio", *topology.options(1024)),
        *("-kernel", str(files.kernel), "-initrd", str(files.initramfs)),
        *("-append", f"console=ttyS0 quiet panic=-1 mitigations=off peer={words}"),
    ]
    version, shown, last = "", "", "nothing"
    done: list[Round] = []
    began = booted = time.monotonic()
    start, start_cpu = 0.0, 0.0
    with _running(argv) as process:
        console = _Console(process, min(deadline, began + up_within))
        for line, at in console.lines():
            if found := _VERSION.search(line):
                version = found[1]
            elif line.startswith("shown "):
                shown, booted, console.deadline = line.removeprefix("shown "), at, deadline
            elif line == "begin":
                start, start_cpu = at, _cpu_seconds(process.pid)
            elif found := _END.match(line):
                used = _cpu_seconds(process.pid) - start_cpu
                done.append(Round(int(found[1]) / 1e9, at - start, used, int(found[2])))
            elif line == "over":
                break
            elif _PANIC in line:
                raise _NotUp(f"the guest ended with '{line}' ({words})")
            last = _CONTROL.sub("", line) or last
    if not shown or len(done) < rounds:
        took = time.monotonic() - began
        kind = Skipped if shown else _NotUp
        raise kind(f"the guest came no further than '{last}' in {took:.0f} s ({words})")
    return Boot(version, shown, booted - began, tuple(done))


@contextmanager
def _running(argv: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start QEMU; it is gone with the block."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Console:
    """The guest's console, read up to a deadline that may be moved meanwhile."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        assert process.stdout
        self.deadline = deadline
        self._descriptor = process.stdout.fileno()

    def lines(self) -> Iterator[tuple[str, float]]:
        """Give the lines with the time each was seen."""
        rest = b""
        while (left := self.deadline - time.monotonic()) > 0:
            if not select.select([self._descriptor], [], [], left)[0]:
                return
            chunk, at = os.read(self._descriptor, 65536), time.monotonic()
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace").strip(), at


def _cpu_seconds(pid: int) -> float:
    """Give what a process has used so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
