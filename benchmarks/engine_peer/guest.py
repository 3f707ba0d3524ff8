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

from schedlab.cli.steps import ConsoleSteps
from schedlab.targets.guest.accelerator import EMULATION
from schedlab.targets.guest.guest import QEMU, busybox
from schedlab.targets.guest.initramfs import Initramfs
from schedlab.targets.guest.kernel import find_kernel
from schedlab.targets.guest.shape import Shape

_TOOLS = {QEMU: "qemu-system-x86", "apt-get": "apt", "dpkg-deb": "dpkg", "gcc": "gcc", "tar": "tar"}
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


def socket_nodes(sockets: int, cores: int, threads: int) -> Shape:
    """Return a guest's shape with a NUMA node a socket."""
    each = cores * threads
    nodes = tuple(tuple(range(node * each, (node + 1) * each)) for node in range(sockets))
    return Shape(sockets, cores, threads, nodes, distance=())


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
        """Return the median of a field over the rounds."""
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
    """Return QEMU's version."""
    said = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\S+)", said)
    return found[1] if found else "of unknown version"


# ------------------------------------------------------------------ files


def prepare(series: str, cache: Path) -> Files:
    """Return the kernel, the load and the initramfs; what is in the cache is not fetched again.

    Raises:
        SchedlabError: apt does not have a package.
        Skipped: the load does not compile.
    """
    cache.mkdir(parents=True, exist_ok=True)
    watch = ConsoleSteps()
    kernel = find_kernel(series, watch)
    load = compile_load(cache)
    init = cache / "init"
    init.write_text(_INIT)
    init.chmod(0o755)
    archive = Initramfs()
    for file, place in ((init, "init"), (busybox(watch), "bin/busybox"), (load, "bin/peer_load")):
        archive.add(file, place)
    initramfs = cache / "initramfs"
    archive.write(initramfs)
    return Files(kernel.file, initramfs, load, kernel.title)


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


# ------------------------------------------------------------------ a boot


def boot(
    files: Files,
    shape: Shape,
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
            done = _boot(files, shape, load, rounds, deadline, up_within)
        except _NotUp:
            failed += 1
            if failed == _TRIES or time.monotonic() > deadline:
                raise
        else:
            return replace(done, failed=failed)


def _boot(
    files: Files,
    shape: Shape,
    load: Sequence[object],
    rounds: int,
    deadline: float,
    up_within: float,
) -> Boot:
    words = ",".join(str(word) for word in (rounds, *load))
    argv = [
        *(QEMU, *EMULATION.options, "-no-reboot", "-nographic"),
        *("-nodefaults", "-serial", "stdio", *shape.options()),
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
        """Yield the lines with the time each was seen."""
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
    """Return what a process has used so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS
