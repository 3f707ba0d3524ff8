"""A machine as far as QEMU can show it: sockets, cores, threads, NUMA nodes and distances.

A socket of QEMU's has one last-level cache. A package with several of them becomes as many
sockets; the kernel's scheduling domains come out the same, for they are made of caches and nodes.
QEMU numbers CPUs thread by thread, core by core.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import UsageError
from schedlab.machine.model import Groups, Machine

_MEMORY_MIB = 2048
_LEAST_NODE_MIB = 256
"""What a guest has: enough for its files and the heaviest of our workloads; taken when touched."""


@dataclass(frozen=True)
class Shape:
    """What QEMU's options say."""

    sockets: int
    cores: int
    """In a socket."""
    threads: int
    """Of a core."""
    nodes: Groups
    """The CPUs of each NUMA node, as the guest numbers them."""
    distance: tuple[tuple[int, ...], ...]
    not_shown: tuple[str, ...] = ()
    """What of the machine the guest does not show."""

    @property
    def cpus(self) -> int:
        """Return the number of CPUs."""
        return self.sockets * self.cores * self.threads

    def options(self) -> list[str]:
        """Return QEMU's options, memory divided among the nodes."""
        each = max(_MEMORY_MIB // len(self.nodes), _LEAST_NODE_MIB)
        smp = f"{self.cpus},sockets={self.sockets},cores={self.cores},threads={self.threads}"
        options = ["-smp", smp, "-m", f"{each * len(self.nodes)}M"]
        for number, cpus in enumerate(self.nodes):
            options += ["-object", f"memory-backend-ram,id=m{number},size={each}M"]
            ranges = ",".join(f"cpus={part}" for part in format_cpulist(cpus).split(","))
            options += ["-numa", f"node,nodeid={number},{ranges},memdev=m{number}"]
        for number, row in enumerate(self.distance):
            for other, distance in enumerate(row):
                if other != number:
                    options += ["-numa", f"dist,src={number},dst={other},val={distance}"]
        return options


def shape_of(machine: Machine) -> Shape:
    """Return a machine's shape.

    Raises:
        UsageError: its cores or caches differ from one another, which QEMU cannot show.
    """
    cores = machine.groups("core")
    sockets = _sockets(machine)
    threads = {len(core) for core in cores}
    sizes = {len(socket) for socket in sockets}
    if len(threads) > 1 or len(sizes) > 1:
        raise UsageError(
            f"{machine.name}: QEMU's cores all have the same number of threads and its sockets of"
            f" cores; this machine has {_or(threads)} threads a core and {_or(sizes)} CPUs a"
            " last-level cache."
        )
    [threads_each], [socket_size] = threads, sizes
    if socket_size % threads_each:
        raise UsageError(
            f"{machine.name}: a core has CPUs of two last-level caches; a guest cannot have that."
        )
    core_of = {cpu: core for core in cores for cpu in core}
    order = [cpu for s in sockets for core in _once(core_of[cpu] for cpu in s) for cpu in core]
    number = {cpu: index for index, cpu in enumerate(order)}
    nodes = tuple(tuple(sorted(number[cpu] for cpu in node)) for node in machine.groups("node"))
    return Shape(
        sockets=len(sockets),
        cores=socket_size // threads_each,
        threads=threads_each,
        nodes=nodes,
        distance=_distance(machine),
        not_shown=tuple(_not_shown(machine, sockets, number)),
    )


def _sockets(machine: Machine) -> Groups:
    """Return what becomes a socket: packages, or last-level caches where those are smaller."""
    caches, packages = machine.groups("llc"), machine.groups("package")
    return caches if len(caches) > len(packages) else packages


def _distance(machine: Machine) -> tuple[tuple[int, ...], ...]:
    """Return the distances between the nodes that have CPUs."""
    topology = machine.topology
    kept = [index for index, cpus in enumerate(topology.node) if cpus]
    if not topology.distance:
        return ()
    return tuple(tuple(topology.distance[i][j] for j in kept) for i in kept)


def _not_shown(machine: Machine, sockets: Groups, number: dict[int, int]) -> Iterator[str]:
    if len(sockets) > len(machine.groups("package")):
        yield "packages with several last-level caches are as many sockets"
    if machine.topology.cluster:
        yield "no clusters"
    if any(len(node) == 0 for node in machine.topology.node):
        yield "no nodes without CPUs"
    if any(cpu.capacity and cpu.capacity < 1024 for cpu in machine.cpu):
        yield "all CPUs have the same capacity"
    if machine.idle.state:
        yield "no idle states"
    if any(cpu != index for cpu, index in number.items()):
        yield "CPUs are numbered thread by thread, core by core"


def _once(groups: Iterator[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(groups))


def _or(numbers: set[int]) -> str:
    return " or ".join(str(number) for number in sorted(numbers))
